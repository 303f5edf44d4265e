# SPDX-License-Identifier: Apache-2.0
"""A declared table as a piece of a page, for notebooks: its columns and rules; no row is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonymaly.pictures.page import cells, fragment, heading, paragraph

if TYPE_CHECKING:
    from anonymaly.declare.dataset import Dataset
    from anonymaly.declare.declaration import Declaration


def dataset_html(dataset: Dataset) -> str:
    """Return what is declared of a table."""
    declared = dataset.declaration
    return fragment(heading(f"Table {declared.name}, version {declared.version}", 3), declared_html(declared))


def declared_html(declared: Declaration) -> str:
    """Return the columns and rules of a declaration as tables."""
    columns = [[name, domain.describe()] for name, domain in declared.columns.items()]
    unit = "every row counts as a person of its own"
    if declared.person is not None:
        unit = f"a person is a value of {declared.person}, with at most {declared.rows:,} rows"
    rules = [[name, *_rule(rule.to_dict())] for name, rule in declared.rules.items()]
    shown = cells(["rule", "kind", "says"], rules) if rules else ""
    return f"{cells(['column', 'declared'], columns)}{shown}{paragraph(unit, 'faint')}"


def _rule(fields: dict[str, Any]) -> list[str]:
    """Return the kind of a rule, and what it says."""
    said = [
        f"{name}: {_listed(item)}" for name, item in fields.items() if name != "type" and item is not None
    ]
    return [str(fields.get("type", "")), ", ".join(said)]


def _listed(item: Any) -> str:
    return ", ".join(map(str, item)) if isinstance(item, list) else str(item)
