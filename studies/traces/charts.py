# SPDX-License-Identifier: Apache-2.0
"""The paper's Figures 1 to 5, from our measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import altair as alt

from anonymaly.pictures.vega.charts import Row, save
from anonymaly.pictures.vega.levels import levels
from studies.journal import Entry
from studies.traces.data import EVERYONE, OPEN
from studies.traces.found import Found
from studies.traces.grids import ONE_SIDED
from studies.traces.paper import BEST_TRUNCATION, EPSILONS, LENGTHS, SHARES
from studies.traces.tables import SAID

HARMLESS, WHOLE = "all harmless, not private", "all records, not private"
LAPLACE = f"LM T{BEST_TRUNCATION}"
LEARNERS = ("sample", HARMLESS, "ObjDP", WHOLE)
WAYS = ("sample", HARMLESS, LAPLACE, "weighted", "ngrams", "ngrams for everyone")
METHODS = ("auto", "one_sided_l1", "dawaz", "sample", "geometric", "dawa")
SHARE = "share of trajectories that are not sensitive"
ROWS = "share of rows that are not sensitive"
LEAST = 0.01  # smaller errors are drawn here: a logarithmic axis has no 0

Panels = Mapping[str, Callable[[str, str], float]]  # the value of a series at a share, by panel


def draw(trajectories: Sequence[Entry], grids: Sequence[Entry], runs: int, folder: Path) -> list[Path]:
    """Draw all pictures; return their files."""
    found = Found(trajectories, grids)
    title = "Is the taxi busy? Classifiers trained on a one-sided sample"
    said = "1 - AUC on taxis that were not seen before; random guesses have 0.5"
    chart = _levels(title, said, "1 - AUC", SHARE, SHARES, LEARNERS, _learning(found))
    paths = save(chart, folder, "figure_1")
    for number, length in enumerate(LENGTHS, start=2):
        said = f"mean relative error over sequences that somebody has, {runs} runs; nothing published has 1"
        chart = _levels(f"Ways of {length} places", said, "MRE", SHARE, SHARES, WAYS, _ways(found, length))
        paths += save(chart, folder, f"figure_{number}")
    by_epsilon = {
        f"{grid}, ε = {epsilon}": (grid, epsilon, "mre") for grid in found.grids for epsilon in EPSILONS
    }
    by_percentile = {
        f"{grid}, {measure}": (grid, "1", measure) for grid in found.grids for measure in ("rel50", "rel95")
    }
    said = f"{runs} runs; errors below {LEAST:g} are drawn as that"
    mean = f"mean relative error, {said}"
    apart = f"median and 95th percentile, {said}"
    chart = _levels(
        "Places by hour of one day", mean, "MRE", ROWS, SHARES, METHODS, _grids(found, by_epsilon)
    )
    paths += save(chart, folder, "figure_4")
    title = "Relative errors per cell of places by hour, ε = 1"
    chart = _levels(title, apart, "relative error", ROWS, SAID, METHODS, _grids(found, by_percentile))
    return paths + save(chart, folder, "figure_5")


def _learning(found: Found) -> Panels:
    def value(epsilon: str, series: str, share: str) -> float:
        if series in (WHOLE, "ObjDP"):  # they do not depend on the policy
            return found.learning(EVERYONE, *((OPEN, "all") if series == WHOLE else (epsilon, "ObjDP")))
        return found.learning(share, *((OPEN, "harmless") if series == HARMLESS else (epsilon, "sample")))

    return {f"ε = {epsilon}": partial(value, epsilon) for epsilon in EPSILONS}


def _ways(found: Found, length: int) -> Panels:
    def value(epsilon: str, series: str, share: str) -> float:
        if series == HARMLESS:
            return found.ways(length, share, OPEN, "harmless")
        everyone = series in (LAPLACE, "ngrams for everyone")
        return found.ways(length, EVERYONE if everyone else share, epsilon, series)

    return {f"ε = {epsilon}": partial(value, epsilon) for epsilon in EPSILONS}


def _grids(found: Found, chosen: Mapping[str, tuple[str, str, str]]) -> Panels:
    def value(grid: str, epsilon: str, measure: str, method: str, share: str) -> float:
        return found.grid(grid, share if method in ONE_SIDED else EVERYONE, epsilon, method, measure)

    return {title: partial(value, *each) for title, each in chosen.items()}


def _levels(
    title: str,
    subtitle: str,
    y_label: str,
    x_label: str,
    shares: Sequence[str],
    order: Sequence[str],
    shown: Panels,
) -> alt.FacetChart:
    rows: list[Row] = [
        {"panel": panel, "series": series, "x": share, "value": max(value(series, share), LEAST)}
        for panel, value in shown.items()
        for series in order
        for share in shares
    ]
    return levels(
        rows, title=title, subtitle=subtitle, x_label=x_label, y_label=y_label, order=order, x_order=shares,
        columns=list(shown), width=240,
    )  # fmt: skip
