# SPDX-License-Identifier: Apache-2.0
"""The version of anonymaly, which the ledger keeps with every charge."""

__version__ = "0.1.0.dev0"
