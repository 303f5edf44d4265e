# SPDX-License-Identifier: Apache-2.0
"""Figures 1 to 5 of Kotsogiannis et al. 2020, and what shows the same here."""

from __future__ import annotations

from studies.exhibit import Exhibit

STAND_IN = (
    "The paper's wireless traces are not public: days of taxis stand in for them, a hundred and fifty times "
    "fewer, so that a sample at ε = 0.01 teaches less."
)
CELLS = (
    "The paper's wireless traces are not public: one day of taxis and one of a campus's radios stand in for "
    "them."
)

EXHIBITS = (
    Exhibit("Figure 1", "error of classifiers", STAND_IN, ("Figure 1.",), ("figure_1",)),
    Exhibit("Figure 2", "error of counts of 4-grams", STAND_IN, ("Figure 2.",), ("figure_2",)),
    Exhibit("Figure 3", "error of counts of 5-grams", STAND_IN, ("Figure 3.",), ("figure_3",)),
    Exhibit("Figure 4", "error of places by hour", CELLS, ("Figure 4.",), ("figure_4",)),
    Exhibit("Figure 5", "error per cell of places by hour", CELLS, ("Figure 5.",), ("figure_5",)),
)
# How the titles begin of our tables that the documentation shows.
HEADLINES = ("The traces", "What the paper says", "Figure 1.")
