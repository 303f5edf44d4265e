# SPDX-License-Identifier: Apache-2.0
"""What Asif et al. 2021 print: Tables 1 to 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

EPSILON = "0.1"
EPSILONS = ("1", "0.1", "0.01")
SHARES_OF_BETA = (0.1, 0.2, 0.3)  # k over β in Figure 4
DRAWN = 0.2  # of a table's size, drawn from the value space for Table 2

Figures = tuple[float, float, float]  # precision, recall, F1


@dataclass(frozen=True)
class Printed:
    """One table of the paper: its size, the model, and what was found.

    Attributes
    ----------
    size, dimensions, beta, radius, anomalies
        Table 1.
    sensitive, differential, sensitive_anomalies
        Table 2: mean errors of sensitive and differential privacy over records drawn from the value space,
        and of sensitive privacy over those of them that have few neighbours.
    quality
        Table 3: precision, recall and F1 of each mechanism.
    """

    size: int
    dimensions: int
    beta: int
    radius: float
    anomalies: int
    sensitive: float
    differential: float
    sensitive_anomalies: float
    quality: Mapping[str, Figures]


PAPER: Mapping[str, Printed] = {
    "Credit Fraud": Printed(
        284_807, 28, 1022, 6.7, 103, 1.1127e-21, 0.4750, 1.1127e-21,
        {"B1": (0.0101, 1.0, 0.0199), "B2": (0.0230, 0.0498, 0.0315),
         "DP": (0.9930, 0.5250, 0.6868), "SP": (0.9963, 0.9968, 0.9966)},
    ),
    "APS Trucks": Printed(
        60_000, 170, 282, 16.2, 677, 2.9719e-13, 0.4750, 2.9719e-13,
        {"B1": (0.0115, 1.0, 0.0227), "B2": (0.0165, 0.0753, 0.0271),
         "DP": (0.9870, 0.5263, 0.6865), "SP": (0.9931, 0.9954, 0.9943)},
    ),
    "Synthetic": Printed(
        20_000, 200, 97, 3.8, 201, 3.2173e-5, 0.4750, 3.2173e-5,
        {"B1": (0.0101, 1.0, 0.0199), "B2": (0.0114, 0.1189, 0.0208),
         "DP": (0.9930, 0.5250, 0.6868), "SP": (0.9963, 0.9968, 0.9966)},
    ),
    "Mammography": Printed(
        11_183, 6, 55, 1.7, 75, 0.0022, 0.4749, 0.0021,
        {"B1": (0.0070, 0.8244, 0.0138), "B2": (0.0081, 0.1000, 0.0149),
         "DP": (0.0211, 0.5250, 0.0435), "SP": (0.2004, 0.9977, 0.3337)},
    ),
    "Thyroid": Printed(
        3_772, 6, 18, 0.1, 61, 0.0870, 0.4750, 0.0867,
        {"B1": (0.0174, 0.6656, 0.0339), "B2": (0.0191, 0.2918, 0.0358),
         "DP": (0.1427, 0.5250, 0.2244), "SP": (0.3100, 0.8993, 0.4610)},
    ),
}  # fmt: skip
# What the mean error over the value space must not exceed.
TARGETS = {"Thyroid": 0.087, "Mammography": 0.0022, "Synthetic": 3.3e-5}
