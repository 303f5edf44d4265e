# SPDX-License-Identifier: Apache-2.0
"""The experiment of 001, section 7 (Figure 3), and the same on real sensors.

The paper does not say with which parameters DBSCAN was run; here they come from a history by the rule of
``anonymaly.stream.suggest``, with other points than those that are then judged. Measurements are kept in the
output folder, so that an interrupted run goes on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from studies.journal import Journal, code_digest
from studies.progress import Progress
from studies.runner import Reproduction
from studies.sensors.charts import draw
from studies.sensors.data import POINTS, SEPARATIONS, Source
from studies.sensors.measure import ACCOUNTS, EPSILONS, measure_all
from studies.sensors.tables import Table, all_tables

PAPER = "001 (relaxed local differential privacy)"

# What decides how a window is judged; how messages travel does not.
JUDGING = tuple(
    f"stream/{name}.py"
    for name in ("correction", "declaration", "models", "neighbourhoods", "perturb", "suggest")
)
RUNS = 5  # as in the paper
SEED = 1


def reproduce_stream(
    sources: Sequence[Source],
    output: Path,
    *,
    separations: Sequence[int] = SEPARATIONS,
    points: int = POINTS,
    runs: int = RUNS,
    seed: int = SEED,
    force: bool = False,
    progress: Progress | None = None,
) -> Reproduction[Table]:
    """Measure what is not measured yet, and put the paper's figures beside ours.

    Parameters
    ----------
    sources
        The real sensors, from ``real_sources``.
    output
        The folder for measurements, ``tables.json`` and pictures.
    separations, points, runs
        Of the paper's synthetic points.
    seed
        Fixes all points and draws.
    force
        Measure again.
    progress
        Told how far it has come.

    Examples
    --------
    >>> found = reproduce_stream(real_sources(Path("data")), Path("output"))  # doctest: +SKIP
    >>> found.tables[0].title  # doctest: +SKIP
    'Figure 3, ε for each column as the paper reads it: a reading of two columns costs 2ε'
    """
    settings = {
        "seed": seed, "runs": runs, "points": points, "separations": list(separations),
        "epsilons": EPSILONS, "accounts": ACCOUNTS, "code": code_digest("noise", *JUDGING),
        "sources": {source.name: sum(len(window.values) for window in source.windows) for source in sources},
    }  # fmt: skip
    journal = Journal(output / "measured" / "stream.jsonl", json.loads(json.dumps(settings)), force=force)
    entries = measure_all(
        journal,
        sources,
        separations=separations,
        points=points,
        runs=runs,
        seed=seed,
        progress=progress or Progress(None),
    )
    times = [entry["correction_seconds"] for entry in entries if entry["study"] == "synthetic"]
    tables = all_tables(entries)
    pictures = draw(entries, sources, seed, output)
    found = Reproduction(
        PAPER, tuple(tables), tuple(pictures), {"correction_seconds": sum(times) / len(times)}
    )
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    (output / "tables.json").write_text(text + "\n", encoding="utf-8")
    return found
