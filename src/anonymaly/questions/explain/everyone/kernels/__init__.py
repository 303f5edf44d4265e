# SPDX-License-Identifier: Apache-2.0
"""Compiled loops: the margin of every group of a list."""
