# SPDX-License-Identifier: Apache-2.0
"""What Kotsogiannis et al. 2020 print, and the settings of their section 6."""

from __future__ import annotations

EPSILONS = ("1", "0.1", "0.01")
RATIOS = ("0.99", "0.90", "0.75", "0.50", "0.25", "0.10", "0.01")  # shares of non-sensitive records
POLICIES = ("Close", "Far")
CLOSENESS = 0.1  # θ
WEIGHT = 5  # γ
REACH = 0.4  # β
RUNS = 10

RELEASED = {"1": 0.63, "0.5": 0.39, "0.1": 0.095}  # Table 1
SCALES = {
    "Adult": (0.98, 17_665), "Hepth": (0.21, 347_414), "Income": (0.45, 20_787_122),
    "Nettrace": (0.97, 25_714), "Medcost": (0.75, 9_415), "Patent": (0.06, 27_948_226),
    "Searchlogs": (0.51, 335_889),
}  # Table 2: sparsity and scale  # fmt: skip
# Mean relative errors at ε = 1 of the published code of DAWA, which is not private.
PUBLISHED_DAWA = {
    "Adult": 0.093, "Nettrace": 0.004, "Medcost": 0.259, "Searchlogs": 0.045, "Income": 0.271,
    "Hepth": 0.185, "Patent": 0.008,
}  # fmt: skip
SIX_METHODS = ("sample", "one_sided", "one_sided_l1", "dawaz", "geometric", "dawa")  # as we build them
