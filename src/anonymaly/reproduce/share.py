# SPDX-License-Identifier: Apache-2.0
"""The experiments of 004 (one-sided privacy), section 6.3.3, on the histograms of DPBench.

Tables 1 and 2 and Figures 6 to 10; the figures on wireless traces need data that is not public.
Measurements are kept in the output folder input by input, so that an interrupted run goes on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.reproduce.journal import Journal
from anonymaly.reproduce.progress import Progress
from anonymaly.reproduce.reproduction import Reproduction
from anonymaly.reproduce.share_charts import draw
from anonymaly.reproduce.share_measure import EPSILONS, measure_inputs
from anonymaly.reproduce.share_tables import Table, all_tables

PAPER = "004 (one-sided differential privacy)"

RUNS = 10  # as in the paper
SEED = 1


def reproduce_share(
    histograms: Mapping[str, Integers],
    output: Path,
    *,
    runs: int = RUNS,
    seed: int = SEED,
    adjacency: Adjacency = "replace",
    force: bool = False,
    progress: Progress | None = None,
) -> Reproduction[Table]:
    """Measure what is not measured yet, and put it into the paper's tables and figures.

    Parameters
    ----------
    histograms
        The public histograms, from ``read_histograms``.
    output
        The folder for measurements, ``tables.json`` and pictures.
    runs
        How many draws each mean is over.
    seed
        Fixes the policies and all draws.
    adjacency
        The form of the promise; the paper's is ``"replace"``.
    force
        Measure again.
    progress
        Told how far it has come.

    Examples
    --------
    >>> found = reproduce_share(read_histograms(Path("data")), Path("output"))  # doctest: +SKIP
    >>> found.tables[0].title  # doctest: +SKIP
    'Table 1. Share of non-sensitive records released by sample'
    """
    scales = {name: int(counts.sum()) for name, counts in histograms.items()}
    settings = {
        "seed": seed, "runs": runs, "adjacency": adjacency, "histograms": scales,
        "methods": list(METHODS), "epsilons": EPSILONS,
    }  # fmt: skip
    journal = Journal(output / "measured" / "share.jsonl", settings, force=force)
    entries = measure_inputs(
        histograms, journal, runs=runs, seed=seed, adjacency=adjacency, progress=progress or Progress(None)
    )
    tables = all_tables(entries, histograms, runs, adjacency)
    found = Reproduction(PAPER, tuple(tables), tuple(draw(entries, runs, adjacency, output)))
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    (output / "tables.json").write_text(text + "\n", encoding="utf-8")
    return found
