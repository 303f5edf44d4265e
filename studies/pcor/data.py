# SPDX-License-Identifier: Apache-2.0
"""The tables that ``explain`` is measured on, made from public files by rules that draw no randomness.

The paper says how many rows and values its tables have, not which: these have as many. A row is kept when
its job, sector and year (or agency, state and weapon) are among those listed here; of the rows kept, those
whose numbers in the file have the smallest SHA-256 digests are taken, in the file's order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anonymaly.datasets import SALARY_COLUMNS, salaries
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.errors import InputError

SALARY_FILE = "ontario_salaries_1996_2006.parquet"
HOMICIDE_FILE = "homicide_west_1976_2018.parquet"

SALARY_ROWS, REDUCED_ROWS, HOMICIDE_ROWS = 51_000, 11_000, 28_000

# The first pattern that is found in a title, in lower case, gives its group; other titles are left out.
JOBS: Mapping[str, str] = {
    "Executive": r"\b(president|chief executive|ceo|chief administrative|chief operating|chief financial"
    r"|deputy minister|executive director|provost)\b|\bvice[- ]pres",
    "Principal": r"\b(principal|superintendent of (education|schools)|director of education)\b",
    "Professor": r"\bprof\b|\bprofessor|\blecturer\b|\bfaculty\b",
    "Lawyer": r"\b(counsel|crown attorney|lawyer|solicitor|crown)\b",
    "Physician": r"\b(physician|psychiatrist|pathologist|medical officer|radiologist|anaesthe\w+|surgeon"
    r"|coroner|medical director)\b",
    "Police and fire": r"\b(police|constable|sergeant|detective|inspector|fire|captain)\b",
    "Operator": r"\b(operator|maintainer|technician|mechanic|lines?|shift|electrician|trades?)\b",
    "Director": r"\bdirector\b",
    "Manager": r"\b(manager|mgr|supervisor)\b",
}
# The eight largest of eleven; the names in the file are long.
SECTORS: Mapping[str, str] = {
    "Universities": "Universities",
    "Hydro One and Ontario Power Generation": "Electricity",
    "Government of Ontario : Ministries": "Ministries",
    "Municipalities and Services": "Municipalities",
    "Hospitals and Boards of Public Health": "Hospitals",
    "Crown Agencies": "Crown agencies",
    "School Boards": "School boards",
    "Other Public Sector Employers": "Other",
}
YEARS = tuple(range(1999, 2007))

AGENCIES = ("Municipal police", "Sheriff", "Primary state LE")
STATES = ("AZ", "WA", "CO", "NM", "OR")
WEAPONS = (
    "Handgun - pistol, revolver, etc",
    "Knife or cutting instrument",
    "Firearm, type not stated",
    "Personal weapons, includes beating",
)


@dataclass(frozen=True)
class Records:
    """A public table with the columns that a question about it names."""

    name: str
    rows: pa.Table
    columns: Mapping[str, Domain]
    attributes: tuple[str, ...]
    metric: str

    def dataset(self) -> Dataset:
        """Return the table as a public dataset."""
        return Dataset(self.rows, name=self.name, columns=self.columns, public=True)

    def record(self, row: int) -> dict[str, Any]:
        """Return one row as a question's record."""
        return {name: self.rows.column(name)[row].as_py() for name in (*self.attributes, self.metric)}


def salary(folder: Path) -> Records:
    """Return 51,000 rows with 9 groups of jobs, 8 sectors and 8 years (1999 to 2006)."""
    given = _read(folder, SALARY_FILE)
    title = [_job(text) for text in given.column("job_title").to_pylist()]
    sector = [SECTORS.get(text) for text in given.column("sector").to_pylist()]
    year, pay = given.column("year").cast(pa.int64()), given.column("salary").cast(pa.float64())
    rows = pa.table({"job": title, "sector": sector, "year": year, "salary": pay})
    columns: dict[str, Domain] = {
        "job": Categories(list(JOBS)),
        "sector": Categories(list(SECTORS.values())),
        "year": Categories(list(YEARS)),
        "salary": SALARY_COLUMNS["salary"],
    }
    return Records("salary", _take(rows, columns, SALARY_ROWS), columns, ("job", "sector", "year"), "salary")


def build_reduced_salary(folder: Path) -> pa.Table:
    """Return what ships as ``datasets.salaries``: 11,000 of the 51,000 rows, with 5, 5 and 4 values."""
    return _take(salary(folder).rows, SALARY_COLUMNS, REDUCED_ROWS)


def reduced_salary() -> Records:
    """Return the 11,000 rows with 14 values that ship with the package."""
    dataset = salaries(public=True)
    rows = dataset.table.to_pyarrow()
    return Records("reduced_salary", rows, SALARY_COLUMNS, ("job", "sector", "year"), "salary")


def homicide(folder: Path) -> Records:
    """Return 28,000 rows with 3 kinds of agencies, 5 states and 4 weapons; the metric is the victim's age."""
    given = _read(folder, HOMICIDE_FILE)
    names = {"agency": "agency_type", "state": "state", "weapon": "weapon"}
    texts = {name: given.column(source).cast(pa.string()) for name, source in names.items()}
    rows = pa.table({**texts, "victim_age": given.column("victim_age").cast(pa.float64())})
    columns: dict[str, Domain] = {
        "agency": Categories(list(AGENCIES)),
        "state": Categories(list(STATES)),
        "weapon": Categories(list(WEAPONS)),
        "victim_age": Interval(0, 120, step=1),
    }
    return Records("homicide", _take(rows, columns, HOMICIDE_ROWS), columns, tuple(names), "victim_age")


def _read(folder: Path, name: str) -> pa.Table:
    return pq.read_table(folder / name)


def _take(rows: pa.Table, columns: Mapping[str, Domain], number: int) -> pa.Table:
    """Return a number of the rows that lie within the declared columns."""
    kept = pa.array([True] * rows.num_rows)
    for name, domain in columns.items():
        column = rows.column(name)
        if isinstance(domain, Categories):
            inside = pc.is_in(column, value_set=pa.array(list(domain.values)))
        else:
            inside = pc.is_valid(column)
        kept = pc.and_(kept, inside)
    places = pc.indices_nonzero(kept).to_pylist()
    if len(places) < number:
        raise InputError(
            f"{len(places):,} rows are left where {number:,} are needed",
            field="data",
            next_step="Use the complete public files.",
        )
    chosen = sorted(sorted(places, key=_digest)[:number])
    return rows.take(chosen).combine_chunks()


def _digest(place: int) -> bytes:
    return hashlib.sha256(str(place).encode()).digest()


def _job(title: str | None) -> str | None:
    text = (title or "").lower()
    return next((name for name, pattern in _PATTERNS if pattern(text)), None)


_PATTERNS: Sequence[tuple[str, Callable[[str], object]]] = [
    (name, re.compile(pattern).search) for name, pattern in JOBS.items()
]
