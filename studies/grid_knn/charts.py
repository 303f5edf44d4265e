# SPDX-License-Identifier: Apache-2.0
"""The paper's Figures 2 and 3, from our measurements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymaly.pictures.vega.charts import save
from anonymaly.pictures.vega.panels import panels
from studies.grid_knn.data import PAPER_TABLES
from studies.grid_knn.measure import GRID, KNN, MARGINALS, PLAIN_GRID
from studies.grid_knn.paper import CELLS, EPSILONS, NEIGHBOURS
from studies.grid_knn.tables import HINDSIGHT, MEASURES, SWEEP_EPSILON, Figure, Measured

PICTURES = {"auroc": "figure_2_epsilon", "ap": "figure_3_precision", "p@n": "figure_3_at_n"}
PLAIN_KNN = f"{KNN}, no privacy"


def draw(measured: Measured, seeds: int, folder: Path) -> list[Path]:
    """Draw each measure by ε, and AUROC by b; return all files."""
    paths = []
    said = f"mean and standard deviation of {seeds} splits; {NEIGHBOURS} neighbours"
    by_rule = f"{said}; parameters by rule unless it says otherwise"
    pictures = [
        (name, _curve_rows(measured, key), f"{MEASURES[key]} by ε", by_rule, "ε", MEASURES[key])
        for key, name in PICTURES.items()
    ]
    by_cells = f"AUROC of the grid by b, at ε = {SWEEP_EPSILON:g}"
    pictures.append(
        ("figure_2_cells", _cells_rows(measured), by_cells, said, "cells on each axis (b)", "AUROC")
    )
    for name, rows, title, subtitle, x_label, y_label in pictures:
        chart = panels(
            rows,
            title=title,
            subtitle=subtitle,
            x_label=x_label,
            y_label=y_label,
            # The last is drawn on top, and named first.
            order=list(reversed(dict.fromkeys(row["series"] for row in rows))),
            logarithmic=x_label == "ε",
        )
        paths += save(chart, folder, name)
    return paths


def _curve_rows(measured: Measured, measure: str) -> list[Mapping[str, Any]]:
    """Return the points of a picture over ε: one panel for each table."""
    rows: list[Mapping[str, Any]] = []
    for name in measured.tables(PAPER_TABLES):
        exact = measured.figure(name, KNN, measure)
        for epsilon in map(float, EPSILONS):
            best = measured.cells_by_hindsight(name, GRID, epsilon)
            series = {
                PLAIN_KNN: Figure(exact.mean, 0.0),
                f"{GRID}, {HINDSIGHT}": measured.figure(name, GRID, measure, epsilon, best),
                GRID: measured.by_rule(name, GRID, measure, epsilon),
                MARGINALS: measured.by_rule(name, MARGINALS, measure, epsilon),
            }
            rows += [_point(name, label, epsilon, figure) for label, figure in series.items()]
    return rows


def _cells_rows(measured: Measured) -> list[Mapping[str, Any]]:
    """Return the points of the picture over b."""
    rows: list[Mapping[str, Any]] = []
    for name in measured.tables(PAPER_TABLES):
        for cells in CELLS:
            series = {
                PLAIN_KNN: Figure(measured.figure(name, KNN, "auroc").mean, 0.0),
                PLAIN_GRID: measured.figure(name, PLAIN_GRID, "auroc", cells=cells),
                f"{GRID}, ε = {SWEEP_EPSILON:g}": measured.figure(name, GRID, "auroc", SWEEP_EPSILON, cells),
            }
            rows += [_point(name, label, cells, figure) for label, figure in series.items()]
    return rows


def _point(panel: str, series: str, x: float, figure: Figure) -> Mapping[str, Any]:
    spread = {
        "low": max(0.0, figure.mean - figure.deviation),
        "high": min(1.0, figure.mean + figure.deviation),
    }
    return {"panel": panel, "series": series, "x": x, "mean": figure.mean, **spread}
