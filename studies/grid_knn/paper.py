# SPDX-License-Identifier: Apache-2.0
"""What Rauch et al. 2021, section 5, print: Table 1; their figures are curves without numbers."""

from __future__ import annotations

NEIGHBOURS = 5
EPSILONS = ("5", "2.5", "1.25", "0.6", "0.3", "0.15", "0.075", "0.035", "0.015")
CELLS = tuple(range(2, 11))  # b
SEEDS = 10  # splits
# Table 1: columns, records of the reference and of the test, outliers in the test.
SIZES = {
    "Lymphography": (3, 113, 35, 6), "Pima": (8, 400, 140, 40), "WDBC": (30, 285, 82, 10),
    "Heart": (13, 110, 38, 10), "Adult": (7, 19_776, 5_044, 100),
}  # fmt: skip
