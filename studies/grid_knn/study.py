# SPDX-License-Identifier: Apache-2.0
"""The experiments of 002, section 5, on public data: Figures 2 and 3, and what a better method must reach.

Each split of a table is measured once and kept in the output folder, so that an interrupted run goes on; only
the tables and pictures are made anew each time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from anonymaly.pictures.charts import save
from anonymaly.pictures.panels import panels
from studies.grid_knn.data import PAPER_TABLES, Labelled
from studies.grid_knn.measure import CELLS, EPSILONS, HAS_PYOD, NEIGHBOURS, measure
from studies.grid_knn.tables import (
    MEASURES,
    SWEEP_EPSILON,
    Measured,
    Table,
    cells_rows,
    curve_rows,
    score_tables,
)
from studies.journal import Journal
from studies.progress import Progress
from studies.runner import Reproduction

PAPER = "002 (DP grid k-NN)"

SEEDS = 10
VERSION = 2  # of what is measured: another one begins anew
PICTURES = {"auroc": "figure_2_epsilon", "ap": "figure_3_precision", "p@n": "figure_3_at_n"}
FILES = ("score_tables.json", "score_tables.md")


def reproduce_score(
    tables: Sequence[Labelled],
    output: Path,
    *,
    seeds: int = SEEDS,
    force: bool = False,
    progress: Progress | None = None,
) -> Reproduction[Table]:
    """Measure what is not measured yet, and make 002's figures as tables and pictures.

    Parameters
    ----------
    tables
        The public tables; those that 002 has are measured with all its numbers of cells.
    output
        The folder for measurements, tables and pictures.
    seeds
        How many splits, each with noise of its own, a mean is over.
    force
        Measure again.
    progress
        Told how far it has come.

    Examples
    --------
    >>> from studies.grid_knn.data import read_tables
    >>> found = reproduce_score(read_tables(Path("data")), Path("output"))  # doctest: +SKIP
    >>> found.tables[0].title  # doctest: +SKIP
    'AUROC that must be reached'
    """
    told = progress or Progress(None)
    entries = []
    for table in tables:
        settings = {
            "version": VERSION, "table": table.name, "rows": len(table.points), "epsilons": EPSILONS,
            "cells": CELLS, "neighbours": NEIGHBOURS, "pyod": HAS_PYOD,
        }  # fmt: skip
        journal = Journal(output / f"score_{table.name.lower()}.jsonl", settings, force=force)
        told.start(table.name, total=seeds, done=len(journal), unit="splits")
        for seed in range(len(journal), seeds):
            rows = measure(table, seed, sweep=table.name in PAPER_TABLES)
            journal.write({"table": table.name, "seed": seed, "rows": rows})
            told.advance(seed + 1)
        entries += [entry for entry in journal if entry["seed"] < seeds]
    measured = Measured(entries)
    made = score_tables(measured)
    found = Reproduction(PAPER, tuple(made), tuple(_draw(measured, seeds, output)))
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    (output / FILES[0]).write_text(text + "\n", encoding="utf-8")
    (output / FILES[1]).write_text("\n".join(table.to_markdown() for table in made), encoding="utf-8")
    return found


def _draw(measured: Measured, seeds: int, folder: Path) -> list[Path]:
    paths = []
    said = f"mean and standard deviation of {seeds} splits; {NEIGHBOURS} neighbours"
    by_rule = f"{said}; parameters by rule unless it says otherwise"
    pictures = [
        (name, curve_rows(measured, key), f"{MEASURES[key]} by ε", by_rule, "ε", MEASURES[key])
        for key, name in PICTURES.items()
    ]
    by_cells = f"AUROC of the grid by b, at ε = {SWEEP_EPSILON:g}"
    pictures.append(
        ("figure_2_cells", cells_rows(measured), by_cells, said, "cells on each axis (b)", "AUROC")
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
