# SPDX-License-Identifier: Apache-2.0
"""Compiled loops of the histogram methods."""
