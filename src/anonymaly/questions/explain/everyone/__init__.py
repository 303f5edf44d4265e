# SPDX-License-Identifier: Apache-2.0
"""``explain`` for everyone: differential privacy, without a rule. The paper's form is in the folder above."""
