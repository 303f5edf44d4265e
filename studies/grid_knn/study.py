# SPDX-License-Identifier: Apache-2.0
"""The experiments of Rauch et al. 2021, section 5, on public data: Table 1, Figures 2 and 3, and targets.

Each split of a table is measured once and kept, so that an interrupted run goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from studies.grid_knn.charts import draw
from studies.grid_knn.data import FILES, PAPER_TABLES, Labelled, read_tables
from studies.grid_knn.measure import EPSILONS, HAS_PYOD, measure
from studies.grid_knn.paper import CELLS, NEIGHBOURS, SEEDS
from studies.grid_knn.tables import Measured, all_tables
from studies.runner import Run, Study, setting
from studies.table import Table

VERSION = 2  # of what is measured: what another one measured is refused


@dataclass(frozen=True)
class GridKnn(Study[Sequence[Labelled], Measured]):
    """How unusual is a new record? The paper's tables are measured with all its numbers of cells.

    Examples
    --------
    >>> GridKnn().seeds
    10
    """

    paper = "Rauch, Olatunji and Khosla 2021"
    files = FILES
    quick = MappingProxyType({"seeds": 2})

    seeds: int = setting(SEEDS, "splits that a mean is over, each with noise of its own")

    def read(self, folder: Path) -> Sequence[Labelled]:
        """Read the labelled tables."""
        return read_tables(folder)

    def measure(self, data: Sequence[Labelled], run: Run) -> Measured:
        """Measure the splits of each table."""
        entries = []
        for table in data:
            settings = {
                "version": VERSION, "table": table.name, "rows": len(table.points), "epsilons": EPSILONS,
                "cells": CELLS, "neighbours": NEIGHBOURS, "pyod": HAS_PYOD,
            }  # fmt: skip
            name = table.name.lower()
            journal = run.journal(name, settings, earlier=f"score_{name}.jsonl")
            run.progress.start(table.name, total=self.seeds, done=len(journal), unit="splits")
            for seed in range(len(journal), self.seeds):
                rows = measure(table, seed, sweep=table.name in PAPER_TABLES)
                journal.write({"table": table.name, "seed": seed, "rows": rows})
                run.progress.advance(seed + 1)
            entries += [entry for entry in journal if entry["seed"] < self.seeds]
        return Measured(entries)

    def tables(self, data: Sequence[Labelled], measured: Measured) -> list[Table]:
        """Return Table 1, Figures 2 and 3 as tables, and what must be reached."""
        return all_tables(measured, data)

    def draw(self, data: Sequence[Labelled], measured: Measured, folder: Path) -> list[Path]:
        """Draw Figures 2 and 3."""
        return draw(measured, self.seeds, folder)


STUDY = GridKnn
