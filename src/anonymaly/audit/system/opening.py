# SPDX-License-Identifier: Apache-2.0
"""Does one value decide whether a table can be opened, a question answered, or other records read?

Opening is free, so whatever it depends on is told to everybody, without noise. Here each table is opened with
and without odd values, under every kind of declaration, and asked about it. The two must end alike, and what
is read of the other records must be the same: noise that hides one record does not hide a change of many.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import StageFailure
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.engine import frames
from anonymaly.engine.duckdb import DuckDB
from anonymaly.engine.statements import collect
from anonymaly.errors import AnonymalyError
from anonymaly.noise import Noise
from anonymaly.questions.count.query import Count

if TYPE_CHECKING:
    import ibis.expr.types as ir

Build = Callable[[Sequence[Any], Path], Any]  # from values, and a folder where a file may be written

DOMAINS: Mapping[str, Domain] = {
    "an interval": Interval(0, 120),
    "categories": Categories(["a", "b"]),
    "numbered categories": Categories([1, 2]),
    "a flag": Flag(),
    "timestamps": Timestamps("2020-01-01", "2021-01-01"),
    "opaque": Opaque(),
}


class _Unwritable:
    """An object that cannot be written."""

    def __str__(self) -> str:
        raise RuntimeError


ODD_OBJECTS: Sequence[Any] = (
    10**300, 10**400, -0.0, 5e-324, 1e308, float("inf"), float("nan"), np.float32("nan"), True,
    np.bool_(True), 1j, Fraction(1, 3), Decimal("1e400"), Decimal("NaN"), Decimal("sNaN"),
    Decimal("-Infinity"), b"\xff", "a\0b", "", "\u202e", "\ud800", "9" * 400, [1, 2], {"a": 1},
    np.array([1, 2]), np.datetime64("9999-12-31"), object(), _Unwritable(),
)  # fmt: skip
ODD_NUMBERS: Sequence[Any] = (-0.0, 5e-324, 1.7e308, float("inf"), float("-inf"), float("nan"), None)
ODD_SECONDS: Sequence[Any] = (0, -(2**60), 2**60, -62135596801, 253402300800, None)
ODD_TEXTS: Sequence[Any] = ("", "a\0b", "9" * 400, "1e999", "nan", "0x1", "\u202e", "2020-13-45", None)
ODD_KINDS: Sequence[Any] = (1.5, "a", True, 7, 10**400, b"\xff", Decimal("1e400"), "2020-01-01")
ODD_LINES: Sequence[Any] = (
    b'"', b'"a', b'"a,b', b'a"b",c', b'"a"b,c', b'"""a""",c', b'""a,c', b"a", b"", b"a,b,c,d", b"\xff,a",
    b"a\0b,c", b"9" * 400 + b",c", b"\x1f\x1e\x1d,c", b"'a,c", b'"a\\",c', b'a,"', b'"a","',
)  # fmt: skip


def _objects(values: Sequence[Any], folder: Path) -> Any:
    import pandas  # noqa: PLC0415  (not every user of the audit has it)

    return pandas.DataFrame({"x": pandas.Series(list(values), dtype=object)})


def _kinds(dtype: str | None) -> Build:
    def build(values: Sequence[Any], folder: Path) -> Any:
        import pandas  # noqa: PLC0415

        return pandas.DataFrame({"x": pandas.Series(list(values), dtype=dtype)})

    return build


def _typed(kind: pa.DataType) -> Build:
    return lambda values, folder: pa.table({"x": pa.array(list(values), kind)})


def _seconds(values: Sequence[Any], folder: Path) -> Any:
    return pa.table({"x": pa.array(list(values), pa.int64()).cast(pa.timestamp("s"))})


def _lines(values: Sequence[Any], folder: Path) -> Any:
    path = folder / "opened.csv"
    path.write_bytes(b"".join(line + b"\n" for line in (b"x,y", *values)))
    return path


# What holds the values, those of an ordinary table, and those of which one is added.
SOURCES: Mapping[str, tuple[Build, Sequence[Any], Sequence[Any]]] = {
    "objects of pandas": (_objects, (1, None), ODD_OBJECTS),
    "nothing, as pandas types it": (_kinds(None), (float("nan"), float("nan")), ODD_KINDS),
    "categories of pandas": (_kinds("category"), (None, None), ODD_KINDS),
    "numbers of Arrow": (_typed(pa.float64()), (1.0, 2.5), ODD_NUMBERS),
    "times of Arrow": (_seconds, (1_600_000_000,), ODD_SECONDS),
    "texts of Arrow": (_typed(pa.string()), ("a", "b"), ODD_TEXTS),
    "lines of a text file": (_lines, (b"1,u", b'"a",v', b"2020-01-02,w"), ODD_LINES),
}


@dataclass(frozen=True)
class Opened:
    """How opening a table and counting in it end, and which records it has.

    How much is counted is noise, and no part of it.
    """

    words: str
    records: Counter[str] = field(default_factory=Counter)

    def problem(self, before: Opened, added: int) -> str | None:
        """Say what is wrong if so many values were added to a table with another outcome."""
        if self.words != before.words:
            return f"{self.words} instead of {before.words}"
        if before.records - self.records or (self.records - before.records).total() > added:
            return "other records are read otherwise"
        return None


def opening_problems() -> Problems:
    """Yield every value that decides whether a table opens, a question is answered or others are read.

    Examples
    --------
    >>> fault = OPENING_FAULTS[0]
    >>> fault.name, fault.is_rejected(opening_problems)
    ('type guessed from all values', True)
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        ordinary = {source: _outcomes(source, (), DOMAINS, folder) for source in SOURCES}
        # All together under every declaration, then each alone under one: opening a table takes a while.
        for source, (_, _, odd) in SOURCES.items():
            for kind, found in _outcomes(source, odd, DOMAINS, folder).items():
                problem = found.problem(ordinary[source][kind], len(odd))
                if problem is not None:
                    yield f"{source}, {kind}, all odd values: {problem}"
        for source, (_, _, odd) in SOURCES.items():
            for (place, value), kind in zip(enumerate(odd, start=1), itertools.cycle(DOMAINS), strict=False):
                (found,) = _outcomes(source, (value,), [kind], folder).values()
                problem = found.problem(ordinary[source][kind], 1)
                if problem is not None:
                    yield f"{source}, {kind}, odd value {place}: {problem}"


def _outcomes(source: str, added: Sequence[Any], kinds: Iterable[str], folder: Path) -> Mapping[str, Opened]:
    """Return how opening ends, under several declarations, if values are added to an ordinary table."""
    build, ordinary, _ = SOURCES[source]
    # Not at the end: some are read with what follows them.
    values = (*ordinary[:1], *added, *ordinary[1:])
    return {kind: _outcome(build(values, folder), DOMAINS[kind]) for kind in kinds}


def _outcome(table: Any, domain: Domain) -> Opened:
    try:
        dataset = Dataset(table, name="opened", columns={"x": domain})
        bound = Count(where="x is null", epsilon=1).bind(dataset.with_adjacency("add_remove"))
        view = dataset.ready(bound.policy)
        bound.answer(view, Noise.seeded(0))
    except (AnonymalyError, StageFailure) as problem:
        return Opened(f"{type(problem).__name__}: {problem}")
    return Opened("an answer", Counter(map(repr, collect(view)["x"].to_pylist())))


def _guessed(source: Any, kept: Sequence[str], opaque: Container[str]) -> tuple[pa.Table, dict[str, str]]:
    return pa.Table.from_pandas(source[list(kept)], preserve_index=False), {}


def _typed_by_values(
    source: Any, kept: Sequence[str], opaque: Container[str]
) -> tuple[pa.Table, dict[str, str]]:
    """Take the type that pandas made up for one that was meant, unless there is no value at all."""
    table, loose = _FROM_PANDAS(source, kept, opaque)
    empty = {name for name in kept if table[name].null_count == len(table)}
    return table, {name: kind for name, kind in loose.items() if kind == "object" or name in empty}


def _strictly_spelled(item: Any) -> str | None:
    return item.decode() if isinstance(item, bytes) else _SPELLED(item)


def _carelessly_spelled(item: Any) -> str | None:
    """Write objects as if each of them could be written."""
    number = isinstance(item, Integral | float | Decimal) and not isinstance(item, bool)
    if number and math.isfinite(item) and item == int(item):
        return str(int(item))
    return item if isinstance(item, str) else _SPELLED(item) if isinstance(item, bytes) else str(item)


def _over_several_lines(
    engine: DuckDB,
    paths: Sequence[str],
    names: Sequence[str],
    delimiter: str,
    *,
    line_breaks: bool,
    folders: Sequence[str] = (),
) -> ir.Table:
    return _OPEN_TEXT(engine, paths, names, delimiter, line_breaks=True, folders=folders)


_SPELLED, _FROM_PANDAS, _OPEN_TEXT = frames._spelled, frames._from_pandas, DuckDB.open_text

OPENING_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "type guessed from all values", "opening", lambda: replaced(frames, "_from_pandas", _guessed)
    ),
    SystemFault(
        "a made-up type taken for one that is meant",
        "opening",
        lambda: replaced(frames, "_from_pandas", _typed_by_values),
    ),
    SystemFault(
        "bytes that are no text refused", "opening", lambda: replaced(frames, "_spelled", _strictly_spelled)
    ),
    SystemFault(
        "objects that cannot be written", "opening", lambda: replaced(frames, "_spelled", _carelessly_spelled)
    ),
    SystemFault(
        "times read as they stand", "opening", lambda: replaced(frames, "_readable", lambda column: column)
    ),
    SystemFault(
        "a quote that opens over several lines",
        "opening",
        lambda: replaced(DuckDB, "open_text", _over_several_lines),
    ),
)
