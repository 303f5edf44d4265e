# SPDX-License-Identifier: Apache-2.0
"""Histograms of records of which only some are sensitive: one file for each method, and their table."""
