# SPDX-License-Identifier: Apache-2.0
"""What Rauch et al. 2021, section 5, say of their experiments; their figures are curves without numbers."""

from __future__ import annotations

NEIGHBOURS = 5
EPSILONS = ("5", "2.5", "1.25", "0.6", "0.3", "0.15", "0.075", "0.035", "0.015")
CELLS = tuple(range(2, 11))  # b
SEEDS = 10  # splits
