# SPDX-License-Identifier: Apache-2.0
"""An answer of any kind, taken apart into named numbers and texts, with a digest of all that it holds."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import math
import numbers
import re
import reprlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.audit.boxes import columns_of, parts_of

DEEPEST = 20  # boxes in boxes; what lies deeper, or within itself, is not looked at
LONGEST = 60  # characters of an answer that are shown
MOST_VALUES = 100_000  # of an answer that are looked at one by one; the digest holds all of them
MOST_TEXTS = 64
MOST_CHARACTERS = 10_000  # of a text in which numbers are looked for
EXACT = 2**53  # above it doubles leave whole numbers out
LOW_DIGITS = 2**26
OPAQUE = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)
NUMBER_IN_TEXT = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
Values = npt.NDArray[np.float64]


@dataclass
class Leaves:
    """The parts of one answer.

    ``values`` are its numbers by where they stand, ``lengths`` the sizes of its boxes and texts, ``texts``
    everything else; ``opaque`` names what could not be looked into.

    Examples
    --------
    >>> found = leaves_of({"n": [1.5, 2], "who": "x7"})
    >>> {name: numbers.tolist() for name, numbers in found.values.items()}
    {"answer['n']": [1.5, 2.0], "numbers in answer['who']": [7.0]}
    >>> found.texts, found.lengths["answer['n']"]
    ({"answer['who']": 'x7'}, 2)
    """

    label: str = ""
    values: dict[str, Values] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    opaque: list[str] = field(default_factory=list)
    failed: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it but what could not be looked into."""
        return bool(self.opaque) and not (self.values or self.texts or self.failed)


def leaves_of(answer: Any) -> Leaves:
    """Take an answer apart; equal content has equal labels, wherever it lies in memory."""
    taking = _Taking()
    if isinstance(answer, np.generic) and answer.dtype.kind not in "mMV":
        answer = answer.item()
    try:
        taking.take("answer", answer, 0)
    except Exception as problem:
        taking.opaque("answer", f"a {type(answer).__name__} that cannot be read ({type(problem).__name__})")
    found = taking.found
    found.label = taking.label(answer)
    return found


class _Taking:
    """One answer being taken apart."""

    def __init__(self) -> None:
        self.found = Leaves()
        self.digest = hashlib.sha256()
        self.held = 0

    def label(self, answer: Any) -> str:
        """Return a text that is the same for equal answers, and ends in a digest unless it shows them."""
        if isinstance(answer, bool | int | float | complex | str | bytes | Decimal | None):
            text = repr(answer) if not isinstance(answer, int) or abs(answer) < 10**LONGEST else ""
            if 0 < len(text) <= LONGEST:
                return text
        digest = self.digest.hexdigest()[:16]
        if isinstance(answer, np.ndarray) and answer.size <= MOST_TEXTS:
            return f"{reprlib.repr(answer.tolist())} ({answer.dtype}, shape {answer.shape}, {digest})"
        if isinstance(answer, list | tuple) and len(answer) == len(self.found.values.get("answer", ())):
            return f"{reprlib.repr(answer)} ({digest})"
        return f"a {type(answer).__name__} ({digest})"

    def take(self, name: str, item: Any, depth: int) -> None:
        """Take one box or value; what it is made of is in the digest, and never where it lies in memory."""
        if isinstance(item, np.generic):
            item = np.asarray(item) if item.dtype.kind in "mMV" else item.item()
        if isinstance(item, bool) or item is None:
            self.text(name, str(item))
        elif isinstance(item, numbers.Number):
            self.number(name, item)
        elif isinstance(item, str):
            self.string(name, item)
        elif isinstance(item, bytes | bytearray | memoryview):
            self.block(name, np.frombuffer(bytes(item), np.uint8))
        elif isinstance(item, datetime.timedelta):
            self.number(name, item.total_seconds())
        elif isinstance(item, datetime.date | datetime.time):
            self.string(name, item.isoformat())
        elif isinstance(item, OPAQUE) or depth > DEEPEST:
            self.opaque(name, f"a {type(item).__name__}")
        else:
            self.box(name, item, depth)

    def box(self, name: str, item: Any, depth: int) -> None:
        """Take a box of other things."""
        self.add("box", type(item).__name__)
        columns = columns_of(item)
        if columns is not None:
            self.inside(name, columns, depth, shown=".{}")
        elif isinstance(item, np.ndarray) or hasattr(item, "__array__"):
            self.array(name, np.ma.asarray(item) if isinstance(item, np.ma.MaskedArray) else item, depth)
        elif isinstance(item, Mapping):
            # In an order that does not depend on how it was filled; keys by their content alone.
            pairs = [(_key(key), value) for key, value in item.items()]
            self.order(name, [key for key, _ in pairs])
            self.inside(name, sorted(pairs, key=lambda pair: pair[0]), depth, shown="[{}]")
        elif isinstance(item, Set):
            self.inside(name, list(enumerate(sorted(item, key=_key))), depth, shown="{{{}}}")
        elif isinstance(item, Sequence):
            self.row(name, item, depth)
        elif dataclasses.is_dataclass(item):
            fields = [(part.name, getattr(item, part.name)) for part in dataclasses.fields(item)]
            self.inside(name, fields, depth, shown=".{}")
        else:
            parts = parts_of(item)
            if parts:
                self.inside(name, parts, depth, shown=".{}")
            else:
                self.opaque(name, f"a {type(item).__name__}")

    def inside(self, name: str, pairs: list[tuple[Any, Any]], depth: int, *, shown: str) -> None:
        """Take what is in a box by its names."""
        self.length(name, len(pairs))
        for key, value in pairs:
            self.add("key", str(key))
            self.take(name + shown.format(key), value, depth + 1)

    def row(self, name: str, item: Sequence[Any], depth: int) -> None:
        """Take a list: of numbers as one block, otherwise one by one."""
        plain = all(isinstance(value, float | int) and not isinstance(value, bool) for value in item)
        if plain and all(not isinstance(value, int) or abs(value) < EXACT for value in item):
            self.add("kinds", "".join("i" if isinstance(value, int) else "f" for value in item))
            self.block(name, np.array(item, np.float64))
        else:
            self.inside(name, list(enumerate(item)), depth, shown="[{}]")

    def array(self, name: str, item: Any, depth: int) -> None:
        """Take an array by its kind."""
        if isinstance(item, np.ma.MaskedArray):
            self.block(f"mask of {name}", np.ma.getmaskarray(item).ravel())
            item = np.ma.filled(item)
        values = np.asarray(item)
        self.add("shape", f"{values.dtype} {values.shape}")
        if values.dtype.names:
            parts = [(part, values[part]) for part in values.dtype.names]
            self.inside(name, parts, depth, shown="[{}]")
        elif values.dtype.kind in "mM":
            self.block(name, values.astype(np.int64).ravel())
        elif values.dtype.kind == "c":
            self.block(f"real part of {name}", values.real.ravel())
            self.block(f"imaginary part of {name}", values.imag.ravel())
        elif values.dtype.kind in "iufb":
            self.block(name, values.ravel())
        else:
            self.inside(name, list(enumerate(values.ravel().tolist())), depth, shown="[{}]")

    def block(self, name: str, values: npt.NDArray[Any]) -> None:
        """Take numbers that stand in a row."""
        # A copy in one piece: what the digest reads must not depend on how an array lies in memory.
        values = np.ascontiguousarray(values)
        self.add("block", f"{name} {values.dtype}")
        self.digest.update(values.tobytes())
        self.length(name, len(values))
        self.hold(name, values)
        if values.dtype.kind in "iu" and values.size and values.dtype.itemsize > 4:
            self.hold(f"low digits of {name}", values % LOW_DIGITS if _is_large(values) else values[:0])

    def number(self, name: str, item: Any) -> None:
        """Take one number."""
        self.add("number", f"{name} {type(item).__name__} {_digits(item)}")
        if isinstance(item, numbers.Complex) and not isinstance(item, numbers.Real):
            value = complex(item)
            self.hold(f"real part of {name}", np.array([value.real]))
            self.hold(f"imaginary part of {name}", np.array([value.imag]))
            return
        try:
            self.hold(name, np.array([float(item)]))
        except (OverflowError, ValueError):  # too large for a double, or a signalling NaN
            self.hold(name, np.array([math.nan]))
        if isinstance(item, int) and abs(item) >= EXACT:
            self.hold(f"low digits of {name}", np.array([float(item % LOW_DIGITS)]))

    def string(self, name: str, item: str) -> None:
        """Take a text, its length, and the numbers in it."""
        self.length(name, len(item))
        self.text(name, item)
        within = NUMBER_IN_TEXT.findall(item[:MOST_CHARACTERS])
        if within:
            self.hold(f"numbers in {name}", np.array([float(text) for text in within]))

    def text(self, name: str, item: str) -> None:
        """Take a text as one of several outcomes."""
        self.add("text", f"{name} {item}")
        if len(self.found.texts) < MOST_TEXTS:
            shown = item if len(item) <= LONGEST else f"{item[:LONGEST]}… ({_hash(item)})"
            self.found.texts[name] = shown

    def order(self, name: str, keys: list[str]) -> None:
        """Note in which order a box was filled; boxes that differ in it alone are equal all the same."""
        if len(self.found.texts) < MOST_TEXTS and keys != sorted(keys):
            self.found.texts[f"order of {name}"] = _hash("\n".join(keys))

    def opaque(self, name: str, what: str) -> None:
        """Note that there is something that cannot be looked into."""
        self.add("opaque", what)
        self.found.opaque.append(f"{name}, {what}")

    def length(self, name: str, length: int) -> None:
        """Note how much is in a box."""
        self.add("length", f"{name} {length}")
        self.found.lengths[name] = length

    def hold(self, name: str, values: npt.NDArray[Any]) -> None:
        """Keep numbers to look at, as many as there is room for."""
        kept = values[: MOST_VALUES - self.held].astype(np.float64)
        self.held += len(kept)
        while name in self.found.values:  # two columns of one name
            name += "'"
        if len(kept):
            self.found.values[name] = kept

    def add(self, kind: str, text: str) -> None:
        """Add a text to the digest, so that no two lists of texts make the same bytes."""
        written = text.encode(errors="surrogatepass")
        self.digest.update(f"{kind} {len(written)} ".encode())
        self.digest.update(written)


def _key(item: Any) -> str:
    """Return a text by which names and members are ordered."""
    if isinstance(item, str | bytes | int | float | bool | None):
        return repr(item) if not isinstance(item, int) else _digits(item)
    return leaves_of(item).label


def _digits(item: Any) -> str:
    if isinstance(item, Fraction):
        return f"{_digits(item.numerator)}/{_digits(item.denominator)}"
    # In another base, because Python refuses to write very large numbers in ours.
    return hex(item) if isinstance(item, int) and abs(item) >= 10**LONGEST else str(item)


def _is_large(values: npt.NDArray[Any]) -> bool:
    return bool(values.max() >= EXACT or values.min() <= -EXACT)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
