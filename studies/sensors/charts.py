# SPDX-License-Identifier: Apache-2.0
"""The paper's Figure 3 from our measurements, and real readings before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from anonymaly.noise import Noise
from anonymaly.pictures.vega.charts import Row, grouped_bars, save
from anonymaly.pictures.vega.readings import readings_before_and_after
from anonymaly.stream.protocol.perturb import perturb
from anonymaly.stream.protocol.suggest import correct
from studies.journal import Entry
from studies.sensors.data import Source
from studies.sensors.measure import ACCOUNTS, declare
from studies.sensors.paper import EPSILONS
from studies.sensors.tables import mean, select

WAYS = {
    "corrected": "corrected",
    "printed": "corrected, gap as printed",
    "perturbed": "perturbed, uncorrected",
    "raw": "raw readings",
}
PANELS = {"column": "ε per column (paper)", "reading": "ε per reading"}
FIGURES = {
    "recall": ("Which share of the outliers is found?", "recall"),
    "shown": ("Which share of all readings is shown to the owner?", "shown"),
}
PICTURED = "0.5"
MOST_POINTS = 1500  # in a panel; every outlier is drawn, the others are thinned out


def draw(entries: Sequence[Entry], sources: Sequence[Source], seed: int, folder: Path) -> list[Path]:
    """Draw Figure 3 and the real sources; return all files."""
    paths: list[Path] = []
    runs = 1 + max(entry["run"] for entry in entries)
    for figure, (title, label) in FIGURES.items():
        rows: list[Row] = []
        for account in ACCOUNTS:
            for epsilon in EPSILONS:
                rows += _bars(entries, figure, account, epsilon)
        chart = grouped_bars(
            rows,
            title=title,
            subtitle=f"the paper's synthetic points; mean of {runs} runs",
            x_label="separation of outliers",
            y_label=label,
            order=list(WAYS.values()),
            columns=[f"ε = {epsilon}" for epsilon in EPSILONS],
            lines=list(PANELS.values()),
        )
        paths += save(chart, folder, f"figure_3_{figure}")
    for source in sources:
        paths += _picture(source, seed, folder)
    return paths


def _bars(entries: Sequence[Entry], figure: str, account: str, epsilon: str) -> list[Row]:
    separations = sorted({entry["separation"] for entry in entries if "separation" in entry})
    rows: list[Row] = []
    for separation in separations:
        chosen = select(entries, separation=separation, epsilon=epsilon, account=account)
        for way, spoken in WAYS.items():
            panel = {"column": f"ε = {epsilon}", "line": PANELS[account], "x": str(separation)}
            rows.append({**panel, "series": spoken, "value": mean(chosen, way, figure)})
    return rows


def _picture(source: Source, seed: int, folder: Path) -> list[Path]:
    """Draw the window with most outliers: what the sensor measured, what the detector saw, what was found."""
    declared = declare(source, PICTURED, seed)
    window = max(source.windows, key=lambda item: int(item.outliers.sum()))
    perturbed = perturb(declared, window.values, Noise.seeded(seed))
    found = correct(declared, perturbed).found
    column = declared.columns[0]
    seen = column.range.low + perturbed.values[:, 0] * column.step
    stride = max(1, len(found) // MOST_POINTS)
    kept = window.outliers | (np.arange(len(found)) % stride == 0)
    rows = []
    for panel, values in (("what the sensor measured", window.values[:, 0]), ("what the detector saw", seen)):
        for index in np.flatnonzero(kept):
            what = {(True, True): "outlier, found", (True, False): "outlier, missed",
                    (False, True): "ordinary, shown", (False, False): "ordinary"}[
                bool(window.outliers[index]), bool(found[index])
            ]  # fmt: skip
            rows.append({"panel": panel, "x": int(index), "y": float(values[index]), "what": what})
    chart = readings_before_and_after(
        rows,
        title=f"One window of the {source.name}, ε = {PICTURED} per reading",
        subtitle=f"range {column.range.describe()}; the detector never sees the upper picture",
        y_label=source.unit,
        panels=["what the sensor measured", "what the detector saw"],
    )
    return save(chart, folder, f"readings_{source.name}")
