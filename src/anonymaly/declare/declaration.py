# SPDX-License-Identifier: Apache-2.0
"""What is public about a table: its columns, rules and unit; no source is needed to read it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from anonymaly.core.rate import Adjacency
from anonymaly.core.value import digest, is_text
from anonymaly.declare.column import read_reading
from anonymaly.declare.domain import Domain, read_domain
from anonymaly.declare.reading import with_defaults
from anonymaly.declare.rules import Rule, read_rule
from anonymaly.engine.columns import ADDED, Kind
from anonymaly.engine.reading import Reading
from anonymaly.errors import InputError

MOST_ROWS = 1_000_000  # of one person; noise for more would drown any answer
LARGEST_TABLE = 10**12
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Declaration:
    """Everything public about a dataset; before its charge, a question depends on nothing else."""

    name: str
    version: str
    columns: Mapping[str, Domain]
    rules: Mapping[str, Rule]
    any_rule: bool = False
    key: str | None = None
    person: str | None = None
    rows: int = 1  # the most rows one person has in the view
    public: bool = False
    adjacency: Adjacency = "add_remove"
    questions: tuple[str, ...] = ()  # questions of other packages that the owner allows
    about_rows: int | None = None  # how many rows the table has, if the owner says that it is public

    @classmethod
    def read(
        cls,
        *,
        name: str,
        columns: Mapping[str, Domain],
        version: str = "1",
        key: str | None = None,
        rules: Mapping[str, Rule] | Literal["any"] = MappingProxyType({}),
        person: str | None = None,
        max_rows: int | None = None,
        public: bool = False,
        questions: Sequence[str] = (),
        reading: Reading | None = None,
        rows: int | None = None,
    ) -> Declaration:
        """Check what an owner declares, as values or as plain data; the fields are those of `Dataset`."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(
                "must be 1 to 100 letters, digits, dots, dashes or underscores",
                field="name",
                next_step="Give the table a short name such as patients.",
            )
        if not isinstance(public, bool):
            raise InputError(
                "must be True or False", field="public", next_step="Say True only of a table without secrets."
            )
        if version is None or not str(version) or not is_text(str(version)):
            raise InputError("must be text", field="version", next_step='Give a text such as "2026-01".')
        declared = with_defaults(_read_columns(columns), read_reading(reading, field="reading"))
        return cls(
            name=name,
            version=str(version),
            columns=declared,
            rules=_read_rules(rules, declared),
            any_rule=rules == "any",
            key=_read_name(key, "key"),
            person=_read_name(person, "person"),
            rows=_read_unit(person, max_rows),
            public=public,
            questions=_read_questions(questions),
            about_rows=_read_rows(rows),
        )

    def with_adjacency(self, adjacency: Adjacency) -> Declaration:
        """Return the declaration as an account in this adjacency sees it."""
        if adjacency not in ("add_remove", "replace"):
            raise InputError(
                "must be add_remove or replace",
                field="adjacency",
                next_step="add_remove hides whether a person is in the table; replace hides their values.",
            )
        return replace(self, adjacency=adjacency)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of value that each column is read as."""
        return {name: domain.kind for name, domain in self.columns.items()}

    @property
    def readings(self) -> dict[str, Reading]:
        """How columns are written, where it is declared."""
        found = {name: domain.reading for name, domain in self.columns.items()}
        return {name: reading for name, reading in found.items() if reading is not None}

    @property
    def unit_rows(self) -> int | None:
        """The most rows of a person, as relations use it; None if every row counts as a person of its own."""
        return None if self.person is None else self.rows

    def to_dict(self) -> dict[str, Any]:
        """Return what an account is opened under; rules, questions and version may change later."""
        return {
            "columns": {name: domain.to_dict() for name, domain in self.columns.items()},
            "unit": {"person": self.person, "max_rows": self.rows},
            "key": self.key,
            "public": self.public,
            "adjacency": self.adjacency,
            # What was added later is there if it is used, so that older accounts keep their text.
            **({} if self.about_rows is None else {"rows": self.about_rows}),
        }

    def rules_to_dict(self) -> dict[str, Any] | Literal["any"]:
        """Return the rules as the ledger keeps them."""
        return "any" if self.any_rule else {name: rule.to_dict() for name, rule in self.rules.items()}

    def digest(self, declared: Mapping[str, Any] | None = None) -> str:
        """Return the digest of name, version and declaration that identifies the dataset in fingerprints.

        ``declared`` is what ``to_dict`` of an earlier declaration of the same table returned.
        """
        return digest([self.name, self.version, self.to_dict() if declared is None else dict(declared)])


def _read_columns(columns: Mapping[str, Domain]) -> Mapping[str, Domain]:
    if not isinstance(columns, Mapping) or not columns:
        raise InputError(
            "declares no columns",
            field="columns",
            next_step='Declare them, as in {"age": am.Interval(0, 120)}.',
        )
    taken = set(ADDED)
    for name in columns:
        unfit = not isinstance(name, str) or not name or "`" in name or "\0" in name or not is_text(name)
        if unfit or name.lower() in taken:
            raise InputError(
                f"cannot declare a column called {name!r}",
                field="columns",
                next_step="Rename the column; to some engines, capital and small letters are the same.",
            )
        taken.add(name.lower())
    return MappingProxyType(
        {name: read_domain(item, field=f"columns.{name}") for name, item in columns.items()}
    )


def _read_rules(
    rules: Mapping[str, Rule] | Literal["any"], columns: Mapping[str, Domain]
) -> Mapping[str, Rule]:
    if rules == "any":
        return MappingProxyType({})
    if not isinstance(rules, Mapping):
        raise InputError(
            'must be a mapping of names to rules, or "any"',
            field="rules",
            next_step='As in {"adults": am.Policy(…)}.',
        )
    for name in rules:
        if not isinstance(name, str) or not name or not is_text(name):
            raise InputError(
                f"cannot name a rule {name!r}", field="rules", next_step="Name it by a text such as adults."
            )
    return MappingProxyType(
        {
            name: read_rule(rule, field=f"rules.{name}").resolve(columns, field=f"rules.{name}")
            for name, rule in rules.items()
        }
    )


def _read_name(name: str | None, field: str) -> str | None:
    if name is not None and (not isinstance(name, str) or not name):
        raise InputError("must be a column's name", field=field, next_step="Give the name as text.")
    return name


def _read_questions(questions: Sequence[str]) -> tuple[str, ...]:
    listed = isinstance(questions, list | tuple)
    if not listed or not all(isinstance(name, str) and name and is_text(name) for name in questions):
        raise InputError(
            "must be a list of names of questions",
            field="questions",
            next_step='Name those of other packages that may be asked, as in ["proportion"].',
        )
    return tuple(dict.fromkeys(questions))


def _read_rows(rows: int | None) -> int | None:
    fits = isinstance(rows, int) and not isinstance(rows, bool) and 1 <= rows <= LARGEST_TABLE
    if rows is not None and not fits:
        raise InputError(
            f"must be a whole number from 1 to {LARGEST_TABLE:,}",
            field="rows",
            next_step="Say about how many rows the table has if anybody may know it, or leave it out.",
        )
    return rows


def _read_unit(person: str | None, max_rows: int | None) -> int:
    if person is None and max_rows is not None:
        raise InputError(
            "is given without person",
            field="max_rows",
            next_step="Name the column that identifies the person: person=.",
        )
    fits = isinstance(max_rows, int) and not isinstance(max_rows, bool) and 1 <= max_rows <= MOST_ROWS
    if person is not None and not fits:
        raise InputError(
            f"must be a whole number from 1 to {MOST_ROWS:,} when person is given",
            field="max_rows",
            next_step="Give the most rows of one person that count; the noise grows with it.",
        )
    return max_rows or 1
