# SPDX-License-Identifier: Apache-2.0
"""The protocol ``counting``: two servers count readings that neither can read."""
