# SPDX-License-Identifier: Apache-2.0
"""What may we publish when only some records are sensitive? One-sided privacy (004)."""
