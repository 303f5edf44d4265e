# SPDX-License-Identifier: Apache-2.0
"""The paper's Figures 6 to 10, from our measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymaly.core.rate import Adjacency
from anonymaly.pictures.vega.charts import Row, save
from anonymaly.pictures.vega.levels import levels
from studies.journal import Entry
from studies.one_sided.measure import SUPPRESS
from studies.one_sided.paper import EPSILONS, POLICIES, RATIOS
from studies.one_sided.tables import (
    DATASET_RATIOS,
    FIGURE_RATIOS,
    FORMS,
    Regrets,
    chosen_at,
    present_histograms,
)

SHOWN = ("auto", "dawaz", "dawa", "one_sided_l1", "smoothed", "hybrid")  # the others are far above these
BESIDE = ("auto", *SUPPRESS, "one_sided_l1")
SHARE = "share of non-sensitive records"


def draw(entries: Sequence[Entry], runs: int, form: Adjacency, folder: Path) -> list[Path]:
    """Draw all pictures; return their files."""
    regrets = Regrets(entries)
    said = f"{runs} runs on each of {len(entries)} inputs, {FORMS[form]} form; 1 is the best method on each"
    mean = f"mean regret of the mean relative error, both policies\n{said}"
    names = present_histograms(entries)
    by_epsilon = [Panel(f"ε = {epsilon}", epsilon, "mre", "ratio", RATIOS) for epsilon in EPSILONS]
    policies = {
        measure: [Panel(name, "1", measure, "ratio", FIGURE_RATIOS, {"policy": name}) for name in POLICIES]
        for measure in ("mre", "rel95")
    }
    by_histogram = [
        Panel(f"{SHARE}: {ratio}", "1", "mre", "histogram", names, {"policy": "Close", "ratio": ratio})
        for ratio in DATASET_RATIOS
    ]
    beside = [Panel("ε = 1", "1", "mre", "ratio", RATIOS)]
    figures = (
        (6, "How far from the best, by share of non-sensitive records", mean, by_epsilon, SHOWN),
        (7, "Regret by policy, ε = 1: mean relative error", said, policies["mre"], SHOWN),
        (8, "Regret by policy, ε = 1: 95th percentile of errors", said, policies["rel95"], SHOWN),
        (9, "Regret by histogram, Close policy, ε = 1", f"sparsest on the left\n{said}", by_histogram, SHOWN),
        (10, "Beside PDP's Suppress, which leaks 10 and 100 times as much", mean, beside, BESIDE),
    )
    paths: list[Path] = []
    for number, title, subtitle, panels, methods in figures:
        chart = levels(
            [row for panel in panels for row in panel.rows(regrets, methods)],
            title=title,
            subtitle=subtitle,
            x_label=SHARE if panels[0].field == "ratio" else "",
            y_label="regret",
            order=methods,
            x_order=panels[0].places,
            columns=[panel.title for panel in panels],
            joined=panels[0].field == "ratio",
            width=240 if panels is by_epsilon else 300,
        )
        paths += save(chart, folder, f"figure_{number}")
    return paths


@dataclass(frozen=True)
class Panel:
    """What one panel shows: mean regrets over the inputs with some fields fixed, along another field."""

    title: str
    epsilon: str
    measure: str
    field: str
    places: Sequence[str]
    fixed: dict[str, str] | None = None

    def rows(self, regrets: Regrets, methods: Sequence[str]) -> list[Row]:
        """Return its points."""
        points: list[Row] = []
        for place in self.places:
            chosen = chosen_at(**{self.field: place}, **(self.fixed or {}))
            for method in methods:
                value = regrets.mean(method, self.epsilon, self.measure, chosen)
                points.append({"panel": self.title, "series": method, "x": place, "value": value})
        return points
