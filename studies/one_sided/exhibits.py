# SPDX-License-Identifier: Apache-2.0
"""Tables 1 and 2 and Figures 6 to 10 of Kotsogiannis et al. 2020, and what shows the same here."""

from __future__ import annotations

from studies.exhibit import Exhibit

METHODS = (
    "The paper draws bars and prints no numbers; ours is against the best of nine methods, three of them our "
    "own, where the paper's is against the best of six."
)

EXHIBITS = (
    Exhibit(
        "Table 1", "share of records that a sample holds",
        "Nothing differs but the draw: the share is 1 - e^-ε.", ("Table 1.",),
    ),
    Exhibit("Table 2", "the histograms", "Nothing differs: the files are DPBench's.", ("Table 2.",)),
    Exhibit("Figure 6", "regret by share", METHODS, ("Figure 6.",), ("figure_6",)),
    Exhibit("Figure 7", "regret of the mean error by policy", METHODS, ("Figure 7.",), ("figure_7",)),
    Exhibit("Figure 8", "regret of the 95th percentile", METHODS, ("Figure 8.",), ("figure_8",)),
    Exhibit("Figure 9", "regret by histogram", METHODS, ("Figure 9.",), ("figure_9",)),
    Exhibit("Figure 10", "regret beside PDP's Suppress", METHODS, ("Figure 10.",), ("figure_10",)),
)  # fmt: skip
# How the titles begin of our tables that the documentation shows.
HEADLINES = ("Table 1.", "Table 2.", "Errors of DAWA", "Mean regret over all inputs")
