# SPDX-License-Identifier: Apache-2.0
"""Every table and figure of Rauch et al. 2021, and what shows the same here."""

from __future__ import annotations

from studies.exhibit import Exhibit

CURVES = (
    "The paper draws curves and prints no numbers; ours adds the marginals and a number of cells that looks "
    "at no label, where the paper takes the best by hindsight."
)

EXHIBITS = (
    Exhibit(
        "Table 1", "sizes of the tables",
        "Four tables are as large as the paper's; its heart data is an edition that could not be had.",
        ("Table 1.",),
    ),
    Exhibit("Figure 1", "an illustration of the grid", "It shows no measurement."),
    Exhibit(
        "Figure 2", "AUROC by number of cells and by ε", CURVES, ("Figure 2, left", "Figure 2, right"),
        ("figure_2_cells", "figure_2_epsilon"),
    ),
    Exhibit(
        "Figure 3", "average precision and P@n by ε", CURVES, ("Figure 3:",),
        ("figure_3_precision", "figure_3_at_n"),
    ),
)  # fmt: skip
# How the titles begin of our tables that the documentation shows.
HEADLINES = ("Table 1.", "AUROC that must be reached", "Without privacy")
