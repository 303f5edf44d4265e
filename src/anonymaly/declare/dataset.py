# SPDX-License-Identifier: Apache-2.0
"""A table somewhere plus its public declaration."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import ibis

from anonymaly.core.rate import Adjacency as Adjacency  # noqa: PLC0414 - part of this module too
from anonymaly.core.value import digest, is_text
from anonymaly.declare.domain import (
    Categories,
    Domain,
    Flag,
    Interval,
    Opaque,
    Timestamps,
    Unbounded,
    read_domain,
)
from anonymaly.declare.rules import Policy, Rule, read_rule
from anonymaly.engine.source import Source
from anonymaly.engine.spelling import is_plain, spelled
from anonymaly.errors import InputError, SchemaError

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

MOST_ROWS = 1_000_000  # of one person; noise that wide drowns any answer
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Declaration:
    """Everything about a dataset that is public, and all that a question may depend on before its charge."""

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

    @property
    def unit_rows(self) -> int | None:
        """What a relation is told of the unit: the rows of a person, or None where each row is by itself."""
        return None if self.person is None else self.rows

    def to_dict(self) -> dict[str, Any]:
        """Return what an account is opened under; rules and version are kept apart, as they may change."""
        return {
            "columns": {name: domain.to_dict() for name, domain in self.columns.items()},
            "unit": {"person": self.person, "max_rows": self.rows},
            "key": self.key,
            "public": self.public,
            "adjacency": self.adjacency,
        }

    def rules_to_dict(self) -> dict[str, Any] | Literal["any"]:
        """Return the rules as the ledger keeps them."""
        return "any" if self.any_rule else {name: rule.to_dict() for name, rule in self.rules.items()}

    def digest(self) -> str:
        """Return what a fingerprint says of the dataset: name, version, domain."""
        return digest([self.name, self.version, self.to_dict()])


@dataclass(frozen=True)
class ColumnCheck:
    """One line of a check: what was declared, what the engine has, and what is wrong, if anything."""

    column: str
    declared: str
    found: str | None
    problem: str | None


class Dataset:
    """A table of records about people, with what is public about it.

    Parameters
    ----------
    source : path, frame, Ibis table or database URL
        CSV or Parquet path (globs too), pandas, polars or pyarrow table, Ibis table, DuckDB file or
        database URL (both with ``table``).
    name : str
        The account's name: one budget, whatever the version.
    columns : mapping
        The declared columns; questions see no others.
    version : str
        Which state of the table this is. It changes fingerprints, never the budget.
    table : str, optional
        The table inside a database.
    key : str, optional
        A column by which the owner picks out rows.
    rules : mapping or "any"
        Named relaxed promises that questions may cite. ``"any"`` is for an owner alone with the data.
    person, max_rows : str and int, optional
        The column that says whose row it is, and the most rows a person has; more are cut off.
        Without it every row is its own person.
    public : bool
        Whether the table may be simulated on and inspected by anyone.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> patients = am.Dataset(pandas.DataFrame({"age": [30, 40]}), name="patients",
    ...                       columns={"age": am.Interval(0, 120)})
    >>> patients
    Dataset('patients', version='1', columns=['age'])
    """

    def __init__(
        self,
        source: Any,
        *,
        name: str,
        columns: Mapping[str, Domain],
        version: str = "1",
        table: str | None = None,
        key: str | None = None,
        rules: Mapping[str, Rule] | Literal["any"] = MappingProxyType({}),
        person: str | None = None,
        max_rows: int | None = None,
        public: bool = False,
    ) -> None:
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
        declared = _read_columns(columns)
        self.declaration = Declaration(
            name=name,
            version=str(version),
            columns=declared,
            rules=_read_rules(rules, declared),
            any_rule=rules == "any",
            key=_read_name(key, "key"),
            person=_read_name(person, "person"),
            rows=_read_unit(person, max_rows),
            public=public,
        )
        needed = [*declared, *([key] if key else []), *([person] if person else [])]
        self._source = Source(source, table, needed)

    @property
    def name(self) -> str:
        """The account's name."""
        return self.declaration.name

    @property
    def public(self) -> bool:
        """Whether the table holds no secrets."""
        return self.declaration.public

    @property
    def table(self) -> ir.Table:
        """The only view questions get: declared columns, at most ``max_rows`` rows a person, no NaN."""
        view = self._view()
        if self.declaration.person is None:
            return view
        return _truncate(view, self._columns, self.declaration.rows)

    def judged(self, policy: Policy) -> ir.Table:
        """Return the same view with a column `NON_SENSITIVE`, which says whom a policy calls so.

        A person is sensitive if any of their rows is, those that are cut off among them.
        """
        view = self._view()
        verdict = policy.non_sensitive(view, self._columns)
        if self.declaration.person is None:
            return view.mutate(**{NON_SENSITIVE: verdict})
        rows = view.mutate(**{NON_SENSITIVE: verdict})
        whole = rows[NON_SENSITIVE].all().over(ibis.window(group_by=_PERSON))
        # Rows without a person are people of their own.
        own = ibis.ifelse(rows[_PERSON].isnull(), rows[NON_SENSITIVE], whole)
        return _truncate(
            rows.mutate(**{NON_SENSITIVE: own}), self._columns, self.declaration.rows, NON_SENSITIVE
        )

    def _view(self) -> ir.Table:
        raw = self._checked()
        return raw.select(
            **{name: self._read(raw[name], name, domain) for name, domain in self._columns.items()},
            **({_PERSON: _without_nan(raw[self.declaration.person])} if self.declaration.person else {}),
        )

    def check(self) -> Sequence[ColumnCheck]:
        """Compare declaration and table, column by column; reads names and types, no rows."""
        schema = self._source.table().schema()
        found = {name: schema[name] for name in schema.names}
        lines = [
            ColumnCheck(name, domain.describe(), self._type(found, name), self._problem(found, name, domain))
            for name, domain in self._columns.items()
        ]
        for role, name in (("key", self.declaration.key), ("person", self.declaration.person)):
            if name is not None and name not in self._columns:
                missing = None if name in found else "is not in the table"
                lines.append(ColumnCheck(name, role, self._type(found, name), missing))
        return lines

    def with_adjacency(self, adjacency: Adjacency) -> Declaration:
        """Return the declaration as an account in this adjacency sees it."""
        if adjacency not in ("add_remove", "replace"):
            raise InputError(
                "must be add_remove or replace",
                field="adjacency",
                next_step="add_remove hides whether a person is in the table; replace hides their values.",
            )
        return replace(self.declaration, adjacency=adjacency)

    def __repr__(self) -> str:
        rules = f", rules={list(self.declaration.rules)}" if self.declaration.rules else ""
        version = self.declaration.version
        return f"Dataset({self.name!r}, version={version!r}, columns={list(self._columns)}{rules})"

    @property
    def _columns(self) -> Mapping[str, Domain]:
        return self.declaration.columns

    def _checked(self) -> ir.Table:
        """Return the engine's table once its names and types are known to fit."""
        for line in self.check():
            if line.problem is not None:
                raise SchemaError(
                    f"{line.problem} (declared: {line.declared})",
                    field=f"columns.{line.column}" if line.column in self._columns else line.declared,
                    next_step=f"Mend the declaration of {self.name}; `anonymaly check` lists all columns.",
                )
        return self._source.table()

    def _problem(self, found: Mapping[str, dt.DataType], name: str, domain: Domain) -> str | None:
        if name not in found:
            return "is not in the table"
        fits = self._source.untyped or name in self._source.loose or _fits(found[name], domain)
        return None if fits else f"the table has {found[name]}, which does not fit"

    def _type(self, found: Mapping[str, dt.DataType], name: str) -> str | None:
        # What a loose column's values happen to be is a fact about the rows.
        return self._source.loose.get(name, str(found[name])) if name in found else None

    def _read(self, column: ir.Value, name: str, domain: Domain) -> ir.Value:
        loose = name in self._source.loose and not _fits(column.type(), domain)
        return _read_as(column.cast("string") if loose else column, domain, self._source.is_file)


NON_SENSITIVE = "__non_sensitive__"
_PERSON = "__person__"
_PLACE = "__place__"
_LONGEST_EXACT = 2**53  # floats beyond it are not single whole numbers


def _read_columns(columns: Mapping[str, Domain]) -> Mapping[str, Domain]:
    if not isinstance(columns, Mapping) or not columns:
        raise InputError(
            "declares no columns",
            field="columns",
            next_step='Declare them, as in {"age": am.Interval(0, 120)}.',
        )
    taken = {_PERSON, _PLACE, NON_SENSITIVE}
    for name in columns:
        unfit = not isinstance(name, str) or not name or "`" in name or "\0" in name or not is_text(name)
        if unfit or name.lower() in taken:
            raise InputError(
                f"cannot declare a column called {name!r}",
                field="columns",
                next_step="Rename the column; some engines do not tell capitals from small letters.",
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


def _read_unit(person: str | None, max_rows: int | None) -> int:
    if person is None and max_rows is not None:
        raise InputError(
            "is given without person",
            field="max_rows",
            next_step="Name the column that says whose row it is: person=.",
        )
    fits = isinstance(max_rows, int) and not isinstance(max_rows, bool) and 1 <= max_rows <= MOST_ROWS
    if person is not None and not fits:
        raise InputError(
            f"must be a whole number from 1 to {MOST_ROWS:,} when person is given",
            field="max_rows",
            next_step="Say how many rows of one person count; the noise grows with it.",
        )
    return max_rows or 1


def _fits(kind: dt.DataType, domain: Domain) -> bool:
    # A column of nothing but nulls may have no type, and that must not be an error: it is a fact about rows.
    if kind.is_null():
        return True
    match domain:
        case Interval() | Unbounded():
            return bool(kind.is_numeric() and not kind.is_boolean())
        case Categories():
            # pandas turns whole numbers into floats as soon as one of them is missing.
            return bool(kind.is_string() if domain.of_text else kind.is_integer() or kind.is_floating())
        case Flag():
            return bool(kind.is_boolean())
        case Timestamps():
            return bool(kind.is_date() or (kind.is_timestamp() and getattr(kind, "timezone", None) is None))
        case _:
            return True


def _without_nan(column: ir.Value) -> ir.Value:
    """Map what is not a finite number to null, so that no comparison or sum meets it."""
    if not column.type().is_floating():
        return column
    # NaN is above all numbers to some engines and incomparable to others, so between no two of them.
    return _between(column, -sys.float_info.max, sys.float_info.max)


def _read_as(column: ir.Value, domain: Domain, from_file: bool) -> ir.Value:
    """Give a column the type of its domain; what does not read as it becomes null, never an error."""
    match domain:
        case Interval() | Unbounded():
            # As floats whatever the source: pandas makes whole numbers floats as soon as one is missing, and
            # one row must not change how the others compare.
            return _without_nan(_to_float(column))
        case Categories():
            return spelled(column, from_file=from_file) if domain.of_text else _to_whole(column)
        case Flag():
            return _cast(column, "boolean")
        case Timestamps():
            return _to_moment(column)
        case _:
            plain = is_plain(column.type())
            return _without_nan(column) if plain else spelled(column, from_file=from_file)


def _forgives(column: ir.Value) -> bool:
    """Whether the engine can cast to null all that does not fit; elsewhere it is kept from the cast."""
    return bool(column.get_backend().name == "duckdb")  # on PostgreSQL Ibis tries by a plain cast


def _cast(column: ir.Value, kind: str) -> ir.Value:
    return column.try_cast(kind) if _forgives(column) else column.cast(kind)


def _only(column: ir.Value, condition: ir.BooleanValue) -> ir.Value:
    return ibis.cases((condition, column), else_=ibis.null(column.type()))


def _between(column: ir.Value, low: Any, high: Any) -> ir.Value:
    return _only(column, column.between(low, high))


def _to_float(column: ir.Value) -> ir.Value:
    if column.type().is_decimal() and not _forgives(column):
        # PostgreSQL's numeric holds NaN and numbers that no float can, too large or too near to 0.
        largest = ibis.literal(Decimal(10) ** 37, type="decimal(38, 0)")
        least = ibis.literal("1e-300").cast("decimal")
        near = column.abs() < least
        return ibis.cases((near, 0.0), else_=_between(column, -largest, largest).cast("float64"))
    return column if column.type().is_float64() else _cast(column, "float64")


def _to_whole(column: ir.Value) -> ir.Value:
    if column.type().is_integer():
        return column if column.type().is_int64() else _cast(column, "int64")
    # Engines round on casting, and 1.5 is not the category 2.
    number = _to_float(column)
    small = _between(number, float(-_LONGEST_EXACT), float(_LONGEST_EXACT))  # without NaN, the largest number
    whole = small == small.floor()
    if column.type().is_string():
        return _only(_cast(column, "int64"), whole | (number.abs() > _LONGEST_EXACT))
    return _only(small, whole).cast("int64")


def _to_moment(column: ir.Value) -> ir.Value:
    """Give a column the type of a timestamp; infinity and years beyond the calendar become null."""
    if _forgives(column):
        return _between(_cast(column, "timestamp(6)"), datetime.min, datetime.max)
    limits = (date.min, date.max) if column.type().is_date() else (datetime.min, datetime.max)
    return _between(column, *limits).cast("timestamp(6)")


def _truncate(view: ir.Table, columns: Mapping[str, Domain], rows: int, *further: str) -> ir.Table:
    """Keep at most ``rows`` rows of each person, chosen by their content alone.

    Ordering by all columns makes the choice a function of the person's own rows, so that adding or
    removing a person changes nobody else's. Rows without a person are people of their own.
    """
    # Opaque columns as text, which they are in a text file: the same rows are kept wherever the table lives.
    order = [
        view[name].cast("string") if isinstance(domain, Opaque) else view[name]
        for name, domain in columns.items()
    ]
    window = ibis.window(group_by=_PERSON, order_by=order)
    numbered = view.mutate(**{_PLACE: ibis.row_number().over(window)})
    kept = numbered.filter(numbered[_PERSON].isnull() | (numbered[_PLACE] < rows))
    return kept.select(*columns, *further)
