# SPDX-License-Identifier: Apache-2.0
"""The answer of ``share-histogram``: an estimate for every cell, as a table and an array, kept as JSON."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymaly.ask.encoding import decode_json, encode_json
from anonymaly.ask.synthetic import SyntheticRows
from anonymaly.ask.table import Table
from anonymaly.core.rate import noise_rate
from anonymaly.core.suggestions import guess, listed
from anonymaly.declare.attributes import Attribute, Label
from anonymaly.errors import InputError
from anonymaly.promise import Guarantee
from anonymaly.questions.share_histogram.answers import HistogramAnswers
from anonymaly.questions.share_histogram.error_bars import Release
from anonymaly.questions.share_histogram.methods import BEFORE, METHODS

if TYPE_CHECKING:
    from anonymaly.pictures.chart import Chart

ESTIMATE = "estimate"
SHOWN = 30  # cells that are written out in words


class ReleasedHistogram(HistogramAnswers, Table):
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

    def __init__(
        self,
        by: Sequence[Attribute],
        estimates: Sequence[float] | npt.NDArray[Any],
        sums: Sequence[float] | npt.NDArray[Any] | None = None,
        *,
        release: Release | None = None,
        source: ReleasedHistogram | None = None,
    ) -> None:
        self.by = tuple(by)
        self.estimates = np.asarray(estimates)
        self.sums = None if sums is None else np.asarray(sums)
        # Neither is stored: the ledger has the question and its promise, from which `recalled` derives them.
        self.release = release
        self.source = source
        super().__init__(self._written)

    def _written(self) -> AbstractContextManager[BinaryIO]:
        return self._table._open()

    @cached_property
    def _table(self) -> Table:
        # Only if somebody wants records: to write them takes longer than most methods do.
        # Combinations in order, the last column's value changing first.
        places = np.indices([len(attribute.values) for attribute in self.by]).reshape(len(self.by), -1)
        columns = {
            attribute.column: pa.array(attribute.values).take(pa.array(place))
            for attribute, place in zip(self.by, places, strict=True)
        }
        table = pa.table({**columns, _estimate_name(columns): self.estimates})
        return Table.of(table.schema, [table])

    def to_array(self) -> npt.NDArray[Any]:
        """Return the estimates with one axis for each column."""
        return self._array()

    def for_sums(self) -> npt.NDArray[Any]:
        """Return numbers to take sums of, totals or ranges, with one axis for each column.

        They come from the same noisy release as the estimates, free of charge. Estimates are nearest to
        single cells, and for that give up small counts; in a sum of many cells that adds up. These may be
        negative, and are no whole numbers. Where a method has one view only, they are the estimates.

        Examples
        --------
        >>> histogram = ReleasedHistogram([Attribute("ward", ("A", "B"))], [9, 0], [8.5, 1.5])
        >>> float(histogram.for_sums().sum())
        10.0
        """
        return self._summed()

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
            "by": [item.to_dict() for item in self.by],
            "estimates": self.estimates.tolist(),
            **({} if self.sums is None else {"sums": self.sums.tolist()}),
        }

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> ReleasedHistogram:
        """Read a histogram from plain data."""
        return cls([*map(Attribute.of_dict, data["by"])], data["estimates"], data.get("sums"))

    def pictures(self) -> list[Chart]:
        """Return the cells as bars, with their intervals where they are proved."""
        from anonymaly.questions.share_histogram.picture import charts  # noqa: PLC0415  (it draws this)

        return list(charts(self))

    def _repr_html_(self) -> str:
        from anonymaly.questions.share_histogram.picture import to_html  # noqa: PLC0415  (it draws this)

        return to_html(self)

    def chart(self) -> str:
        """Return the cells as bars of text; in a notebook the histogram draws itself."""
        from anonymaly.questions.share_histogram.picture import in_terminal  # noqa: PLC0415  (it draws this)

        return in_terminal(self)

    def draw(self, rows: int, *, seed: int | None = None) -> SyntheticRows:
        """Return rows drawn from the released cells: synthetic ones, for software tests and teaching.

        They are computed from what was released, so they are free, and say no more than it does. A cell is
        drawn as often as its estimate says, never if it is 0 or less; within a bin all numbers are alike.

        Parameters
        ----------
        rows : int
            How many.
        seed : int, optional
            Makes the rows repeat; without it each call draws others.
        """
        from anonymaly.questions.share_histogram.synthetic import draw  # noqa: PLC0415  (it draws from this)

        return draw(self.by, self.estimates, rows, seed)

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


def recalled(value: ReleasedHistogram, query: Mapping[str, Any], guarantee: Guarantee) -> ReleasedHistogram:
    """Return the histogram with how it was released, which follows from the question and its promise."""
    method = METHODS.get(query["method"])
    if method is not None and method.chooses:
        # Two views have no interval that needs rates, which public facts decided; one view is of version 1.
        method = BEFORE if value.sums is None else None
        value.release = Release("auto", {})
    # An answer that was paid for is handed over, whatever is known of its noise.
    with suppress(InputError):
        if method is not None:
            rate = noise_rate(guarantee.nano, moves=guarantee.rows or 1)
            rates = method.rates_of(rate, guarantee.adjacency, len(value.estimates))
            value.release = Release(method.name, rates)
    return value


def _estimate_name(taken: Collection[str]) -> str:
    """Return a name that no column has."""
    name = ESTIMATE
    while name in taken:
        name += "_of_records"
    return name
