# SPDX-License-Identifier: Apache-2.0
"""Where a table lives and how it is read: sources, frames, text and arithmetic."""
