# SPDX-License-Identifier: Apache-2.0
"""The form of a question, made from its fields and a declaration; and what was filled in, read back."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Mapping
from typing import Any

from pydantic.fields import FieldInfo

from anonymaly.ask.query import Query
from anonymaly.ask.typed_fields import COLUMNS, RULES, forms_of, is_several, mark_of, read_field, words_of
from anonymaly.ask.typed_values import read_scalar, read_value
from anonymaly.declare.dates import By, Dates
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Bins, Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.errors import InputError
from anonymaly.server.console.forms import Sent

EPSILON = "epsilon"
USUAL_EPSILON = "0.1"
# Shown at once, besides what is needed; the others are folded away.
FIRST = {"where", "record", "model", "policy", "rule", "method", EPSILON}
OF_EPSILON = "What you pay for the answer, out of what you have left. More of it makes the error smaller."
CUT = "cut"
TRUTHS = ("true", "false")
# What a description says of how a field is typed elsewhere.
_TYPED = re.compile(
    r"; give it once for each|\. Bins cut numbers, and Dates dates"
    r"|, in a list or given once for each,|, or \{[^}]*\}|, as column=values?"
)


def fields_of(kind: type[Query], declared: Declaration, sent: Sent | None) -> list[dict[str, Any]]:
    """Return the fields of a question's form as plain data, filled in as they were sent; ε is the last."""
    names = sorted(kind.model_fields, key=lambda name: name == EPSILON)
    return [_field(name, kind.model_fields[name], declared, sent) for name in names]


def query_of(kind: type[Query], declared: Declaration, sent: Sent) -> dict[str, Any]:
    """Return what was filled in as `Query.to_dict` would; what is empty is left out."""
    found: dict[str, Any] = {"question": kind.question}
    for name, field in kind.model_fields.items():
        value = _read(name, field, declared, sent)
        if value not in (None, [], {}):
            found[name] = value
    return found


def says(kind: type[Query]) -> str:
    """Return a question's own question."""
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def _field(name: str, field: FieldInfo, declared: Declaration, sent: Sent | None) -> dict[str, Any]:
    sent = Sent({EPSILON: (USUAL_EPSILON,)}) if sent is None else sent
    widget = _widget(name, field, declared)
    default = field.get_default()
    return {
        "name": name,
        "label": "Price (ε)" if name == EPSILON else name.replace("_", " ").capitalize(),
        "hint": OF_EPSILON if name == EPSILON else _hint(field),
        "widget": widget,
        "needed": field.is_required(),
        "first": field.is_required() or name in FIRST,
        "default": "" if default in (None, ()) or field.is_required() else str(default),
        "text": sent.get(name),
        "options": _options(name, field, declared, widget),
        "parts": _parts(name, field, declared, sent, widget),
    }


def _hint(field: FieldInfo) -> str:
    """Return the field's description, without what is about a command line."""
    text = " ".join((field.description or "").split())
    return _TYPED.sub("", text)


def _widget(name: str, field: FieldInfo, declared: Declaration) -> str:
    if mark_of(field, "table"):
        return "records"
    if mark_of(field, "pairs") == "record":
        return "record"
    if name in COLUMNS and is_several(field):
        return "columns"
    if is_several(field):
        return "lines"
    listed = words_of(field.annotation) or forms_of(field)[0] is bool or name in COLUMNS
    if listed or (name in RULES and not declared.any_rule):
        return "select"
    return "text"


def _options(name: str, field: FieldInfo, declared: Declaration, widget: str) -> list[str]:
    if widget != "select":
        return []
    if words := words_of(field.annotation):
        return words
    if forms_of(field)[0] is bool:
        return list(TRUTHS)
    if name in RULES:
        return [rule for rule, item in declared.rules.items() if item.type == RULES[name]]
    return list(_looked_into(declared))


def _parts(
    name: str, field: FieldInfo, declared: Declaration, sent: Sent, widget: str
) -> list[dict[str, Any]]:
    """Return what a field has for each column: a box to tick, or a value to fill in."""
    if widget not in ("columns", "record"):
        return []
    chosen = sent.all(name)
    parts = []
    for column, domain in _looked_into(declared).items():
        place = f"{name}.{column}"
        part: dict[str, Any] = {"column": column, "place": place, "holds": domain.describe()}
        if widget == "columns":
            by = _cut_by(field.annotation, domain)
            cut = None if by is None else f"{CUT}.{place}"
            said = "" if cut is None else sent.get(cut)
            part |= {"chosen": column in chosen, "cut": cut, "edges": said, "by": list(by or ())}
        else:
            part |= {"text": sent.get(place), "options": _values(domain)}
        parts.append(part)
    return parts


def _looked_into(declared: Declaration) -> Mapping[str, Domain]:
    return {name: item for name, item in declared.columns.items() if not isinstance(item, Opaque)}


def _values(domain: Domain) -> list[str]:
    if isinstance(domain, Flag):
        return list(TRUTHS)
    return [str(value) for value in domain.values] if isinstance(domain, Categories) else []


def _cut_by(annotation: Any, domain: Domain) -> tuple[str, ...] | None:
    """Return what a column may be cut by: parts of the calendar, or none for edges; None if it may not be."""
    if isinstance(domain, Timestamps) and _takes(annotation, Dates):
        return typing.get_args(By)
    return () if isinstance(domain, Interval) and _takes(annotation, Bins) else None


def _takes(annotation: Any, kind: type) -> bool:
    return annotation is kind or any(_takes(part, kind) for part in typing.get_args(annotation))


def _read(name: str, field: FieldInfo, declared: Declaration, sent: Sent) -> Any:
    widget, columns = _widget(name, field, declared), _looked_into(declared)
    match widget:
        case "records":
            return _read_records(name, sent.get(name), declared)
        case "record":
            texts = {column: sent.get(f"{name}.{column}") for column in columns}
            return {
                column: read_value(text, column, columns[column], field=name)
                for column, text in texts.items()
                if text
            }
        case "columns":
            return _read_columns(name, sent, columns)
        case "lines":
            lines = [line for line in sent.get(name).splitlines() if line.strip()]
            return read_field(name, field, lines, lambda: declared.columns) if lines else None
        case _:
            text = sent.get(name)
            return read_field(name, field, text, lambda: declared.columns) if text else None


def _read_records(name: str, text: str, declared: Declaration) -> Any:
    from anonymaly.ask.typed_records import read_typed  # noqa: PLC0415  (needs Arrow, and few forms do)

    return read_typed(text, declared.columns, field=name) if text else None


def _read_columns(name: str, sent: Sent, columns: Mapping[str, Domain]) -> list[Any]:
    """Return the columns that are ticked, and those that are cut, with their edges or by the calendar."""
    chosen = sent.all(name)
    found: list[Any] = []
    for column in chosen:
        if column not in columns:
            found.append(column)  # the question says that there is none
    for column, domain in columns.items():
        text = sent.get(f"{CUT}.{name}.{column}")
        if text and isinstance(domain, Timestamps):
            found.append({"type": "dates", "column": column, "by": text})
        elif text:
            found.append({"type": "bins", "column": column, "edges": _edges(text, name, column)})
        elif column in chosen:
            found.append(column)
    return found


def _edges(text: str, name: str, column: str) -> list[Any]:
    edges = [read_scalar(item.strip()) for item in text.replace(";", ",").split(",")]
    if not all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in edges):
        raise InputError(
            f"the edges of {column} must be numbers",
            field=name,
            next_step="Write, for instance, 0, 18, 65, 120.",
        )
    return edges
