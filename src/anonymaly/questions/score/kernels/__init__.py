# SPDX-License-Identifier: Apache-2.0
"""Compiled loops of ``score``: the walk over a grid's cells, and the sums of histograms' tables."""
