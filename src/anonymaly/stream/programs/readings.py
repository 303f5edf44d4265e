# SPDX-License-Identifier: Apache-2.0
"""Readings as lines of text: CSV, or InfluxDB's line protocol."""

from __future__ import annotations

import csv
import logging
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from anonymaly.errors import InputError

logger = logging.getLogger("anonymaly.stream")
MOST_COMPLAINTS = 10  # lines that are logged one by one
TIMES = ("time", "timestamp")  # what a CSV column with the time of a reading may be called

Form = Literal["csv", "line"]
# `measurement[,tag=value…] field=value[,field=value…] [timestamp]`; escaped or quoted, spaces are parts.
_WORD = r"(?:\\.|[^\s\\])+"
_LINE = re.compile(rf'({_WORD})\s+((?:"(?:\\.|[^"\\])*"|\\.|[^\s"\\])+)(?:\s+(-?\d+))?\s*')
_FIELD = re.compile(r'((?:\\.|[^,=\\"])+)=("(?:\\.|[^"\\])*"|[^,"]*)(?:,|$)')


@dataclass(frozen=True)
class SensorReading:
    """One reading, the line that it came from, and its time as it was given, if it was."""

    values: tuple[float, ...]
    line: int
    time: str | None = None


Batch = list[SensorReading]


class LineParser(ABC):
    """Turns lines into readings; a line that is none is counted and logged, never with what it says."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = list(columns)
        self.skipped = 0

    def parse(self, text: str, line: int = 1) -> SensorReading | None:
        """Return a line's reading, if it is one."""
        if not text.strip():
            return None
        found = self._read(text)
        if found is None:
            return None
        values, time = found
        if values is None or not all(map(math.isfinite, values)):
            self.skipped += 1
            if self.skipped <= MOST_COMPLAINTS:  # never what it says: it may be a reading after all
                logger.warning("line %d is no reading of %d numbers; skipped", line, len(self.columns))
            return None
        return SensorReading(values, line, time)

    @abstractmethod
    def _read(self, text: str) -> tuple[tuple[float, ...] | None, str | None] | None:
        """Return a line's numbers, or None in their place, and its time; nothing for a line of names."""


class CsvLines(LineParser):
    """CSV: the first line may name columns, in any order and more than are declared."""

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__(columns)
        self._places: list[int] | None = None
        self._time: int | None = None

    def _read(self, text: str) -> tuple[tuple[float, ...] | None, str | None] | None:
        try:
            row = next(csv.reader([text]), [])
        except csv.Error:
            raise InputError(
                "is not CSV",
                field="input",
                next_step="Give one reading in each line: numbers, divided by commas.",
            ) from None
        if self._places is None:
            self._places = list(range(len(self.columns)))
            if _numbers(row, self._places) is None:
                names = [name.strip() for name in row]
                self._places = _places(names, self.columns)
                times = [place for place, name in enumerate(names) if name.lower() in TIMES]
                self._time = times[0] if times and names[times[0]] not in self.columns else None
                return None
        given = self._time is not None and self._time < len(row)
        return _numbers(row, self._places), row[
            self._time
        ].strip() if given and self._time is not None else None


class InfluxLines(LineParser):
    """InfluxDB's line protocol: declared columns are fields; measurement and tags are not looked at.

    Examples
    --------
    >>> InfluxLines(["celsius"]).parse("climate,room=413 celsius=20.5,humidity=41i 1700000000000000000")
    SensorReading(values=(20.5,), line=1, time='1700000000000000000')
    """

    def _read(self, text: str) -> tuple[tuple[float, ...] | None, str | None] | None:
        if text.lstrip().startswith("#"):
            return None
        found = _LINE.fullmatch(text.strip())
        if found is None:
            return None, None
        fields = {name.replace("\\", ""): value for name, value in _FIELD.findall(found[2])}
        values = [_number(fields.get(name, "")) for name in self.columns]
        return (None if None in values else tuple(value for value in values if value is not None)), found[3]


def parser_for(first: str, columns: Sequence[str], form: Form | None = None) -> LineParser:
    """Return the parser of an input, by its first line if its form is not given.

    Examples
    --------
    >>> type(parser_for("climate celsius=20.5", ["celsius"])).__name__
    'InfluxLines'
    >>> type(parser_for("time,celsius", ["celsius"])).__name__
    'CsvLines'
    """
    if form is None:
        found = _LINE.fullmatch(first.strip())
        form = "line" if found is not None and _FIELD.match(found[2]) else "csv"
    return InfluxLines(columns) if form == "line" else CsvLines(columns)


def read_lines(
    lines: Iterable[str], columns: Sequence[str], form: Form | None = None
) -> Iterator[SensorReading]:
    """Return the readings of lines.

    Examples
    --------
    >>> rows = ["time,celsius", "8:00,20.5", "8:01,", "8:02,21"]
    >>> [(reading.values, reading.time) for reading in read_lines(rows, ["celsius"])]
    [((20.5,), '8:00'), ((21.0,), '8:02')]
    >>> [reading.values for reading in read_lines(["20.5", "21"], ["celsius"])]
    [(20.5,), (21.0,)]
    """
    parser: LineParser | None = None
    for number, text in enumerate(lines, 1):
        if parser is None and text.strip():
            parser = parser_for(text, columns, form)
        reading = None if parser is None else parser.parse(text, number)
        if reading is not None:
            yield reading


def _places(names: list[str], columns: Sequence[str]) -> list[int]:
    for name in columns:
        if names.count(name) != 1:
            raise InputError(
                f"the first line names the column {name!r} {names.count(name)} times",
                field="input",
                next_step=f"Name {', '.join(columns)} once each, or leave the line out.",
            )
    return [names.index(name) for name in columns]


def _numbers(row: list[str], places: list[int]) -> tuple[float, ...] | None:
    try:
        return tuple(float(row[place]) for place in places)
    except (ValueError, IndexError):
        return None


def _number(text: str) -> float | None:
    """Read a field of the line protocol: a float, or an integer that ends with i or u."""
    try:
        return float(int(text[:-1]) if text[-1:] in ("i", "u") else text)
    except (ValueError, OverflowError):
        return None
