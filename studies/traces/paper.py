# SPDX-License-Identifier: Apache-2.0
"""What Kotsogiannis et al. 2020 say of their Figures 1 to 5, and the settings of their section 6.

The paper draws these figures and prints no numbers beside them: what its text says is all that can be read,
and stands here.
"""

from __future__ import annotations

EPSILONS = ("1", "0.01")
SHARES = ("0.99", "0.90", "0.75", "0.50", "0.25", "0.10", "0.01")  # of trajectories that are not sensitive
PLACES = 64  # access points
FOLDS = 10
FREQUENT = 50  # trajectories that a pattern of three places is in
RUNS = 10
LENGTHS = (4, 5)  # of sequences, Figures 2 and 3

TRAJECTORIES = 585_000
USERS = 16_000
LEARNED = 553_000  # trajectories in the task of Figure 1
RESIDENTS = 43_000  # of them
LEARNING_ERROR = 0.10  # "the absolute errors are close to 10%", All NS and OsdpRR, at either ε
BEST_TRUNCATION = 1  # sequences of a trajectory, of the Laplace mechanism, for 4- and 5-grams
TIMES_AT_SMALL_EPSILON = 10.0  # "an order of magnitude poorer": the Laplace mechanism on n-grams, ε = 0.01
CROSSING = 0.25  # the share down to which one-sided methods beat DAWA in Figure 4
