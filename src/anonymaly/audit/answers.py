# SPDX-License-Identifier: Apache-2.0
"""Answers of any kind, read as statistics: which answer it was, its number, its parts, its length, its shape.

Whatever is read from an answer loses no more than the answer does, so that no way of reading it makes a
bound too high; it can only hide a loss.
"""

from __future__ import annotations

import hashlib
import math
import numbers
import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.audit.statistics import MOST_OUTCOMES, Statistic, lowest_bit, statistics_of

MOST_PARTS = 64  # of an array that are looked at one by one
LONGEST = 60  # characters of an answer that are shown
LARGEST = 2**62
NO_NUMBER = "(or is no number)"


@dataclass(frozen=True)
class Read:
    """One answer, as far as events can be made of it.

    Examples
    --------
    >>> read(3)
    Read(label='3', number=3, parts=None, length=None, failed=False)
    >>> read(float("nan")).number is None, read([1.5, 2]).parts, read("abc").length
    (True, (1.5, 2.0), 3)
    """

    label: str
    number: float | None = None
    parts: tuple[float, ...] | None = None
    length: int | None = None
    failed: bool = False


def drawn(mechanism: Callable[[Any], Any], data: Any) -> Read:
    """Return one answer; that it raises an error is an answer, too, and the error's class is which.

    Examples
    --------
    >>> drawn(lambda data: 1 / data, 0)
    Read(label='raises ZeroDivisionError', number=None, parts=None, length=None, failed=True)
    """
    try:
        return read(mechanism(data))
    except Exception as problem:  # its words may hold a row's values, its class does not
        return Read(f"raises {type(problem).__name__}", failed=True)


def read(answer: Any) -> Read:
    """Read an answer of any kind."""
    if isinstance(answer, np.generic):
        answer = answer.item()
    if isinstance(answer, bool):
        return Read(str(answer))
    if isinstance(answer, numbers.Real):
        return Read(_label(answer), _number(answer))
    if isinstance(answer, np.ndarray) or _is_row(answer):
        return _read_row(np.asarray(answer), answer)
    return Read(_label(answer), length=len(answer) if isinstance(answer, Sized) else None)


def statistics_of_answers(first: Sequence[Read], second: Sequence[Read]) -> Iterator[Statistic]:
    """Yield every statistic of equally many answers on two tables."""
    both = [*first, *second]
    cut = len(first)

    def column(name: str, values: Iterable[Any], kind: Any = None) -> Statistic:
        array = np.array(list(values), kind)
        return name, array[:cut], array[cut:]

    numbered = all(item.number is not None for item in both)
    if not numbered or len({item.label for item in both}) <= MOST_OUTCOMES:
        yield column("answer", (item.label for item in both), object if _are_long(both) else None)
    if numbered or any(item.number is not None for item in both):
        yield from _of_numbers(both, cut)
    shapes = {len(item.parts) for item in both if item.parts is not None}
    if len(shapes) == 1 and all(item.parts is not None for item in both):
        rows = np.array([item.parts for item in both])
        yield from statistics_of(rows[:cut], rows[cut:])
    if any(item.length is not None for item in both):
        yield column("length of answer", (-1 if item.length is None else item.length for item in both))


def _of_numbers(both: Sequence[Read], cut: int) -> Iterator[Statistic]:
    values = [item.number for item in both]
    name = "answer" if None not in values else f"answer {NO_NUMBER}"
    if all(isinstance(value, int) for value in values):
        whole = np.array(values, np.int64)
        yield name, whole[:cut], whole[cut:]
        return
    # What is no number is above all numbers, where NaN is sorted.
    floats = np.array([math.nan if value is None else value for value in values], np.float64)
    yield name, floats[:cut], floats[cut:]
    bits = lowest_bit(floats)
    yield f"lowest bit of {name}", bits[:cut], bits[cut:]


def _number(answer: numbers.Real) -> float | None:
    """Return a number that an array holds, as a whole one if it is; None for NaN and infinity."""
    if isinstance(answer, numbers.Integral) and abs(int(answer)) < LARGEST:
        return int(answer)
    try:
        value = float(answer)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _is_row(answer: Any) -> bool:
    return (
        isinstance(answer, list | tuple)
        and 0 < len(answer) <= MOST_PARTS
        and all(isinstance(item, numbers.Real | np.generic) for item in answer)
    )


def _read_row(values: npt.NDArray[Any], answer: Any) -> Read:
    if values.dtype.kind not in "iufb" or values.size > MOST_PARTS:
        parts = None
    else:
        parts = tuple(float(value) for value in values.ravel().tolist())
    if parts is None and values.dtype.kind == "O":
        return Read(_label(answer), length=values.size)
    digest = hashlib.sha256(values.tobytes()).hexdigest()[:12]
    shown = reprlib.repr(values.tolist()) if values.size <= MOST_PARTS else "array"
    return Read(f"{shown} ({values.dtype}, shape {values.shape}, {digest})", parts=parts, length=values.size)


def _label(answer: Any) -> str:
    """Return a text that is the same for equal answers; long ones end in a digest of the rest."""
    try:
        text = repr(_sorted(answer))
    except Exception as problem:
        return f"a {type(answer).__name__} that cannot be shown ({type(problem).__name__})"
    if len(text) <= LONGEST:
        return sys.intern(text)  # a million equal answers are kept once
    return f"{text[:LONGEST]}… ({hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]})"


def _sorted(answer: Any) -> Any:
    """Return sets and mappings in an order that does not depend on how they were filled."""
    if isinstance(answer, Mapping):
        return sorted((repr(name), repr(_sorted(value))) for name, value in answer.items())
    return sorted(map(repr, answer)) if isinstance(answer, Set) else answer


def _are_long(both: Sequence[Read]) -> bool:
    # An array of texts takes the room of its longest for each; a million of them would fill the memory.
    return len(both) * max(len(item.label) for item in both) > 10_000_000
