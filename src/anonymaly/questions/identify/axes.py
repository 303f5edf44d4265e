# SPDX-License-Identifier: Apache-2.0
"""The axes of the space in which distances are measured: one for each column of the model.

Here are the coordinates of the records asked about; `summary.place_rows` gives rows the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.declare.attributes import (
    Attribute,
    read_attributes,
    undeclared_number,
    undeclared_value,
)
from anonymaly.declare.domain import Domain, Interval
from anonymaly.declare.rules import AnomalyModel

RELATIVE = 1e-9  # of the radius; sums of a million squares round by less
ABSOLUTE = 2.0**-50  # of a scaled coordinate; a division and a difference round by less


@dataclass(frozen=True)
class Axis:
    """One column of the model: a number with its bounds, or a category or flag with its list of values."""

    column: str
    scale: float
    domain: Interval | None = None
    attribute: Attribute | None = None

    def read(self, values: Sequence[Any], *, field: str) -> list[Any]:
        """Return an asker's values in their one canonical spelling, or say which one does not fit."""
        read = self._read_numbers(values) or [self._canonical(value) for value in values]
        if None in read:
            first = read.index(None)
            place = f" in record {first + 1}" if len(values) > 1 else ""
            if self.attribute is not None:
                raise undeclared_value(self.attribute, values[first], field=field, place=place)
            assert self.domain is not None  # noqa: S101 - an axis is the one or the other
            described = self.domain.describe()
            raise undeclared_number(self.column, values[first], described, field=field, place=place)
        return read

    def place(self, values: Sequence[Any]) -> Floats:
        """Return the coordinates of values that were read."""
        codes = values if self.attribute is None else [self.attribute.code(value) for value in values]
        return np.asarray(codes, np.float64) / self.scale

    def _read_numbers(self, values: Sequence[Any]) -> list[Any] | None:
        """Read plain numbers all at once, if all of them fit: a batch may have a hundred thousand."""
        if self.domain is None or not set(map(type, values)) <= {int, float}:
            return None
        try:
            numbers = np.asarray(values, np.float64)
        except OverflowError:  # a whole number beyond all floats; the caller finds which one
            return None
        if not ((numbers >= self.domain.low) & (numbers <= self.domain.high)).all():
            return None
        whole = (numbers == np.floor(numbers)) & (np.abs(numbers) < 2**53)
        pairs = zip(numbers.tolist(), whole.tolist(), strict=True)
        return [int(number) if is_whole else number for number, is_whole in pairs]

    def _canonical(self, value: Any) -> Any:
        if self.domain is not None:
            if not self.domain.contains(value):
                return None
            number = float(value)
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
        code = None if self.attribute is None else self.attribute.code(value)
        return None if code is None or self.attribute is None else self.attribute.values[code]


def read_axes(model: AnomalyModel, columns: Mapping[str, Domain], *, field: str) -> tuple[Axis, ...]:
    """Return the model's columns as axes."""
    return tuple(_axis(name, columns[name], model, columns, field) for name in model.columns)


def _axis(name: str, domain: Domain, model: AnomalyModel, columns: Mapping[str, Domain], field: str) -> Axis:
    if isinstance(domain, Interval):
        # At radius 0 only equality counts, and no scale changes that.
        return Axis(name, float(domain.width) if model.scaled and model.radius else 1.0, domain)
    (attribute,) = read_attributes([name], columns, field=field)
    return Axis(name, 1.0, attribute=attribute)


def inclusive_radius(model: AnomalyModel, axes: Sequence[Axis]) -> float:
    """Return a radius, a hair larger than the model's, that no rounding takes a record out of (Lemma 7)."""
    if not model.radius:
        return 0.0
    scaled = [
        max(abs(float(axis.domain.low)), abs(float(axis.domain.high))) / axis.scale
        for axis in axes
        if model.scaled and axis.domain is not None
    ]
    return float(model.radius) * (1 + RELATIVE) + ABSOLUTE * sum(scaled)
