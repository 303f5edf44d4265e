# SPDX-License-Identifier: Apache-2.0
"""A question's fields as people type them: the options of its command and the fields of its form."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic.fields import FieldInfo

from anonymaly.ask.typed_values import add_pair, read_pairs, read_scalar, split_pair
from anonymaly.declare.domain import Domain

# Fields that name a declared rule → the kind of that rule.
RULES = {"model": "anomaly_model", "policy": "policy", "rule": "same_contexts"}
# Fields that name declared columns.
COLUMNS = {"columns", "attributes", "by", "place", "metric", "order"}


def forms_of(field: FieldInfo) -> list[Any]:
    """Return the types that a field may have, without ``None`` and annotations."""
    annotation: Any = field.annotation
    union = isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union
    forms = []
    for form in typing.get_args(annotation) if union else [annotation]:
        while typing.get_origin(form) is Annotated:
            form = typing.get_args(form)[0]  # noqa: PLW2901
        forms.append(typing.get_origin(form) or form)
    return [form for form in forms if form is not types.NoneType]


def words_of(annotation: Any) -> list[str]:
    """Return the words that a field may be, if its type lists them."""
    if typing.get_origin(annotation) is typing.Literal:
        return [str(choice) for choice in typing.get_args(annotation)]
    return [choice for part in typing.get_args(annotation) for choice in words_of(part)]


def mark_of(field: FieldInfo, kind: str) -> Any:
    """Return how a field is marked: given by ``pairs``, and of what, or by a file that holds a ``table``."""
    extra = field.json_schema_extra
    return extra.get(kind) if isinstance(extra, dict) else None


def is_several(field: FieldInfo) -> bool:
    """Say whether a field is given once for each of its items."""
    return forms_of(field)[0] is tuple and not mark_of(field, "table")


def read_field(
    name: str, field: FieldInfo, text: str | list[str], columns: Callable[[], Mapping[str, Domain]]
) -> Any:
    """Read what is typed as a field: name=value pairs, repeated values, or one value.

    Parameters
    ----------
    name : str
        The field's name, for errors.
    field : FieldInfo
        What it may be.
    text : str or list of str
        One text, or several where the field is given once for each of its items.
    columns : function
        The declared columns, called if the value depends on them.
    """
    if isinstance(text, str):
        return text if forms_of(field)[0] is str else read_scalar(text)
    if str in forms_of(field):
        return text[0] if len(text) == 1 else text  # given once it is one text, given again a list
    pairs = mark_of(field, "pairs")
    if pairs in ("record", "group"):
        return read_pairs(text, columns(), field=name, groups=pairs == "group")
    if not pairs:
        return [read_scalar(item) for item in text]
    found: dict[str, Any] = {}
    for item in text:
        key, value = split_pair(item, name)
        add_pair(found, key, read_scalar(value))
    return found
