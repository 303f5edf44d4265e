# SPDX-License-Identifier: Apache-2.0
"""Parts of a histogram as an asker names them: a value, several values, or the bins between two edges."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Real
from typing import Any

from anonymaly.core.suggestions import guess, listed
from anonymaly.declare.attributes import Attribute
from anonymaly.errors import InputError


def read_part(attribute: Attribute, wanted: Any) -> list[int]:
    """Return the places of a value, of several values, or of the bins between two edges.

    Examples
    --------
    >>> from anonymaly.declare.domain import Bins
    >>> ages = Bins("age", [0, 18, 65, 120])
    >>> age = Attribute("age", ages.labels, ages)
    >>> read_part(age, (18, 120)), read_part(age, "[0, 18)"), read_part(Attribute("new", (False, True)), True)
    ([1, 2], [0], [1])
    """
    if attribute.edges is not None and _is_pair(wanted):
        low, high = wanted
        edges = attribute.edges
        for edge in (low, high):
            if edge not in edges:
                near = sorted(edges, key=lambda known: abs(known - edge))[:2]
                raise InputError(
                    f"{edge} is not one of its edges",
                    field=attribute.column,
                    next_step=f"Cells are not divided; edges near it: {', '.join(map(str, sorted(near)))}.",
                )
        if not low < high:
            raise InputError(
                f"nothing lies from {low} to {high}",
                field=attribute.column,
                next_step="Give two edges, the lower one first.",
            )
        return list(range(edges.index(low), edges.index(high)))
    several = isinstance(wanted, Collection) and not isinstance(wanted, str)
    return sorted({_place(attribute, item) for item in (wanted if several else [wanted])})


def _place(attribute: Attribute, value: Any) -> int:
    for place, known in enumerate(attribute.values):
        if known == value and isinstance(known, bool) == isinstance(value, bool):
            return place
    text = str(value)
    raise InputError(
        f"{value!r} is not one of its values",
        field=attribute.column,
        next_step=f"{guess(text, attribute.values)}Values: {listed(attribute.values, text)}.",
    )


def _is_pair(wanted: Any) -> bool:
    return (
        isinstance(wanted, tuple | list)
        and len(wanted) == 2
        and all(isinstance(item, Real) and not isinstance(item, bool) for item in wanted)
    )


def no_column(name: str, by: Collection[Attribute], field: str) -> InputError:
    """Return the error that lists the histogram's columns."""
    names = [attribute.column for attribute in by]
    return InputError(
        f"{name!r} is not one of the histogram's columns",
        field=field,
        next_step=f"{guess(name, names)}Columns: {', '.join(names)}.",
    )
