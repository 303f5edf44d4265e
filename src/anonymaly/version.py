# SPDX-License-Identifier: Apache-2.0
"""Which anonymaly this is; the ledger keeps it with every charge."""

__version__ = "0.1.0.dev0"
