# SPDX-License-Identifier: Apache-2.0
"""The answer of ``share-histogram``: an estimate for every cell, as a table and an array, kept as JSON."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymaly.ask.encoding import decode_json, encode_json
from anonymaly.ask.table import Table
from anonymaly.core.suggestions import guess, listed
from anonymaly.declare.attributes import Attribute, Label
from anonymaly.declare.domain import Bins
from anonymaly.errors import InputError

ESTIMATE = "estimate"
SHOWN = 30  # cells that are written out in words


class ReleasedHistogram(Table):
    """An estimate for every combination of the columns' values, zero cells too.

    Examples
    --------
    >>> by = [Attribute("ward", ("A", "B")), Attribute("adult", (False, True))]
    >>> histogram = ReleasedHistogram(by, [3, 9, 0, 4])
    >>> print(histogram)
    ward  adult  estimate
    A     False         3
    A     True          9
    B     False         0
    B     True          4
    >>> histogram.estimate(ward="A", adult=True), histogram.to_array().tolist()
    (9, [[3, 9], [0, 4]])
    """

    def __init__(self, by: Sequence[Attribute], estimates: Sequence[float] | npt.NDArray[Any]) -> None:
        self.by = tuple(by)
        self.estimates = np.asarray(estimates)
        super().__init__(self._written)

    @contextmanager
    def _written(self) -> Iterator[BinaryIO]:
        with self._table._open() as file:
            yield file

    @cached_property
    def _table(self) -> Table:
        # Only if somebody wants records: to write them takes longer than most methods do.
        # Combinations in order, the last column's value changing first.
        labels = zip(*itertools.product(*(attribute.values for attribute in self.by)), strict=True)
        columns = {attribute.column: list(values) for attribute, values in zip(self.by, labels, strict=True)}
        table = pa.table({**columns, _estimate_name(columns): self.estimates})
        return Table.of(table.schema, [table])

    def to_array(self) -> npt.NDArray[Any]:
        """Return the estimates with one axis for each column."""
        return self.estimates.reshape([len(attribute.values) for attribute in self.by])

    def estimate(self, **values: Label) -> int | float:
        """Return the estimate of one cell, given a value of every column."""
        if set(values) != {attribute.column for attribute in self.by}:
            names = ", ".join(attribute.column for attribute in self.by)
            raise InputError("is not one cell", field="values", next_step=f"Give a value of each of {names}.")
        place = []
        for attribute in self.by:
            value = values[attribute.column]
            if value not in attribute.values:
                text = str(value)
                raise InputError(
                    f"{value!r} is not one of its values",
                    field=attribute.column,
                    next_step=f"{guess(text, attribute.values)}Values: {listed(attribute.values, text)}.",
                )
            place.append(attribute.values.index(value))
        found: int | float = self.to_array()[tuple(place)].item()
        return found

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the cells one by one."""
        for batch in self.batches():
            yield from batch.to_pylist()

    def to_dict(self) -> dict[str, Any]:
        """Return the histogram as plain data; ``of_dict`` reads it back."""
        return {
            "by": [
                {
                    "column": item.column,
                    "values": list(item.values),
                    "bins": None if item.bins is None else item.bins.to_dict(),
                }
                for item in self.by
            ],
            "estimates": self.estimates.tolist(),
        }

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> ReleasedHistogram:
        """Read a histogram from plain data."""
        by = [
            Attribute(item["column"], tuple(item["values"]), item["bins"] and Bins.read(item["bins"]))
            for item in data["by"]
        ]
        return cls(by, data["estimates"])

    def __repr__(self) -> str:
        return f"ReleasedHistogram({len(self):,} cells, by={[attribute.column for attribute in self.by]})"

    def __str__(self) -> str:
        cells = [[str(item) for item in row.values()] for row in itertools.islice(self.rows(), SHOWN)]
        lines = [self.columns, *cells]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        written = [
            "  ".join([*map(str.ljust, line[:-1], widths), line[-1].rjust(widths[-1])]) for line in lines
        ]
        return "\n".join([*written, *([f"… {len(self):,} cells"] if len(self) > SHOWN else [])])


def show(value: ReleasedHistogram, asks: str) -> str:
    """Write the cells."""
    return f"{asks}\n{value}"


def encode(value: ReleasedHistogram, file: BinaryIO) -> None:
    """Write the histogram as JSON."""
    encode_json(value.to_dict(), file)


def decode(file: BinaryIO) -> ReleasedHistogram:
    """Read the histogram back."""
    return ReleasedHistogram.of_dict(decode_json(file))


def _estimate_name(taken: Collection[str]) -> str:
    """Return a name that no column has."""
    name = ESTIMATE
    while name in taken:
        name += "_of_records"
    return name
