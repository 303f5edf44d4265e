# SPDX-License-Identifier: Apache-2.0
"""Every table and figure of Asif et al. 2021, and what shows the same here."""

from __future__ import annotations

from studies.exhibit import Exhibit

SAMPLES = (
    "Credit Fraud and APS Trucks are samples of the paper's tables with β in proportion, because the whole "
    "ones could not be had: errors are larger there."
)
COMPUTED = (
    "Ours are probabilities computed from counts, where the paper counts wrong answers of 10,000 draws."
)

EXHIBITS = (
    Exhibit("Table 1", "the tables and their anomalies", SAMPLES, ("Table 1.",)),
    Exhibit("Table 2", "mean error over the value space", SAMPLES, ("Table 2.",)),
    Exhibit(
        "Table 3", "precision, recall and F1",
        "Ours are expected values, under both readings of what a true anomaly is: the paper leaves it open.",
        ("Table 3.",),
    ),
    Exhibit(
        "Figure 1", "density, accuracy and privacy of an example in the plane",
        "The paper joins 30 tables by interpolation; ours is one table of the same kind, in squares.",
        pictures=("figure_1a_records", "figure_1bc_accuracy", "figure_1de_privacy"),
    ),
    Exhibit(
        "Figure 2", "privacy of the same example as k grows",
        "Ours shows means of squares, not single points.", pictures=("figure_2_k",),
    ),
    Exhibit(
        "Figure 3", "error over the anomalies at three ε", f"{COMPUTED} {SAMPLES}", ("Figure 3 in numbers.",),
        ("figure_3_anomalies",),
    ),
    Exhibit(
        "Figure 4", "error of each anomaly as k grows", f"{COMPUTED} {SAMPLES}", pictures=("figure_4_k",)
    ),
    Exhibit(
        "Figure 5", "mean error over other records", f"{COMPUTED} {SAMPLES}", pictures=("figure_5_normal",)
    ),
)  # fmt: skip
# How the titles begin of our tables that the documentation shows.
HEADLINES = ("Table 1.", "Table 2.", "Table 3.", "Simulated answers")
