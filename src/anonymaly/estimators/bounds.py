# SPDX-License-Identifier: Apache-2.0
"""The ways to write bounds: one pair for all columns, a list by position, or a mapping by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from anonymaly.declare.domain import Domain, Interval, Unbounded
from anonymaly.errors import InputError

Pair = tuple[float, float]
Bounds = Pair | Sequence[Pair | None] | Mapping[str, Pair | None]
ADVICE = (
    "Give public bounds: one (low, high) for all columns, a list by position, or a dict by name; None in "
    "place of a pair finds that column's bounds privately, for a share of epsilon."
)


def read_bounds(bounds: Any, names: Sequence[str]) -> dict[str, Domain]:
    """Return the declared domain of each column.

    Examples
    --------
    >>> read_bounds([(0, 120), None], ["age", "pay"])
    {'age': Interval(type='interval', low=0, high=120, step=None), 'pay': Unbounded(type='unbounded')}
    """
    if bounds is None or isinstance(bounds, str):
        raise InputError(
            "must be given: bounds taken from the data would void the promise",
            field="bounds",
            next_step=ADVICE,
        )
    if isinstance(bounds, Mapping):
        unknown = [name for name in bounds if name not in names]
        missing = [name for name in names if name not in bounds]
        if unknown or missing:
            wrong = (
                f"names {unknown[0]!r}, which is no column" if unknown else f"does not name {missing[0]!r}"
            )
            raise InputError(wrong, field="bounds", next_step=f"Columns: {', '.join(names)}.")
        pairs = [bounds[name] for name in names]
    else:
        pairs = list(bounds)
        if len(pairs) == 2 and all(isinstance(bound, Real) for bound in pairs):
            pairs = [tuple(pairs)] * len(names)
    if len(pairs) != len(names):
        raise InputError(f"has {len(pairs)} pairs for {len(names)} columns", field="bounds", next_step=ADVICE)
    return {name: _read(pair, name) for name, pair in zip(names, pairs, strict=True)}


def _read(pair: Any, name: str) -> Domain:
    if pair is None:
        return Unbounded()
    try:
        low, high = (float(bound) for bound in pair)
    except (TypeError, ValueError):
        raise InputError(f"of {name} are not two numbers", field="bounds", next_step=ADVICE) from None
    try:
        return Interval(low, high)
    except InputError as problem:
        raise InputError(f"of {name}: {problem.problem}", field="bounds", next_step=ADVICE) from None
