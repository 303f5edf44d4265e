# SPDX-License-Identifier: Apache-2.0
"""Attacks on what all questions share, which is noise, ledger and store; and faults planted in them."""
