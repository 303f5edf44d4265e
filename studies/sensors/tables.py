# SPDX-License-Identifier: Apache-2.0
"""The paper's Figure 3 as tables, and the same for real sensors."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from studies.journal import Entry
from studies.sensors.paper import EPSILONS, RECALL, SHOWN
from studies.table import Line, Table

HEADS = (
    "separation", "ε in the paper", "ε per reading", "recall, paper", "recall", "shown, paper", "shown",
    "gap as printed", "uncorrected", "raw", "radius", "neighbours",
)  # fmt: skip
REAL_HEADS = (
    "source", "ε per reading", "recall", "shown", "gap as printed", "uncorrected", "raw", "range", "radius",
    "neighbours",
)  # fmt: skip
NOTE = (
    "Recall of the true outliers, and the share of readings shown to the owner; under 'gap as printed', "
    "'uncorrected' and 'raw' (the same DBSCAN on perturbed readings alone, and on the readings themselves) "
    "both. "
    "Radius in range widths. Settings come from a history by the rule of am.stream.suggest."
)


def all_tables(entries: Sequence[Entry]) -> list[Table]:
    """Return Figure 3 under both readings of ε, and the real sources."""
    tables = []
    titles = {
        "column": "Figure 3, ε for each column as the paper reads it: a reading of two columns costs 2ε",
        "reading": "Figure 3, ε for the whole reading: each of two columns gets ε/2",
    }
    for account, title in titles.items():
        lines = [
            _line(separation, epsilon, account, chosen)
            for epsilon in EPSILONS
            for separation in sorted({entry["separation"] for entry in entries if "separation" in entry})
            if (chosen := select(entries, separation=separation, epsilon=epsilon, account=account))
        ]
        tables.append(Table(title, HEADS, tuple(lines), NOTE))
    names = sorted({entry["study"] for entry in entries} - {"synthetic"})
    real = [
        _real_line(name, epsilon, chosen)
        for name in names
        for epsilon in EPSILONS
        if (chosen := select(entries, study=name, epsilon=epsilon))
    ]
    if real:
        tables.append(Table("Real sensors", REAL_HEADS, tuple(real), NOTE))
    return tables


def select(entries: Sequence[Entry], **fields: Any) -> list[Entry]:
    """Return the entries with these fields.

    Examples
    --------
    >>> select([{"run": 0}, {"run": 1}], run=1)
    [{'run': 1}]
    """
    return [entry for entry in entries if all(entry.get(name) == value for name, value in fields.items())]


def mean(entries: Sequence[Entry], way: str, figure: str) -> float:
    """Return the mean of a figure over runs."""
    return float(sum(entry[way][figure] for entry in entries) / len(entries))


def _line(separation: int, epsilon: str, account: str, chosen: Sequence[Entry]) -> Line:
    total = str(Decimal(epsilon) * (2 if account == "column" else 1))
    return (
        str(separation),
        epsilon,
        total,
        RECALL.get((epsilon, separation), "-"),
        _share(mean(chosen, "corrected", "recall")),
        SHOWN,
        _share(mean(chosen, "corrected", "shown")),
        *(_both(chosen, way) for way in ("printed", "perturbed", "raw")),
        f"{chosen[0]['radius']:g}",
        str(chosen[0]["neighbours"]),
    )


def _real_line(name: str, epsilon: str, chosen: Sequence[Entry]) -> Line:
    low, high = chosen[0]["ranges"][0]
    return (
        name,
        epsilon,
        _share(mean(chosen, "corrected", "recall")),
        _share(mean(chosen, "corrected", "shown")),
        *(_both(chosen, way) for way in ("printed", "perturbed", "raw")),
        f"{low:g} to {high:g}",
        f"{chosen[0]['radius']:g}",
        str(chosen[0]["neighbours"]),
    )


def _share(value: float) -> str:
    return f"{value:.1%}"


def _both(chosen: Sequence[Entry], way: str) -> str:
    return f"{mean(chosen, way, 'recall'):.1%} of {mean(chosen, way, 'shown'):.1%}"
