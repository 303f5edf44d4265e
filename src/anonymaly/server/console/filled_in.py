# SPDX-License-Identifier: Apache-2.0
"""A question written into its form: the other way round of `question_form.query_of`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anonymaly.ask.query import Query
from anonymaly.declare.declaration import Declaration
from anonymaly.server.console.question_form import CUT, fields_of


def filled_in(query: Query, declared: Declaration) -> dict[str, tuple[str, ...]]:
    """Return names and texts of a question's form."""
    fields = {item["name"]: item for item in fields_of(type(query), declared, None)}
    sent: dict[str, tuple[str, ...]] = {}
    for name, value in query.to_dict().items():
        if name not in fields or value in (None, [], {}):
            continue
        match fields[name]["widget"]:
            case "columns":
                sent |= _columns(name, value)
            case "record":
                sent |= {f"{name}.{column}": (_text(item),) for column, item in value.items()}
            case "records":
                rows = zip(*value.values(), strict=True)
                sent[name] = ("\n".join(",".join(map(_text, row)) for row in [tuple(value), *rows]),)
            case "lines" if isinstance(value, Mapping):
                sent[name] = ("\n".join(f"{key}={_text(item)}" for key, item in value.items()),)
            case "lines":
                sent[name] = (value if isinstance(value, str) else "\n".join(map(_text, value)),)
            case _:
                sent[name] = (_text(value),)
    return sent


def _columns(name: str, value: Any) -> dict[str, tuple[str, ...]]:
    ticked = tuple(item for item in value if isinstance(item, str))
    cut: dict[str, tuple[str, ...]] = {
        f"{CUT}.{name}.{item['column']}": (item["by"] if "by" in item else _edges(item["edges"]),)
        for item in value
        if isinstance(item, Mapping)
    }
    return {name: ticked, **cut} if ticked else cut


def _edges(edges: Sequence[Any]) -> str:
    return ", ".join(map(_text, edges))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
