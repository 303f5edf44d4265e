# SPDX-License-Identifier: Apache-2.0
"""Scores without privacy: distances to nearest reference points, exact or over a grid without noise.

They are what private scores are compared with, and are for public data only. Higher is more unusual.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from anonymaly.core.arrays import Floats

Distance = Literal["manhattan", "euclidean"]

AT_ONCE = 5_000_000  # distances held in memory
DECIMALS = 12


def neighbour_distances(
    reference: npt.ArrayLike,
    points: npt.ArrayLike,
    neighbours: int,
    *,
    weighted: bool = False,
    distance: Distance = "euclidean",
) -> Floats:
    """Return how far each point is from its k-th nearest reference point.

    Parameters
    ----------
    reference, points
        Arrays with the same columns.
    neighbours
        k, or the number of reference points if that is smaller.
    weighted
        The sum of the distances to all k of them, as Angiulli and Pizzuti's weighted k-NN.
    distance
        In which distances are measured.

    Examples
    --------
    >>> neighbour_distances([[0.0], [1.0], [2.0]], [[0.0], [9.0]], 2).tolist()
    [1.0, 8.0]
    >>> neighbour_distances([[0.0], [1.0], [2.0]], [[0.0], [9.0]], 2, weighted=True).tolist()
    [1.0, 15.0]
    """
    data, queries = _points(reference, points)
    k = _neighbours(neighbours, len(data))
    tree: Any = cKDTree(data)
    found = tree.query(queries, k=list(range(1, k + 1)), p=1 if distance == "manhattan" else 2)[0]
    scores: Floats = found.sum(axis=1) if weighted else found[:, -1]
    return scores


def grid_distances(
    reference: npt.ArrayLike,
    points: npt.ArrayLike,
    neighbours: int,
    *,
    cells: int,
    weighted: bool = False,
    distance: Distance = "euclidean",
    from_cell: bool = False,
) -> Floats:
    """Return how far each point must go over a grid of the unit cube to meet k reference points.

    A reference point stands at the centre of its cell. This is the paper's grid without noise.

    Parameters
    ----------
    reference, points
        Arrays with the same columns, all of them from 0 to 1.
    neighbours
        k, or the number of reference points if that is smaller.
    cells
        Cells on each axis.
    weighted
        The sum of the distances of all k of them.
    distance
        In which distances are measured.
    from_cell
        Measure from the centre of the point's own cell. Cells are met in order of distance from the point
        itself in either case, as in the paper; of those equally far, the one nearer to the point's own cell
        comes first.

    Examples
    --------
    >>> grid_distances([[0.1], [0.2], [0.9]], [[0.25], [0.75]], 2, cells=2).tolist()
    [0.0, 0.5]
    """
    data, queries = _points(reference, points)
    k = _neighbours(neighbours, len(data))
    if not ((data >= 0) & (data <= 1)).all() or not ((queries >= 0) & (queries <= 1)).all():
        raise ValueError("a grid lies over the unit cube; map each column to 0..1 first")
    if cells < 1:
        raise ValueError(f"cells should be at least 1, not {cells}")
    held, counts = np.unique(_cell(data, cells), axis=0, return_counts=True)
    centres = (held + 0.5) / cells
    name = "cityblock" if distance == "manhattan" else "euclidean"
    scores = []
    for part in _parts(queries, len(centres)):
        ordered_by = cdist(part, centres, name)
        scored_by = cdist((_cell(part, cells) + 0.5) / cells, centres, name) if from_cell else ordered_by
        # Distances that differ by a rounding are equal: of two such cells the one nearer to the own is first.
        order = np.lexsort((scored_by.round(DECIMALS), ordered_by.round(DECIMALS)), axis=1)
        steps = np.take_along_axis(scored_by, order, axis=1)
        met = np.cumsum(counts[order], axis=1)
        last = np.argmax(met >= k, axis=1)
        if weighted:
            # The last cell counts with as many points as are still wanted.
            wanted = np.diff(np.minimum(met, k), axis=1, prepend=0)
            scores.append((wanted * steps).sum(axis=1))
        else:
            scores.append(np.take_along_axis(steps, last[:, None], axis=1)[:, 0])
    return np.concatenate(scores) if scores else np.empty(0)


def _points(reference: npt.ArrayLike, points: npt.ArrayLike) -> tuple[Floats, Floats]:
    data, queries = np.asarray(reference, np.float64), np.asarray(points, np.float64)
    if data.ndim != 2 or queries.ndim != 2 or data.shape[1] != queries.shape[1] or not len(data):
        raise ValueError("reference and points should be arrays with the same columns, reference not empty")
    if not np.isfinite(data).all() or not np.isfinite(queries).all():
        raise ValueError("reference and points should be finite")
    return data, queries


def _neighbours(neighbours: int, records: int) -> int:
    if neighbours < 1:
        raise ValueError(f"neighbours should be at least 1, not {neighbours}")
    return min(neighbours, records)


def _cell(points: Floats, cells: int) -> npt.NDArray[np.int64]:
    return np.minimum((points * cells).astype(np.int64), cells - 1)


def _parts(queries: Floats, width: int) -> Iterator[Floats]:
    rows = max(1, AT_ONCE // max(width, 1))
    for start in range(0, len(queries), rows):
        yield queries[start : start + rows]
