# SPDX-License-Identifier: Apache-2.0
"""What a shell completes: commands, and the names of columns and rules that the manifest declares.

Nothing here may fail or be slow: it runs whenever somebody presses the key, on half-written lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer


@dataclass(frozen=True)
class Completion:
    """One proposal, as shells are told of it."""

    value: str
    type: str = "plain"
    help: str | None = None


def completes(name: str, annotation: Any, pairs: bool) -> Callable[[typer.Context, str], list[str]] | None:
    """Return what completes a question's option; None if nothing public does."""
    from anonymaly.ask.typed_fields import COLUMNS, RULES, words_of  # noqa: PLC0415  (heavy)

    choices = words_of(annotation)  # Typer tells the two arguments below apart by their names
    if choices:
        return lambda ctx, incomplete: _beginning(choices, incomplete)
    if name in RULES:
        return lambda ctx, incomplete: _beginning(_rules(ctx, RULES[name]), incomplete)
    if name in COLUMNS:
        return lambda ctx, incomplete: _beginning(_columns(ctx), incomplete)
    if pairs:
        return lambda ctx, incomplete: _beginning(_pairs(_columns(ctx), incomplete), incomplete)
    return None


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _pairs(columns: Mapping[str, Any], incomplete: str) -> list[str]:
    """Return column= for each column, or column=value for the declared values of the one that is written."""
    name, equals, _ = incomplete.partition("=")
    if not equals:
        return [f"{column}=" for column in columns]
    declared = columns.get(name)
    values = declared.get("values") if isinstance(declared, Mapping) else None
    return [f"{name}={value}" for value in values] if isinstance(values, list) else []


def _columns(context: typer.Context) -> Mapping[str, Any]:
    return _part(context, "columns")


def _rules(context: typer.Context, kind: str) -> list[str]:
    rules = _part(context, "rules")
    return [name for name, rule in rules.items() if isinstance(rule, Mapping) and rule.get("type") == kind]


def _part(context: typer.Context, name: str) -> Mapping[str, Any]:
    """Return a part of the manifest that the line names; nothing if there is none yet."""
    from anonymaly.declare.manifest import read_yaml  # noqa: PLC0415
    from anonymaly.errors import AnonymalyError  # noqa: PLC0415

    # Of a line that ends with an option without its value, no argument has been told apart yet.
    for path in (context.params.get("manifest"), *context.args):
        try:
            found = read_yaml(Path(path)).get(name) if isinstance(path, str) else None
        except AnonymalyError:
            continue
        if isinstance(found, Mapping):
            return {str(key): item for key, item in found.items()}
    return {}
