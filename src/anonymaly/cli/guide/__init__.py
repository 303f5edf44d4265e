# SPDX-License-Identifier: Apache-2.0
"""What ``anonymaly init`` proposes for a table, and the dialogue in which its owner decides."""
