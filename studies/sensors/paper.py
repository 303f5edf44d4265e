# SPDX-License-Identifier: Apache-2.0
"""What Böhler et al. 2017, section 7, say of their synthetic points and of Figure 3."""

from __future__ import annotations

SEPARATIONS = (50, 120, 220, 400)
POINTS = 100_000
DEVIATION = 3.0
OUTLIERS = 0.1
EPSILONS = ("0.1", "0.5", "1")
RUNS = 5
RECALL = {  # what the text says of Figure 3a; the figure itself has no numbers
    ("0.1", 220): "≈ 75 %",
    ("0.1", 400): "≈ 75 %",
    ("0.5", 50): "95-100 %",
    ("0.5", 120): "95-100 %",
    ("0.5", 220): "95-100 %",
    ("0.5", 400): "95-100 %",
}
SHOWN = "< 20 %"
