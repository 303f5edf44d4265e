# SPDX-License-Identifier: Apache-2.0
"""Readings as lines of text: from a CSV file, or from standard input as they are measured."""

from __future__ import annotations

import csv
import itertools
import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from anonymaly.errors import InputError
from anonymaly.stream.protocol.sensor import Sensor

Batch = list[tuple[float, ...]]
logger = logging.getLogger("anonymaly.stream")
MOST_COMPLAINTS = 10  # lines that are logged one by one


def read_lines(lines: Iterable[str], columns: Sequence[str]) -> Iterator[tuple[float, ...]]:
    """Return the declared columns of each line; a line that is no reading is skipped and logged.

    The first line may name columns, in any order and more than are declared; otherwise each line has
    the declared columns in their order.

    Examples
    --------
    >>> list(read_lines(["time,celsius", "8:00,20.5", "8:01,", "8:02,21"], ["celsius"]))
    [(20.5,), (21.0,)]
    >>> list(read_lines(["20.5", "21"], ["celsius"]))
    [(20.5,), (21.0,)]
    """
    rows = csv.reader(lines)
    try:
        first = next(rows, None)
        while first == []:
            first = next(rows, None)
        if first is None:
            return
        places = list(range(len(columns)))
        named = _reading(first, places) is None
        if named:
            places = _places([name.strip() for name in first], columns)
        yield from _readings(rows if named else itertools.chain([first], rows), 1 + named, places)
    except csv.Error:
        raise InputError(
            "is not CSV",
            field="input",
            next_step="Give one reading in each line: numbers, divided by commas.",
        ) from None


def _readings(rows: Iterable[list[str]], number: int, places: list[int]) -> Iterator[tuple[float, ...]]:
    skipped = 0
    for line, row in enumerate(rows, number):
        reading = _reading(row, places)
        if reading is not None:
            yield reading
        elif row:
            skipped += 1
            if skipped <= MOST_COMPLAINTS:  # never what it says: it may be a reading after all
                logger.warning("line %d is no reading of %d numbers; skipped", line, len(places))


def _places(names: list[str], columns: Sequence[str]) -> list[int]:
    for name in columns:
        if names.count(name) != 1:
            raise InputError(
                f"the first line names the column {name!r} {names.count(name)} times",
                field="input",
                next_step=f"Name {', '.join(columns)} once each, or leave the line out.",
            )
    return [names.index(name) for name in columns]


def _reading(row: list[str], places: list[int]) -> tuple[float, ...] | None:
    try:
        reading = tuple(float(row[place]) for place in places)
    except (ValueError, IndexError):
        return None
    return reading if all(map(math.isfinite, reading)) else None


def read_file(path: str | Path, sensor: Sensor, size: int | None = None) -> Iterator[Batch]:
    """Return a file's readings in batches, a window's if no size is given, behind those sent before."""
    declaration = sensor.declaration
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            readings = read_lines(file, declaration.names)
            yield from in_batches(readings, size or declaration.window, sensor.accepted)
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"cannot read {path} ({type(problem).__name__})",
            field="input",
            next_step="Give a CSV file in UTF-8 that you may read.",
        ) from None


def in_batches(readings: Iterable[tuple[float, ...]], size: int, skip: int = 0) -> Iterator[Batch]:
    """Return readings in batches, without the first few, which were sent before.

    Examples
    --------
    >>> list(in_batches([(1.0,), (2.0,), (3.0,), (4.0,)], 2, skip=1))
    [[(2.0,), (3.0,)], [(4.0,)]]
    """
    rest = itertools.islice(readings, skip, None)
    while batch := list(itertools.islice(rest, size)):
        yield batch
