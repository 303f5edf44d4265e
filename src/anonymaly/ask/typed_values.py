# SPDX-License-Identifier: Apache-2.0
"""Values that are typed, on the command line or into a form, read by the declared type of their column.

The text of a record may be about a person, so messages name columns and never what was typed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from anonymaly.declare.domain import (
    Categories,
    Domain,
    Flag,
    Interval,
    Timestamps,
    Unbounded,
    find_domain,
    read_moment,
)
from anonymaly.errors import InputError

FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_scalar(text: str) -> Any:
    """Read a value of no declared type: a number, true, false or anything else that JSON knows, or text.

    Examples
    --------
    >>> read_scalar("3"), read_scalar("true"), read_scalar("lof")
    (3, True, 'lof')
    """
    try:
        return json.loads(text) if text.strip() else text
    except (ValueError, RecursionError):
        return text


def read_value(text: str, column: str, domain: Domain, *, field: str) -> Any:
    """Read one value as its column is declared, or say what is wanted.

    Examples
    --------
    >>> read_value("166", "building", Categories(["166", "170"]), field="record")
    '166'
    >>> read_value("166", "floor", Interval(0, 200), field="record")
    166
    """
    match domain:
        case Categories() if domain.of_text:
            return _category(text, domain)
        case Categories():
            return _number(text, column, field, whole=True)
        case Interval() | Unbounded():
            return _number(text, column, field)
        case Flag():
            if text.strip().lower() not in FLAGS:
                raise _misfit(column, "true or false", f"{column}=true", field)
            return FLAGS[text.strip().lower()]
        case Timestamps():
            try:
                return read_moment(text.strip()).isoformat(sep=" ")
            except ValueError as problem:
                raise InputError(
                    f"{column} {problem}", field=field, next_step=f"Write, for instance, {column}=2026-01-31."
                ) from None
        case _:
            return text


def read_pairs(items: Sequence[str], columns: Mapping[str, Domain], *, field: str, groups: bool) -> Any:
    """Read column=value pairs; a column that is given again has several values.

    Where pairs describe ``groups``, a number's column may be cut into bins, which have names.
    """
    pairs: dict[str, Any] = {}
    for item in items:
        name, text = split_pair(item, field)
        domain = find_domain(name, columns, field=field)
        if groups and isinstance(domain, Interval):
            value = read_scalar(text)
        else:
            value = read_value(text, name, domain, field=field)
        add_pair(pairs, name, value)
    return pairs


def split_pair(item: str, field: str) -> tuple[str, str]:
    """Return name and text of a pair."""
    name, equals, text = item.partition("=")
    if not equals:
        raise InputError("is not name=value", field=field, next_step="Write, for instance, age=30.")
    return name.strip(), text


def add_pair(pairs: dict[str, Any], name: str, value: Any) -> None:
    """Add a value to what a name has already."""
    if name not in pairs:
        pairs[name] = value
        return
    before = pairs[name]
    pairs[name] = [*(before if isinstance(before, list) else [before]), value]


def _category(text: str, domain: Categories) -> str:
    if not domain.contains(text):
        # In quotes, as JSON has it, for a text that a shell or a reader might take for something else.
        unquoted = read_scalar(text)
        if isinstance(unquoted, str) and domain.contains(unquoted):
            return unquoted
    return text


def _number(text: str, column: str, field: str, *, whole: bool = False) -> int | float:
    what = "a whole number" if whole else "a number"
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        raise _misfit(
            column, what, f"{column}=30" if whole else f"{column}=30 or {column}=1.5", field
        ) from None
    if whole and not number.is_integer():
        raise _misfit(column, what, f"{column}=30", field)
    return int(number) if whole else number


def _misfit(column: str, what: str, example: str, field: str) -> InputError:
    return InputError(
        f"the value of {column} must be {what}", field=field, next_step=f"Write, for instance, {example}."
    )
