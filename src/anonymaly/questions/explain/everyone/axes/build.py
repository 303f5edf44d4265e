# SPDX-License-Identifier: Apache-2.0
"""From a question's attributes and the declaration to axes; limits are decided here, before the charge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from anonymaly.declare.attributes import (
    Attribute,
    read_attributes,
    undeclared_number,
    undeclared_value,
)
from anonymaly.declare.dates import Dates
from anonymaly.declare.domain import Bins, Domain, Interval, Timestamps, find_domain
from anonymaly.errors import InputError
from anonymaly.questions.explain.everyone.axes.axis import GroupAxis
from anonymaly.questions.explain.everyone.axes.intervals import IntervalAxis
from anonymaly.questions.explain.everyone.axes.nested import Dyadic, OwnOrAny
from anonymaly.questions.explain.everyone.axes.subsets import SubsetAxis
from anonymaly.questions.explain.everyone.choices import (
    MOST_CELLS,
    MOST_LISTED,
    MOST_NUMBERS,
    MOST_POSITIONS,
    MOST_SAMPLED_ATTRIBUTES,
    MOST_VALUES,
)
from anonymaly.questions.explain.everyone.positions import OrderedPositions, positions_of

Item = str | Bins | Dates
Axes = tuple[GroupAxis, ...]
MOST_ORDERED = 2  # attributes of which all intervals are groups; of more, dyadic ones


def simple_axes(
    items: Sequence[Item], columns: Mapping[str, Domain], record: Mapping[str, Any], steps: int
) -> Axes:
    """Return the axes of simple groups: any, the own value, or intervals that hold it.

    All intervals, or where these would be too many, those of 1, 2, 4, … neighbours.
    """
    read = [_read(item, columns, record) for item in items]
    ordered = sum(isinstance(attribute, tuple) for attribute in read)
    for kind in (IntervalAxis, Dyadic):
        axes = tuple(
            kind(_name(item), *attribute) if isinstance(attribute, tuple) else attribute
            for item, attribute in zip(items, read, strict=True)
        )
        if (kind is Dyadic or ordered <= MOST_ORDERED) and fits(axes, steps):
            return axes
    groups, cells = (
        math.prod(sizes) for sizes in zip(*((axis.options, axis.codes) for axis in axes), strict=True)
    )
    raise InputError(
        f"make {groups:,} simple groups of {cells:,} cells, with {steps:,} steps of the metric; at most "
        f"{MOST_LISTED:,} groups, and {MOST_NUMBERS:,} cells times steps, are looked at",
        field="attributes",
        next_step="Use fewer attributes, or fewer steps.",
    )


def subset_axes(
    items: Sequence[Item], columns: Mapping[str, Domain], record: Mapping[str, Any]
) -> tuple[SubsetAxis, ...]:
    """Return the axes of all sets of values that hold the record's own."""
    dates = [item.column for item in items if isinstance(item, Dates)]
    if dates:
        raise InputError(
            f"{dates[0]} is cut by the calendar, which only simple groups are",
            field="attributes",
            next_step='Ask among="simple".',
        )
    attributes = read_attributes([item for item in items if not isinstance(item, Dates)], columns)
    problem = None
    largest = max(len(attribute.values) for attribute in attributes)
    cells = math.prod(len(attribute.values) + 1 for attribute in attributes)
    if len(attributes) > MOST_SAMPLED_ATTRIBUTES:
        problem = f"are {len(attributes)}; subsets are made of at most {MOST_SAMPLED_ATTRIBUTES}"
    elif largest > MOST_VALUES:
        problem = f"have one of {largest} values; subsets are made of at most {MOST_VALUES}"
    elif cells >= MOST_CELLS:
        problem = f"make {cells:,} base cells, which no number of 64 bits counts"
    if problem is not None:
        raise InputError(
            problem, field="attributes", next_step='Use fewer attributes, or wider bins, or among="simple".'
        )
    return tuple(SubsetAxis(attribute, _code(attribute, record)) for attribute in attributes)


def fits(axes: Sequence[GroupAxis], steps: int) -> bool:
    """Say whether all groups can be looked at."""
    numbers = math.prod(axis.codes for axis in axes) * (steps + 1)
    return math.prod(axis.options for axis in axes) <= MOST_LISTED and numbers <= MOST_NUMBERS


def _name(item: Item) -> str:
    return item if isinstance(item, str) else item.column


def _read(
    item: Item, columns: Mapping[str, Domain], record: Mapping[str, Any]
) -> OwnOrAny | tuple[OrderedPositions, int]:
    """Return an attribute with the record's own value, or with its position in an ordered one."""
    name = _name(item)
    domain = find_domain(name, columns, field="attributes")
    if isinstance(item, str):
        if isinstance(domain, Timestamps):
            raise InputError(
                f"{name} is {domain.describe()}; dates must be cut",
                field="attributes",
                next_step=f'Cut it by the calendar, as in am.Dates("{name}", by="month").',
            )
        (attribute,) = read_attributes([item], columns)
        own = attribute.values[_code(attribute, record)]
        return OwnOrAny(name, own, len(attribute.values))
    wanted = Interval if isinstance(item, Bins) else Timestamps
    item_kind = "numbers" if wanted is Interval else "dates"
    if not isinstance(domain, wanted):
        raise InputError(
            f"{name} is {domain.describe()}; {item.type} are of {item_kind}",
            field="attributes",
            next_step="Name the column itself.",
        )
    positions = positions_of(item, domain if isinstance(domain, Timestamps) else None)
    if positions.size > MOST_POSITIONS:
        raise InputError(
            f"cut {name} into {positions.size:,} parts; at most {MOST_POSITIONS:,} are looked at",
            field="attributes",
            next_step="Give wider bins, or cut dates by quarter or year.",
        )
    position = positions.position(record[name])
    if position is None:
        if isinstance(item, Bins) and isinstance(record[name], str):
            raise undeclared_number(name, record[name], domain.describe(), field="record")
        raise InputError(
            f"has a value of {name} that is in no part of it",
            field="record",
            next_step=f"{name} is {domain.describe()}.",
        )
    return positions, position


def _code(attribute: Attribute, record: Mapping[str, Any]) -> int:
    code = attribute.code(record[attribute.column])
    if code is None:
        raise undeclared_value(attribute, record[attribute.column], field="record")
    return code
