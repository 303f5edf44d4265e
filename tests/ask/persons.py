# SPDX-License-Identifier: Apache-2.0
"""A table of persons, and questions about one of them."""

from __future__ import annotations

from typing import Any

import pandas

import anonymaly as am


def patients() -> am.Dataset:
    frame = pandas.DataFrame({"age": [30, 17, 45, 80, 62, 97], "ward": ["A", "B", "A", "B", "B", "A"]})
    return am.Dataset(
        frame,
        name="patients",
        columns={"age": am.Interval(0, 120), "ward": am.Categories(["A", "B"])},
        rules={"rare": am.AnomalyModel(["age"], radius=3, beta=2), "groups": am.SameContexts(start=True)},
    )


def identify(age: int) -> am.Identify:
    return am.Identify(record={"age": age}, model="rare", epsilon="0.1")


def explain(age: int, **options: Any) -> am.Explain:
    asked = {"record": {"age": age, "ward": "A"}, "metric": "age", "attributes": ["ward"], **options}
    return am.Explain(**asked, detector="grubbs", rule="groups", epsilon="0.1")
