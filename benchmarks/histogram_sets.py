# SPDX-License-Identifier: Apache-2.0
"""Which histograms `share-histogram` is tuned on, and which it is judged on: split by name before any run.

A histogram goes where its source is, so that no other form of it is on the other side (`ADULT` and the tables
made of adult are one source). The judging half is looked at once, when all is chosen. The constants of
before, those of smoothing and of dawa's bucket price, were chosen on all seven histograms of DPBench; that
cannot be undone, and says nothing for the tables with two and three columns.

The files are read from a folder that is given: none of them is shipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anonymaly.core.arrays import Integers

TUNING = (
    "ADULT",
    "INCOME",
    "MEDCOST",
    "HEPTH",
    "adult age × hours",
    "adult occupation × workclass × education",
    "adult age × education × sex",
    "occupancy temperature × CO2",
    "occupancy light × humidity × hour",
)
JUDGING = (
    "NETTRACE",
    "PATENT",
    "SEARCHLOGS",
    "uji longitude × latitude",
    "uji building × floor × space",
    "uji wap × floor",
    "tdrive longitude × latitude",
    "tdrive longitude × latitude × hour",
)

# Named after the judging half had been looked at, and before any of them was: for rules that were made since.
FRESH = (
    "salaries salary",
    "salaries salary × year",
    "salaries sector × year × benefits",
    "homicides victim age",
    "homicides victim age × offender age",
    "homicides state × year × weapon",
    "building co2",
    "building humidity × temperature",
    "cards amount",
    "cards time × amount",
)
HALVES = {"tuning": TUNING, "judging": JUDGING, "fresh": FRESH}


@dataclass(frozen=True)
class Cut:
    """A column in so many equal bins between two public numbers."""

    column: str
    bins: int
    low: float
    high: float


# The edges are round numbers around what the columns can hold, not what they happen to hold.
MADE: dict[str, tuple[str, tuple[Cut | str, ...]]] = {
    "adult age × hours": ("adult", (Cut("age", 80, 15, 95), Cut("hours_per_week", 100, 0, 100))),
    "adult occupation × workclass × education": ("adult", ("occupation", "workclass", "education")),
    "adult age × education × sex": (
        "adult",
        (Cut("age", 80, 15, 95), Cut("education_num", 16, 1, 17), "sex"),
    ),
    "occupancy temperature × CO2": ("occupancy", (Cut("Temperature", 64, 15, 31), Cut("CO2", 64, 0, 3200))),
    "occupancy light × humidity × hour": (
        "occupancy",
        (Cut("Light", 16, 0, 1600), Cut("Humidity", 16, 10, 50), Cut("hour", 24, 0, 24)),
    ),
    "uji longitude × latitude": (
        "ujiindoorloc",
        (Cut("longitude", 64, -7700, -7290), Cut("latitude", 64, 4864740, 4865030)),
    ),
    "uji building × floor × space": ("ujiindoorloc", ("building", "floor", Cut("space", 256, 0, 256))),
    "uji wap × floor": ("ujiindoorloc", (Cut("wap1", 521, 0, 521), "floor")),
    "tdrive longitude × latitude": (
        "tdrive_600_10min",
        (Cut("lon", 128, 116.0, 116.8), Cut("lat", 128, 39.6, 40.3)),
    ),
    "tdrive longitude × latitude × hour": (
        "tdrive_600_10min",
        (Cut("lon", 32, 116.0, 116.8), Cut("lat", 32, 39.6, 40.3), Cut("hour", 24, 0, 24)),
    ),
    "salaries salary": ("ontario_salaries_1996_2006", (Cut("salary", 2048, 100_000, 300_000),)),
    "salaries salary × year": (
        "ontario_salaries_1996_2006",
        (Cut("salary", 128, 100_000, 300_000), Cut("year", 11, 1996, 2007)),
    ),
    "salaries sector × year × benefits": (
        "ontario_salaries_1996_2006",
        ("sector", Cut("year", 11, 1996, 2007), Cut("taxable_benefits", 64, 0, 16_000)),
    ),
    "homicides victim age": ("homicide_west_1976_2018", (Cut("victim_age", 128, 0, 128),)),
    "homicides victim age × offender age": (
        "homicide_west_1976_2018",
        (Cut("victim_age", 100, 0, 100), Cut("offender_age", 100, 0, 100)),
    ),
    "homicides state × year × weapon": (
        "homicide_west_1976_2018",
        ("state", Cut("year", 43, 1976, 2019), "weapon"),
    ),
    "building co2": ("keti_building", (Cut("co2", 2048, 0, 2048),)),
    "building humidity × temperature": (
        "keti_building",
        (Cut("humidity", 64, 20, 84), Cut("temperature", 64, 16, 32)),
    ),
    "cards amount": ("creditcard_sample", (Cut("Amount", 4096, 0, 2048),)),
    "cards time × amount": (
        "creditcard_sample",
        (Cut("Time", 96, 0, 172_800), Cut("Amount", 64, 0, 640)),
    ),
}
TIMES = {"occupancy": "date", "tdrive_600_10min": "slot_10min"}


def load(names: tuple[str, ...], folder: Path) -> dict[str, Integers]:
    """Return the counts by name, with one axis for each column."""
    with np.load(folder / "dpbench_1d.npz") as archive:
        flat = {name: archive[name].astype(np.int64) for name in names if name in archive.files}
    return {name: flat[name] if name in flat else _make(name, folder) for name in names}


def _make(name: str, folder: Path) -> Integers:
    import pandas as pd  # noqa: PLC0415  # only tables need it

    file, columns = MADE[name]
    table = pd.read_parquet(folder / f"{file}.parquet")
    if file in TIMES:
        table["hour"] = pd.to_datetime(table[TIMES[file]]).dt.hour
    codes: list[Any] = []
    shape = []
    for column in columns:
        if isinstance(column, Cut):
            width = (column.high - column.low) / column.bins
            code = np.floor((table[column.column].to_numpy(np.float64, na_value=np.nan) - column.low) / width)
            size = column.bins
        else:
            values = sorted(table[column].dropna().unique())
            code = (
                table[column].map({value: place for place, value in enumerate(values)}).to_numpy(np.float64)
            )
            size = len(values)
        codes.append(code)
        shape.append(size)
    inside = np.logical_and.reduce(
        [(code >= 0) & (code < size) for code, size in zip(codes, shape, strict=True)]
    )
    counts = np.zeros(shape, np.int64)
    np.add.at(counts, tuple(code[inside].astype(np.int64) for code in codes), 1)
    return counts
