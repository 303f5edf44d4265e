# SPDX-License-Identifier: Apache-2.0
"""The labelled tables that ``score`` is measured on: the paper's, and two larger ones with few columns.

The paper keeps the first records of the minority class as outliers and leaves the others out; so do we, with
its numbers. Each column's least and greatest value in the whole table counts as public, as in the paper: an
owner would declare bounds from knowledge of the subject.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anonymaly.core.arrays import Booleans, Floats
from studies.seeds import in_random_order

REFERENCE_SHARE = 0.8  # of the inliers; the others are the test's

FILES = (
    "lymphography.parquet", "pima.parquet", "adbench/wdbc.npz", "heart_statlog.parquet", "adult.parquet",
    "adbench/thyroid.npz", "adbench/mammography.npz",
)  # fmt: skip
LYMPHOGRAPHY = ("lym_nodes_dimin", "lym_nodes_enlar", "no_of_nodes")  # the three that are counts
ADULT = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")


@dataclass(frozen=True)
class Labelled:
    """A public table: points of the unit cube, and which are outliers."""

    name: str
    points: Floats
    outliers: Booleans

    @property
    def dimensions(self) -> int:
        """How many columns there are."""
        return int(self.points.shape[1])

    def split(self, seed: int) -> tuple[Floats, Floats, Booleans]:
        """Return 80 % of the inliers as reference, all others to be scored, and which of these are outliers.

        Examples
        --------
        >>> table = Labelled("five", np.arange(6.0)[:, None], np.arange(6) == 5)
        >>> reference, tested, odd = table.split(seed=0)
        >>> len(reference), len(tested), odd.tolist()
        (4, 2, [False, True])
        """
        inliers = np.flatnonzero(~self.outliers)
        inliers = inliers[list(in_random_order(len(inliers), seed))]
        kept = int(REFERENCE_SHARE * len(inliers))
        others = np.concatenate([inliers[kept:], np.flatnonzero(self.outliers)])
        return self.points[inliers[:kept]], self.points[others], self.outliers[others]


def labelled(name: str, values: Floats, outliers: Booleans, most: int | None = None) -> Labelled:
    """Map columns to 0..1 by their extremes; of the outliers keep the first ones."""
    low, high = values.min(axis=0), values.max(axis=0)
    points = (values - low) / np.where(high > low, high - low, 1.0)
    kept = ~outliers | (np.cumsum(outliers) <= (len(outliers) if most is None else most))
    return Labelled(name, points[kept], outliers[kept])


def lymphography(folder: Path) -> Labelled:
    """Return 148 patients, 6 of them with rare findings."""
    rows = _read(folder, "lymphography.parquet")
    return labelled("Lymphography", _numbers(rows, LYMPHOGRAPHY), _flags(rows, "outlier", 1))


def pima(folder: Path) -> Labelled:
    """Return 540 women, 40 of them with diabetes."""
    rows = _read(folder, "pima.parquet")
    names = [name for name in rows.column_names if name != "Outcome"]
    return labelled("Pima", _numbers(rows, names), _flags(rows, "Outcome", 1), most=40)


def wdbc(folder: Path) -> Labelled:
    """Return 367 tissue samples, 10 of them malignant."""
    return _benchmark(folder, "wdbc", "WDBC")


def heart(folder: Path) -> Labelled:
    """Return 160 patients, 10 of them with a heart disease."""
    rows = _read(folder, "heart_statlog.parquet")
    names = [name for name in rows.column_names if name != "disease"]
    return labelled("Heart", _numbers(rows, names), _flags(rows, "disease", 1), most=10)


def adult(folder: Path) -> Labelled:
    """Return 24,820 adults, 100 of them with more than 50,000 dollars a year."""
    rows = _read(folder, "adult.parquet")
    rows = rows.filter(pc.equal(rows.column("split").cast(pa.string()), "train"))
    male = pc.equal(pc.utf8_trim_whitespace(rows.column("sex").cast(pa.string())), "Male")
    values = np.column_stack([_numbers(rows, ADULT), np.asarray(male.to_pylist(), np.float64)])
    return labelled("Adult", values, _flags(rows, "income", ">50K"), most=100)


def thyroid(folder: Path) -> Labelled:
    """Return 3,772 patients, 93 of them with an overactive thyroid gland."""
    return _benchmark(folder, "thyroid", "Thyroid")


def mammography(folder: Path) -> Labelled:
    """Return 11,183 shadows on mammograms, 260 of them calcifications."""
    return _benchmark(folder, "mammography", "Mammography")


Source = Callable[[Path], Labelled]
PAPER_TABLES: Mapping[str, Source] = {
    "Lymphography": lymphography,
    "Pima": pima,
    "WDBC": wdbc,
    "Heart": heart,
    "Adult": adult,
}
FURTHER_TABLES: Mapping[str, Source] = {"Thyroid": thyroid, "Mammography": mammography}


def read_tables(folder: Path) -> list[Labelled]:
    """Read all tables, the paper's first."""
    return [source(folder) for source in (*PAPER_TABLES.values(), *FURTHER_TABLES.values())]


def _read(folder: Path, name: str) -> pa.Table:
    return pq.read_table(folder / name)


def _benchmark(folder: Path, file: str, name: str) -> Labelled:
    """Read one of the ADBench archives, whose outliers are few already."""
    with np.load(folder / f"adbench/{file}.npz", allow_pickle=False) as archive:
        return labelled(name, archive["X"].astype(np.float64), archive["y"] == 1)


def _numbers(rows: pa.Table, names: tuple[str, ...] | list[str]) -> Floats:
    return np.column_stack([rows.column(name).cast(pa.float64()).to_numpy() for name in names])


def _flags(rows: pa.Table, name: str, value: object) -> Booleans:
    column = rows.column(name)
    texts = column.cast(pa.string()).to_pylist() if isinstance(value, str) else column.to_pylist()
    return np.array([(text.strip() if isinstance(text, str) else text) == value for text in texts])
