# SPDX-License-Identifier: Apache-2.0
"""The readings that ``stream`` is measured on: the paper's synthetic points, a building and a machine.

Each comes with a history that the declaration is made from, and with windows that are judged under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

from anonymaly.core.arrays import Booleans, Floats
from anonymaly.declare.domain import Interval
from anonymaly.noise import Noise
from studies.sensors.paper import DEVIATION, OUTLIERS

BUILDING_FILE, MACHINE_FILE = "keti_building.parquet", "nab.parquet"
MACHINE = "realKnownCause/machine_temperature_system_failure.csv"
TOO_HOT = 60  # degrees Celsius, in an office
TOO_COLD = 60  # degrees of the machine's own scale, where it runs at 75 to 105


@dataclass(frozen=True)
class Readings:
    """Some readings, and which of them are outliers."""

    values: Floats
    outliers: Booleans


@dataclass(frozen=True)
class Source:
    """A history, and the windows that follow it."""

    name: str
    unit: str
    history: Readings
    windows: tuple[Readings, ...]
    outer: Interval
    share: float  # of outliers, for the percentiles of the range


def synthetic(separation: int, points: int, seed: int) -> Readings:
    """Draw the paper's points: two normal columns, and the outer tenth moved out by the separation.

    Examples
    --------
    >>> found = synthetic(50, points=1000, seed=1)
    >>> found.values.shape, int(found.outliers.sum())
    ((1000, 2), 100)
    """
    uniform = (Noise.seeded(seed).uniform(2**53, 2 * points).astype(np.float64) + 0.5) / 2**53
    values = DEVIATION * ndtri(uniform).reshape(points, 2)
    radius = np.hypot(values[:, 0], values[:, 1])
    outliers = np.zeros(points, np.bool_)
    outliers[np.argsort(radius, kind="stable")[points - round(OUTLIERS * points) :]] = True
    values[outliers] *= ((radius[outliers] + separation) / radius[outliers])[:, np.newaxis]
    return Readings(values, outliers)


def building(folder: Path, window: int = 5000) -> Source:
    """Return the temperatures of 45 rooms as a gateway sees them; the first two days are the history.

    One room's sensor is broken: it shows up to 394 degrees. That no office is hotter than 60 is known.
    """
    table = pd.read_parquet(folder / BUILDING_FILE, columns=["room", "timestamp", "temperature"])
    table = table.sort_values(["timestamp", "room"], kind="stable")
    early = (table["timestamp"] < pd.Timestamp("2013-08-25")).to_numpy()
    values = table["temperature"].to_numpy(np.float64)[:, np.newaxis]
    outliers = values[:, 0] > TOO_HOT
    return Source(
        "building",
        "°C",
        Readings(values[early], outliers[early]),
        _windows(values[~early], outliers[~early], window),
        Interval(-50, 400),
        share=0.03,
    )


def machine(folder: Path, window: int = 2000) -> Source:
    """Return the temperature of a large machine; the first half, with its first failure, is the history.

    Outliers are readings below 60 within the labelled failures.
    """
    table = pd.read_parquet(folder / MACHINE_FILE)
    table = table[table["series"] == MACHINE].sort_values("timestamp", kind="stable")
    values = table["value"].to_numpy(np.float64)[:, np.newaxis]
    outliers = table["in_anomaly_window"].to_numpy() & (values[:, 0] < TOO_COLD)
    half = len(values) // 2
    return Source(
        "machine",
        "degrees",
        Readings(values[:half], outliers[:half]),
        _windows(values[half:], outliers[half:], window),
        Interval(0, 150),
        share=0.1,
    )


def real_sources(folder: Path) -> list[Source]:
    """Return the building and the machine."""
    return [building(folder), machine(folder)]


def _windows(values: Floats, outliers: Booleans, size: int) -> tuple[Readings, ...]:
    starts = range(0, len(values), size)
    return tuple(Readings(values[start : start + size], outliers[start : start + size]) for start in starts)
