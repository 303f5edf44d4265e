# SPDX-License-Identifier: Apache-2.0
"""Real columns as coordinates: numbers and moments from 0 to 1, labels by their place, and what is missing.

A label that was not declared has the place after the declared ones, "other"; what is missing is null on the
engine and NaN in numpy, and gets a cell of its own in every histogram.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import ibis
import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.declare.domain import Categories, Domain, Timestamps
from anonymaly.engine.arithmetic import divided, exact
from anonymaly.questions.score.methods.method import coordinate
from anonymaly.questions.score.mixed_labels import Label, labels_of, places_of
from anonymaly.questions.score.space import Space

if TYPE_CHECKING:
    import ibis.expr.types as ir

AxisKind = Literal["number", "moment", "label"]


@dataclass(frozen=True)
class MixedSpace(Space):
    """Columns of numbers, moments and labels; the bounds of labels mean nothing and are 0 and 1."""

    kinds: tuple[AxisKind, ...] = ()
    labels: tuple[tuple[Label, ...] | None, ...] = ()
    others: tuple[str, ...] = ()  # what each column's undeclared labels are called

    @classmethod
    def of(
        cls, columns: Sequence[str], domains: Sequence[Domain], bounds: Mapping[str, tuple[float, float]]
    ) -> MixedSpace:
        """Return the space of declared columns, with the bounds of those that are numbers or moments."""
        labels = tuple(labels_of(domain) for domain in domains)
        ends = [bounds.get(name, (0.0, 1.0)) for name in columns]
        kinds: tuple[AxisKind, ...] = tuple(
            "label" if found is not None else "moment" if isinstance(domain, Timestamps) else "number"
            for domain, found in zip(domains, labels, strict=True)
        )
        others = tuple(
            str(domain.other) if isinstance(domain, Categories) and domain.other is not None else "other"
            for domain in domains
        )
        lows, highs = (tuple(side) for side in zip(*ends, strict=True))
        return cls(tuple(columns), lows, highs, kinds, labels, others)

    @property
    def places(self) -> tuple[int, ...]:
        """The places of each column's labels, and 0 for numbers and moments."""
        return tuple(map(places_of, self.labels))

    def cube(self, table: ir.Table) -> ir.Table:
        """Return the coordinates of every record, with nulls where it has no value."""
        placed = {coordinate(axis): self._placed(table[name], axis) for axis, name in enumerate(self.columns)}
        return table.select(**placed)

    def _placed(self, column: Any, axis: int) -> ir.FloatingValue:
        nothing, labels = ibis.null("float64"), self.labels[axis]
        if labels is not None:
            known = [
                (column if label else ~column, float(place))
                if isinstance(label, bool)
                else (column == label, float(place))
                for place, label in enumerate(labels)
            ]
            return ibis.cases(
                (column.isnull(), nothing),
                *((condition, exact(place)) for condition, place in known),
                else_=exact(len(labels)),
            )
        low, high = self.lows[axis], self.highs[axis]
        if self.kinds[axis] == "moment":
            # Moved between the bounds first: seconds of an infinite moment would make the statement fail.
            first, last = (
                ibis.literal(datetime.fromtimestamp(second, UTC).replace(tzinfo=None))
                for second in (low, high)
            )
            moved = ibis.greatest(ibis.least(column, last), first)
            number = moved.truncate("s").epoch_seconds().cast("float64")
        else:
            number = column.cast("float64")
        # Where there is a null, engines' greatest and least pass it over.
        clamped = ibis.greatest(ibis.least(number, exact(high)), exact(low))
        return ibis.cases((column.isnull(), nothing), else_=divided(clamped - exact(low), high - low))

    def points(self, records: Any) -> Floats:
        """Return a frame or rows of new records as coordinates; what is missing is NaN."""
        from anonymaly.questions.score.new_records import read_columns  # noqa: PLC0415  (imports pyarrow)

        found = read_columns(records, self)
        points = np.empty((len(found[0]), len(self.columns)))
        for axis, numbers in enumerate(found):
            low, high = self.lows[axis], self.highs[axis]
            is_label = self.kinds[axis] == "label"
            points[:, axis] = numbers if is_label else (np.clip(numbers, low, high) - low) / (high - low)
        return points

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain data."""
        labels = [None if found is None else list(found) for found in self.labels]
        return {
            **super().to_dict(),
            "kinds": list(self.kinds),
            "labels": labels,
            "others": list(self.others),
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> MixedSpace:
        """Read the space back from plain data, or raise ValueError."""
        plain = Space.read({name: data[name] for name in ("columns", "lows", "highs")})
        kinds, others = tuple(data["kinds"]), tuple(str(name) for name in data["others"])
        labels = tuple(None if found is None else tuple(found) for found in data["labels"])
        fits = len(kinds) == len(labels) == len(others) == len(plain.columns) and all(
            kind in ("number", "moment", "label") and (kind == "label") == (found is not None)
            for kind, found in zip(kinds, labels, strict=True)
        )
        if not fits or not all(map(_are_labels, labels)):
            raise ValueError("labels do not fit the columns")
        return cls(plain.columns, plain.lows, plain.highs, kinds, labels, others)


def _are_labels(labels: tuple[Label, ...] | None) -> bool:
    if labels is None:
        return True
    types = {type(label) for label in labels}
    one_type = len(types) == 1 and types <= {str, int, bool}
    return one_type and len(set(labels)) == len(labels) and (types != {bool} or labels == (False, True))
