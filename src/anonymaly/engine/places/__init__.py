# SPDX-License-Identifier: Apache-2.0
"""Where a table may be: one file for each kind of place, with what it takes to open a table there."""
