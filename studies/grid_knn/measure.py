# SPDX-License-Identifier: Apache-2.0
"""One split of one table: every private and non-private score of the comparison, and how well each ranks.

Counts are made once for each number of cells and released at every ε. That is the same code that answers the
question, without its ledger: `tests/studies` compares it with ``simulate``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import ibis
import pyarrow as pa

from anonymaly.core.arrays import Floats
from anonymaly.engine.statements import collect
from anonymaly.noise import Noise
from anonymaly.questions.score.methods.grid import GridMethod
from anonymaly.questions.score.methods.marginals import MarginalsMethod
from anonymaly.questions.score.methods.method import MethodFacts, ScoringMethod, coordinate
from studies.grid_knn.data import Labelled
from studies.grid_knn.nearest_neighbours import grid_distances, neighbour_distances
from studies.grid_knn.paper import CELLS, NEIGHBOURS
from studies.grid_knn.paper import EPSILONS as PAPER_EPSILONS
from studies.grid_knn.ranking import figures

Row = dict[str, Any]

EPSILONS = (*PAPER_EPSILONS[:3], "1", *PAPER_EPSILONS[3:])

MARGINALS, GRID, WEIGHTED_GRID = "marginals", "grid k-NN", "grid weighted k-NN"
KNN, WEIGHTED_KNN = "k-NN", "weighted k-NN"
PLAIN_MARGINALS = "marginals without noise"
PLAIN_GRID, PLAIN_WEIGHTED_GRID = "grid k-NN without noise", "grid weighted k-NN without noise"
PYOD = ("KNN", "ECOD", "HBOS", "LODA")
HAS_PYOD = importlib.util.find_spec("pyod") is not None


def measure(table: Labelled, seed: int, *, sweep: bool) -> list[Row]:
    """Return the figures of every score for one split.

    Parameters
    ----------
    table
        A labelled table.
    seed
        Of the split, and of the noise.
    sweep
        Whether to try all of the paper's numbers of cells, for the choice by hindsight.
    """
    reference, tested, odd = table.split(seed)
    rows = []
    for about, scores in [
        *_private(reference, tested, seed, sweep=sweep),
        *_plain(reference, tested, sweep=sweep),
        *_others(reference, tested, seed),
    ]:
        rows.append({**about, **figures(odd, scores)})
    return rows


def release(method: ScoringMethod, counts: pa.Table, epsilon: str, seed: int, points: Floats) -> Floats:
    """Return the scores of a model released with seeded noise."""
    body = method.release(counts, Fraction(epsilon), Noise.seeded(seed))
    return method.scorer(body)(points)


def count(method: ScoringMethod, reference: Floats) -> pa.Table:
    """Count reference points as the method wants, on the engine."""
    names = [coordinate(axis) for axis in range(reference.shape[1])]
    cube = pa.table({name: reference[:, axis] for axis, name in enumerate(names)})
    return collect(method.count(ibis.memtable(cube)))


def _private(reference: Floats, tested: Floats, seed: int, *, sweep: bool) -> Iterator[tuple[Row, Floats]]:
    records, dimensions = reference.shape
    counted = cache(lambda method: count(method, reference))
    for epsilon in EPSILONS:
        facts = MethodFacts(dimensions, Fraction(epsilon), records)
        columns = MarginalsMethod.plan({}, facts)
        about = {"epsilon": float(epsilon), "chosen": "by rule", "cells": columns.bins}
        yield {"score": MARGINALS, **about}, release(columns, counted(columns), epsilon, seed, tested)
        by_rule = GridMethod.plan({}, facts).cells
        for cells in sorted({by_rule, *(CELLS if sweep else ())}):
            for weighted in (False, True):
                grid = GridMethod.plan(
                    {"cells": cells, "neighbours": NEIGHBOURS, "weighted": weighted}, facts
                )
                about = {
                    "score": WEIGHTED_GRID if weighted else GRID,
                    "epsilon": float(epsilon),
                    "cells": cells,
                    "chosen": "by rule" if cells == by_rule else "tried",
                }
                # The lattice is the same at every ε, and with weights or without.
                counts = _lattice_counts(counted, grid)
                yield about, release(grid, counts, epsilon, seed, tested)


def _lattice_counts(counted: Any, grid: GridMethod) -> pa.Table:
    alike = GridMethod.plan({"cells": grid.cells}, MethodFacts(grid.dimensions, Fraction(1), 1))
    return counted(alike)


def _plain(reference: Floats, tested: Floats, *, sweep: bool) -> Iterable[tuple[Row, Floats]]:
    """Yield the non-private twins."""
    for weighted in (False, True):
        scores = neighbour_distances(reference, tested, NEIGHBOURS, weighted=weighted)
        yield {"score": WEIGHTED_KNN if weighted else KNN}, scores
    method = MarginalsMethod.plan({}, MethodFacts(reference.shape[1], Fraction(1), len(reference)))
    yield {"score": PLAIN_MARGINALS}, method.scorer(method.without_noise(count(method, reference)))(tested)
    for cells in CELLS if sweep else ():
        for weighted in (False, True):
            # As the paper and the private grid: sums of differences, from the centre of the own cell.
            scores = grid_distances(
                reference,
                tested,
                NEIGHBOURS,
                cells=cells,
                weighted=weighted,
                distance="manhattan",
                from_cell=True,
            )
            yield {"score": PLAIN_WEIGHTED_GRID if weighted else PLAIN_GRID, "cells": cells}, scores


def _others(reference: Floats, tested: Floats, seed: int) -> Iterator[tuple[Row, Floats]]:
    """Yield PyOD's detectors, where it is installed."""
    if not HAS_PYOD:
        return
    for name in PYOD:
        module = importlib.import_module(f"pyod.models.{name.lower()}")
        options: dict[str, Any] = {"KNN": {"n_neighbors": NEIGHBOURS}, "LODA": {"random_state": seed}}.get(
            name, {}
        )
        yield (
            {"score": f"PyOD {name}"},
            getattr(module, name)(**options).fit(reference).decision_function(tested),
        )
