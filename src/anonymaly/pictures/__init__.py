# SPDX-License-Identifier: Apache-2.0
"""Pictures and pieces of pages from released or public figures; nothing here reads a table."""
