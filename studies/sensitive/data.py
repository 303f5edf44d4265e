# SPDX-License-Identifier: Apache-2.0
"""The tables that ``identify`` is measured on, from public files and, for one, from a seed.

Principal axes, scales and value spaces are read off the tables themselves. That is allowed here because all
of them are public; off private rows it would void the promise, and the study's output says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import ndtri

from anonymaly.core.arrays import Booleans, Floats
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval
from anonymaly.declare.rules import AnomalyModel
from anonymaly.noise import Noise
from studies.sensitive.paper import PAPER, Printed

FILES = (
    "adbench/thyroid.npz",
    "adbench/mammography.npz",
    "creditcard_sample.parquet",
    "aps_scania_sample.parquet",
)
SYNTHETIC_OUTLIERS, SYNTHETIC_SHIFT = 0.01, 20.0


@dataclass(frozen=True)
class Points:
    """A public table as points, with the anomaly model of the paper.

    Attributes
    ----------
    name
        As in the paper.
    points, labelled
        The records, and which of them their source calls outliers.
    beta
        The paper's, in proportion where this is a sample of the paper's table.
    note
        What was done to the source.
    """

    name: str
    points: Floats
    labelled: Booleans
    note: str

    @property
    def paper(self) -> Printed:
        """What the paper says of it."""
        return PAPER[self.name]

    @property
    def beta(self) -> int:
        """The paper's β, in proportion to the number of records."""
        return max(1, round(self.paper.beta * len(self.points) / self.paper.size))

    def columns(self) -> list[str]:
        """Return names for the coordinates."""
        return [f"x{place + 1}" for place in range(self.points.shape[1])]

    def space(self) -> tuple[Floats, Floats]:
        """Return the lowest and highest value of each coordinate."""
        return self.points.min(axis=0), self.points.max(axis=0)

    def dataset(self) -> Dataset:
        """Return the table as a public dataset under the paper's model."""
        names = self.columns()
        bounds = zip(*(bound.tolist() for bound in self.space()), strict=True)
        return Dataset(
            pa.table(dict(zip(names, self.points.T, strict=True))),
            name=self.name.replace(" ", "_").lower(),
            columns={name: Interval(low, high) for name, (low, high) in zip(names, bounds, strict=True)},
            rules={"paper": AnomalyModel(names, self.paper.radius, self.beta)},
            public=True,
        )


def read_points(folder: Path) -> list[Points]:
    """Return the paper's five tables."""
    return [_credit(folder), _trucks(folder), synthetic(), *(_whole(folder, name) for name in FILES[:2])]


def synthetic(size: int = 20_000, dimensions: int = 200, axes: int = 9, seed: int = 3) -> Points:
    """Return a mixture of Gaussians in 200 dimensions, reduced to 9 principal axes.

    99 of 100 records are standard normal. The others are normal around nine points, each 20 deviations out
    along an axis of its own.

    Examples
    --------
    >>> mixture = synthetic(size=2000, dimensions=20)
    >>> mixture.points.shape, int(mixture.labelled.sum())
    ((2000, 9), 20)
    """
    draws = np.asarray(Noise.seeded(seed).uniform(1 << 52, size * dimensions), np.float64)
    points = ndtri((draws + 0.5) / (1 << 52)).reshape(size, dimensions)
    outliers = np.arange(round(size * SYNTHETIC_OUTLIERS))
    points[outliers, outliers % axes] += SYNTHETIC_SHIFT
    labelled = np.arange(size) < len(outliers)
    note = "a mixture of Gaussians of our own: the paper does not describe its own; PCA to 9 axes"
    return Points("Synthetic", principal_axes(points, axes), labelled, note)


def principal_axes(points: Floats, number: int) -> Floats:
    """Return points along their axes of largest variance."""
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.ascontiguousarray(centred @ axes[:, ::-1][:, :number])


def _whole(folder: Path, name: str) -> Points:
    with np.load(folder / name, allow_pickle=False) as file:
        points, labelled = file["X"].astype(np.float64), file["y"] == 1
    return Points(Path(name).stem.capitalize(), np.ascontiguousarray(points), labelled, "whole")


def _credit(folder: Path) -> Points:
    """Take the evenly drawn normal rows and as many of the frauds as go with them in the whole table."""
    table = pq.read_table(folder / FILES[2])
    fraud = table.column("Class").to_numpy() == 1
    normal = table.column("uniform_sample").to_numpy(zero_copy_only=False) & ~fraud
    frauds = np.flatnonzero(fraud)
    wanted = round(normal.sum() * 492 / (284_807 - 492))
    kept = np.sort(np.r_[np.flatnonzero(normal), frauds[np.arange(wanted) * len(frauds) // wanted]])
    points = np.column_stack([table.column(f"V{axis}").to_numpy()[kept] for axis in range(1, 7)])
    note = "sample, β in proportion; its columns are principal axes, of which 6 are used"
    return Points("Credit Fraud", points.astype(np.float64), fraud[kept], note)


def _trucks(folder: Path) -> Points:
    """Take the consecutive rows; a missing counter is its column's median, columns are standardised."""
    table = pq.read_table(folder / FILES[3])
    kept = table.column("natural_sample").to_numpy(zero_copy_only=False)
    names = [name for name in table.column_names if name not in ("failure", "natural_sample")]
    values = np.column_stack([table.column(name).to_numpy()[kept] for name in names]).astype(np.float64)
    values = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    spread = values.std(axis=0)
    values = ((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1))[:, spread > 0]
    labelled = table.column("failure").to_numpy()[kept] == 1
    note = "sample, β in proportion; standardised, PCA to 12 axes"
    return Points("APS Trucks", principal_axes(values, 12), labelled, note)
