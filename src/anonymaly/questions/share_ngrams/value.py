# SPDX-License-Identifier: Apache-2.0
"""The answer of ``share-ngrams``: published sequences with their counts, as a table, kept as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymaly.ask.encoding import decode_json, encode_json
from anonymaly.ask.table import Table
from anonymaly.core.suggestions import guess, listed
from anonymaly.declare.attributes import Attribute, Label
from anonymaly.errors import InputError
from anonymaly.questions.share_ngrams.sequences import Sequences, lengths

SHOWN = 20  # sequences that are written out in words
BAR = 30  # characters of the longest bar
STEP = " → "

Place = Label | tuple[Label, ...]  # of one column, or of several


class ReleasedNgrams(Table):
    """Sequences of places with noisy counts of persons, the largest first; all others are below a threshold.

    Examples
    --------
    >>> ward = Attribute("ward", ("A", "B"))
    >>> ngrams = ReleasedNgrams([ward], 2, 3, cells=[0, 3], counts=[9, 4])
    >>> print(ngrams)
    length  sequence  count
         1  A             9  ██████████████████████████████
         2  A → B         4  █████████████
    >>> ngrams.count("A", "B"), ngrams.count("B"), ngrams.top(1)
    (4, None, [(('A',), 9)])
    """

    def __init__(
        self,
        place: Sequence[Attribute],
        length: int,
        threshold: int,
        cells: Sequence[int] | npt.NDArray[Any],
        counts: Sequence[int] | npt.NDArray[Any],
        *,
        shortest: int = 1,
    ) -> None:
        self.place, self.length, self.threshold = tuple(place), length, threshold
        self.sequences = Sequences(math.prod(len(item.values) for item in self.place), length, shortest)
        given = np.asarray(cells, np.int64), np.asarray(counts, np.int64)
        order = np.lexsort((given[0], -given[1]))
        self.cells, self.counts = given[0][order], given[1][order]
        codes = [self.sequences.codes(cell) for cell in self.cells.tolist()]
        table = pa.table(
            {
                "length": pa.array([len(item) for item in codes], pa.int64()),
                "sequence": pa.array([STEP.join(map(self._text, item)) for item in codes], pa.string()),
                "count": self.counts,
            }
        )
        super().__init__(Table.of(table.schema, [table])._source)

    def top(self, number: int = 10, *, length: int | None = None) -> list[tuple[tuple[Place, ...], int]]:
        """Return the sequences with the largest counts, of one length if it is given."""
        found: list[tuple[tuple[Place, ...], int]] = []
        for cell, count in zip(self.cells.tolist(), self.counts.tolist(), strict=True):
            codes = self.sequences.codes(cell)
            if len(found) < number and length in (None, len(codes)):
                found.append((tuple(self._label(code) for code in codes), count))
        return found

    def count(self, *places: Place) -> int | None:
        """Return the count of one sequence, or None if it is below the threshold."""
        if not self.sequences.shortest <= len(places) <= self.length:
            raise InputError(
                f"has {len(places)} places",
                field="places",
                next_step=f"Give {lengths(self.sequences.shortest, self.length)} places in their order.",
            )
        return self._by_cell.get(self.sequences.cell([self._code(place) for place in places]))

    def to_dict(self) -> dict[str, Any]:
        """Return the sequences as plain data; ``of_dict`` reads it back."""
        return {
            "place": [item.to_dict() for item in self.place],
            "length": self.length,
            "shortest": self.sequences.shortest,
            "threshold": self.threshold,
            "sequences": [
                [self._label(code) for code in self.sequences.codes(cell)] for cell in self.cells.tolist()
            ],
            "counts": self.counts.tolist(),
        }

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> ReleasedNgrams:
        """Read sequences from plain data."""
        place = [*map(Attribute.of_dict, data["place"])]
        numbered = [{label: code for code, label in enumerate(item.values)} for item in place]
        places = math.prod(len(item.values) for item in place)
        sequences = Sequences(places, data["length"], data["shortest"])

        def code_of(found: Any) -> int:
            labels = found if len(place) > 1 else [found]
            code = 0
            for codes, label in zip(numbered, labels, strict=True):
                code = code * len(codes) + codes[label]
            return code

        cells = [sequences.cell([code_of(found) for found in item]) for item in data["sequences"]]
        return cls(place, data["length"], data["threshold"], cells, data["counts"], shortest=data["shortest"])

    @cached_property
    def _by_cell(self) -> dict[int, int]:
        return dict(zip(self.cells.tolist(), self.counts.tolist(), strict=True))

    def _label(self, code: int) -> Place:
        labels: list[Label] = []
        for item in reversed(self.place):
            code, value = divmod(code, len(item.values))
            labels.append(item.values[value])
        return labels[0] if len(labels) == 1 else tuple(reversed(labels))

    def _text(self, code: int) -> str:
        label = self._label(code)
        return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)

    def _code(self, place: Place) -> int:
        labels = place if isinstance(place, tuple) else (place,)
        if len(labels) != len(self.place):
            names = ", ".join(item.column for item in self.place)
            raise InputError(
                "is not one place", field="places", next_step=f"Give a value of each of {names}."
            )
        code = 0
        for item, label in zip(self.place, labels, strict=True):
            if label not in item.values:
                text = str(label)
                raise InputError(
                    f"{label!r} is not a value of {item.column}",
                    field="places",
                    next_step=f"{guess(text, item.values)}Values: {listed(item.values, text)}.",
                )
            code = code * len(item.values) + item.values.index(label)
        return code

    def __repr__(self) -> str:
        places = lengths(self.sequences.shortest, self.length)
        return f"ReleasedNgrams({len(self):,} sequences of {places} places)"

    def __str__(self) -> str:
        if not len(self.cells):
            return f"no sequence reaches the threshold of {self.threshold:,}"
        shown = self.to_arrow().slice(0, SHOWN).to_pylist()
        lines = [("length", "sequence", "count", "")]
        for row in shown:
            bar = "█" * max(1, BAR * row["count"] // int(self.counts[0]))
            lines.append((str(row["length"]), row["sequence"], str(row["count"]), bar))
        wide = [max(len(line[column]) for line in lines) for column in range(3)]
        written = [
            f"{a.rjust(wide[0])}  {b.ljust(wide[1])}  {c.rjust(wide[2])}  {d}".rstrip()
            for a, b, c, d in lines
        ]
        more = [f"… {len(self):,} sequences"] if len(self) > SHOWN else []
        return "\n".join([*written, *more])


def show(value: ReleasedNgrams, asks: str) -> str:
    """Write the sequences with the largest counts."""
    return f"{asks}; those of {value.threshold:,} and more\n{value}"


def encode(value: ReleasedNgrams, file: BinaryIO) -> None:
    """Write the sequences as JSON."""
    encode_json(value.to_dict(), file)


def decode(file: BinaryIO) -> ReleasedNgrams:
    """Read the sequences back."""
    return ReleasedNgrams.of_dict(decode_json(file))
