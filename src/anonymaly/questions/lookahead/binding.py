# SPDX-License-Identifier: Apache-2.0
"""The n-step lookahead mechanism, corrected: a table of counts, with noise wherever somebody is protected."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np
import pyarrow as pa

from anonymaly.ask.cited import cited_model
from anonymaly.core.arrays import Integers
from anonymaly.declare.attributes import Attribute, Label, read_attributes
from anonymaly.declare.dataset import Declaration
from anonymaly.declare.domain import Bins
from anonymaly.declare.rules import AnomalyModel
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.identify.binding import rate_of

MOST_CELLS = 1 << 20
SHOWN = 20  # rows of a table in print


@dataclass(frozen=True)
class LookaheadPlan:
    """The question with every name looked up."""

    model: AnomalyModel
    attributes: tuple[Attribute, ...]
    rate: Fraction
    least: int  # counts from here on get noise: β+1−n with n = k+1 (Lemma 10)

    @property
    def cells(self) -> int:
        """How many combinations of values there are."""
        return math.prod(len(attribute.values) for attribute in self.attributes)

    @property
    def protects_everyone(self) -> bool:
        """Whether every count gets noise, those of nobody too."""
        return self.least <= 0


def plan_lookahead(
    columns: Sequence[str | Bins], name: str, cost: int, declaration: Declaration
) -> LookaheadPlan:
    """Check the question against the declaration, or say which field does not fit."""
    model = cited_model(name, declaration)
    if model.radius:
        raise InputError(
            f"the rule {name!r} has radius {model.radius}: records that are near and not equal are "
            "in different cells, and their counts would not tell who is protected",
            field="model",
            next_step="Name a model with radius 0, or ask with Identify.",
        )
    attributes = read_attributes(columns, declaration.columns, field="columns")
    for attribute in attributes:
        if attribute.column not in model.columns:
            raise InputError(
                f"names {attribute.column}, by which the model does not tell records apart",
                field="columns",
                next_step=f"Columns of the model: {', '.join(model.columns)}.",
            )
    k = model.k + declaration.rows - 1
    plan = LookaheadPlan(model, attributes, rate_of(cost, declaration), model.beta - k)
    if plan.cells > MOST_CELLS:
        raise InputError(
            f"make {plan.cells:,} cells; at most {MOST_CELLS:,} are released",
            field="columns",
            next_step="Use fewer columns, or wider bins.",
        )
    return plan


def release_counts(counts: Integers, plan: LookaheadPlan, noise: Noise) -> CountTable:
    """Add noise to every count that a protected record can be part of, before or after it comes."""
    # Drawn for all of them: how many draws there are must not tell how many counts are small.
    noisy = noise.add_two_sided_geometric(counts, plan.rate)
    kept = np.where(counts >= plan.least, noisy, counts)
    return CountTable(plan.attributes, tuple(int(count) for count in kept))


@dataclass(frozen=True)
class CountTable:
    """Counts for every combination of the columns' values.

    Examples
    --------
    >>> table = CountTable((Attribute("ward", ("A", "B")), Attribute("adult", (False, True))), (5, 7, 0, 11))
    >>> table.count(ward="B", adult=True)
    11
    >>> next(table.rows())
    {'ward': 'A', 'adult': False, 'records': 5}
    """

    attributes: tuple[Attribute, ...]
    counts: tuple[int, ...]

    def count(self, **values: Label) -> int:
        """Return the count of one combination."""
        for row in self.rows():
            if all(row[name] == value for name, value in values.items()) and len(values) == len(row) - 1:
                return int(row["records"])
        names = ", ".join(attribute.column for attribute in self.attributes)
        raise InputError(
            "is no combination of declared values", next_step=f"Give a value of each of {names}."
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each combination with its count, in the order of the declaration."""
        names = [attribute.column for attribute in self.attributes]
        for labels, count in zip(
            product(*(attribute.values for attribute in self.attributes)), self.counts, strict=True
        ):
            yield {**dict(zip(names, labels, strict=True)), "records": count}

    def to_arrow(self) -> pa.Table:
        """Return the table in Arrow's form."""
        return pa.Table.from_pylist(list(self.rows()))

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame."""
        import pandas  # noqa: PLC0415  (not every user of the table has it)

        return pandas.DataFrame(list(self.rows()))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        columns = [
            {"column": item.column, "values": list(item.values), "bins": item.bins and item.bins.to_dict()}
            for item in self.attributes
        ]
        return {"columns": columns, "counts": list(self.counts)}

    @classmethod
    def read(cls, data: dict[str, Any]) -> CountTable:
        """Read the table from plain data."""
        attributes = tuple(
            Attribute(item["column"], tuple(item["values"]), item["bins"] and Bins.read(item["bins"]))
            for item in data["columns"]
        )
        return cls(attributes, tuple(data["counts"]))

    def __str__(self) -> str:
        lines = [
            ", ".join(f"{name} {value}" for name, value in row.items() if name != "records")
            + f": {row['records']:,}"
            for row in islice(self.rows(), SHOWN)
        ]
        more = [f"… and {len(self.counts) - SHOWN:,} more"] if len(self.counts) > SHOWN else []
        return "\n".join(lines + more)
