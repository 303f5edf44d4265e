# SPDX-License-Identifier: Apache-2.0
"""The experiments of 003 (sensitive privacy), sections 5 and 9: Tables 1 to 3, Figures 1 to 5.

Error probabilities are computed from exact counts, so nothing is drawn that would have to be kept for a later
run; seeded answers of the question itself are compared with them at the end.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from studies.progress import Progress
from studies.runner import Reproduction
from studies.sensitive.charts import draw
from studies.sensitive.data import Points
from studies.sensitive.measure import check_by_simulation, measure
from studies.sensitive.tables import Table, identify_tables

PAPER = "003 (sensitive privacy)"

CHECKED = ("Thyroid", "Mammography")
SEEDS = 100
SEED = 1


def reproduce_identify(
    tables: Sequence[Points],
    output: Path,
    *,
    seeds: int = SEEDS,
    progress: Progress | None = None,
) -> Reproduction[Table]:
    """Measure every table, and put the paper's figures beside ours.

    Parameters
    ----------
    tables
        The public tables.
    output
        The folder for ``identify.json``, ``identify.md`` and pictures.
    seeds
        How often answers are simulated to check the formula.
    progress
        Told how far it has come.

    Examples
    --------
    >>> from studies.sensitive.data import read_points
    >>> found = reproduce_identify(read_points(Path("data")), Path("output"))  # doctest: +SKIP
    >>> found.tables[0].title  # doctest: +SKIP
    'Table 1. The tables, and how many of their records are anomalies'
    """
    told = progress or Progress(None)
    told.start("identify", total=len(tables), done=0, unit="tables")
    measured = []
    for number, points in enumerate(tables, start=1):
        measured.append(measure(points, SEED))
        told.advance(number)
    checked = [item for item in measured if item.points.name in CHECKED]
    told.start("simulated answers", total=len(checked), done=0, unit="tables")
    checks = []
    for number, item in enumerate(checked, start=1):
        checks.append(check_by_simulation(item, seeds))
        told.advance(number)
    found = Reproduction(PAPER, tuple(identify_tables(measured, checks)), tuple(draw(measured, output)))
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    (output / "identify.json").write_text(text + "\n", encoding="utf-8")
    pages = "\n".join(table.to_markdown() for table in found.tables)
    (output / "identify.md").write_text(pages, encoding="utf-8")
    return found
