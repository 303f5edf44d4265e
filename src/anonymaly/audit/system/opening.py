# SPDX-License-Identifier: Apache-2.0
"""Does one value decide whether a table can be opened or a question answered?

Opening is free, so whatever it depends on is told to everybody, without noise. Here each table is opened with
and without odd values, under every kind of declaration, and asked about it. The two must end alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import StageFailure
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.engine import frames
from anonymaly.errors import AnonymalyError
from anonymaly.noise import Noise
from anonymaly.questions.count.query import Count

Build = Callable[[Sequence[Any]], Any]

DOMAINS: Mapping[str, Domain] = {
    "an interval": Interval(0, 120),
    "categories": Categories(["a", "b"]),
    "numbered categories": Categories([1, 2]),
    "a flag": Flag(),
    "timestamps": Timestamps("2020-01-01", "2021-01-01"),
    "opaque": Opaque(),
}
ODD_OBJECTS: Sequence[Any] = (
    10**300, -0.0, 5e-324, 1e308, float("inf"), float("nan"), np.float32("nan"), True, np.bool_(True), 1j,
    Fraction(1, 3), Decimal("1e400"), Decimal("NaN"), Decimal("-Infinity"), b"\xff", "a\0b", "", "\u202e",
    "9" * 400, [1, 2], {"a": 1}, np.array([1, 2]), np.datetime64("9999-12-31"), object(),
)  # fmt: skip
ODD_NUMBERS: Sequence[Any] = (-0.0, 5e-324, 1.7e308, float("inf"), float("-inf"), float("nan"), None)
ODD_SECONDS: Sequence[Any] = (0, -(2**60), 2**60, -62135596801, 253402300800, None)
ODD_TEXTS: Sequence[Any] = ("", "a\0b", "9" * 400, "1e999", "nan", "0x1", "\u202e", "2020-13-45", None)


def _objects(values: Sequence[Any]) -> Any:
    import pandas  # noqa: PLC0415  (not every user of the audit has it)

    return pandas.DataFrame({"x": pandas.Series(list(values), dtype=object)})


def _typed(kind: pa.DataType) -> Build:
    return lambda values: pa.table({"x": pa.array(list(values), kind)})


def _seconds(values: Sequence[Any]) -> Any:
    return pa.table({"x": pa.array(list(values), pa.int64()).cast(pa.timestamp("s"))})


# What holds the values, those of an ordinary table, and those of which one is added.
SOURCES: Mapping[str, tuple[Build, Sequence[Any], Sequence[Any]]] = {
    "objects of pandas": (_objects, (1, None), ODD_OBJECTS),
    "numbers of Arrow": (_typed(pa.float64()), (1.0, 2.5), ODD_NUMBERS),
    "times of Arrow": (_seconds, (1_600_000_000,), ODD_SECONDS),
    "texts of Arrow": (_typed(pa.string()), ("a", "b"), ODD_TEXTS),
}


def opening_problems() -> Problems:
    """Yield every value that decides whether a table opens or a question is answered.

    Examples
    --------
    >>> fault = OPENING_FAULTS[0]
    >>> fault.name, fault.is_rejected(opening_problems)
    ('type guessed from all values', True)
    """
    for source, (build, ordinary, odd) in SOURCES.items():
        outcomes = {kind: _outcome(build(ordinary), domain) for kind, domain in DOMAINS.items()}
        # All together under every declaration, and each alone under one: opening a table takes a while.
        added = {"all odd values": (odd, tuple(DOMAINS))}
        for place, value in enumerate(odd):
            added[f"odd value {place + 1}"] = ((value,), (tuple(DOMAINS)[place % len(DOMAINS)],))
        for name, (values, kinds) in added.items():
            for kind in kinds:
                found = _outcome(build([*ordinary, *values]), DOMAINS[kind])
                if found != outcomes[kind]:
                    yield f"{source}, {kind}, {name}: {found} instead of {outcomes[kind]}"


def _outcome(table: Any, domain: Domain) -> str:
    """Say how opening a table and counting in it end; how much is counted is noise, and no part of it."""
    try:
        dataset = Dataset(table, name="opened", columns={"x": domain})
        bound = Count(where="x is null", epsilon=1).bind(dataset.with_adjacency("add_remove"))
        bound.answer(dataset.ready(bound.policy), Noise.seeded(0))
    except (AnonymalyError, StageFailure) as problem:
        return f"{type(problem).__name__}: {problem}"
    return "an answer"


def _guessed(source: Any, kept: Sequence[str]) -> tuple[pa.Table, dict[str, str]]:
    return pa.Table.from_pandas(source[list(kept)], preserve_index=False), {}


def _strictly_spelled(item: Any) -> str | None:
    return item.decode() if isinstance(item, bytes) else _SPELLED(item)


_SPELLED = frames._spelled

OPENING_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "type guessed from all values", "opening", lambda: replaced(frames, "_from_pandas", _guessed)
    ),
    SystemFault(
        "bytes that are no text refused", "opening", lambda: replaced(frames, "_spelled", _strictly_spelled)
    ),
    SystemFault(
        "times read as they stand", "opening", lambda: replaced(frames, "_readable", lambda column: column)
    ),
)
