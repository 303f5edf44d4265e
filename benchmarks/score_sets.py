# SPDX-License-Identifier: Apache-2.0
"""Which tables scores are tuned on, and which they are judged on: split by name before anything was run.

A table goes where its source is: what the rules of before were chosen on is for tuning, and so is every other
form of it (`adult` and `census` are one source). The judging half is looked at once, when all is chosen.
"""

from __future__ import annotations

TUNING = ("pima", "wdbc", "thyroid", "mammography", "heart_statlog", "adult", "census")
JUDGING = (
    "breastw",
    "hepatitis",
    "ionosphere",
    "shuttle",
    "wbc",
    "wine",
    "heart_spectf",
    "creditcard",
    "aps_scania",
    "lymphography",
)
CATEGORICAL = ("adult", "census", "lymphography")
