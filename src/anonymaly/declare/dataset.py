# SPDX-License-Identifier: Apache-2.0
"""A dataset: a table in some source, with its public declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from anonymaly.core.rate import Adjacency
from anonymaly.core.suggestions import guess
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain
from anonymaly.declare.publication import Publication, WholePersons
from anonymaly.declare.rules import Policy, Rule
from anonymaly.engine import lookup
from anonymaly.engine.encodings import read_text_file
from anonymaly.engine.limits import read_limits
from anonymaly.engine.places.accept import same_wherever
from anonymaly.engine.reading import Reading
from anonymaly.engine.source import Source
from anonymaly.engine.statements import EngineFailure, Probe
from anonymaly.errors import InputError, SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir


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
        CSV or Parquet path (globs and folders too), Delta or Iceberg table, pandas, polars, pyarrow or Spark
        frame, Ibis table; DuckDB file, database URL or Spark session (these three with ``table``).
    name : str
        The account's name: one budget, whatever the version.
    columns : mapping
        The declared columns by name; questions see no others.
    version : str
        Which state of the table this is. It changes fingerprints, never the budget.
    table : str, optional
        The table inside a database; ``schema.table`` in another schema.
    key : str, optional
        A column by which the owner picks out rows.
    rules : mapping or "any"
        Named relaxed promises that questions may cite. ``"any"`` is for an owner alone with the data.
    person, max_rows : str and int, optional
        The column that identifies the person, and the most rows that a person has; further rows are cut
        off. Without it, every row counts as a person of its own.
    public : bool
        Whether the table holds no secrets: anyone may simulate on it and inspect it.
    questions : list of str, optional
        Questions of other packages that may be asked, by name. Nothing here proves their promises.
    line_breaks : bool
        Whether values in quotes may hold line breaks, in a CSV file. Otherwise each line is one record. With
        them, one open quote changes how all lines after it are read, and no noise hides that.
    reading : Reading, optional
        How the table's values are written, for every column that does not say it itself.
    file : mapping, optional
        How the bytes of a text file become lines and fields: ``encoding`` (utf-8, latin-1, windows-1252 or
        utf-16) and ``delimiter``.
    rows : int, optional
        About how many rows the table has, if that is public. It is part of the declaration.
    memory : str, optional
        How much memory the embedded engine may take, as ``"4GB"``; beyond it, it writes to a private folder.
    threads : int, optional
        How many cores it may use.
    stand_in : path, frame or Ibis table, optional
        A public table with the same columns, for rehearsals; without one, rows are invented for them.

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
        questions: Sequence[str] = (),
        line_breaks: bool = False,
        reading: Reading | None = None,
        file: Mapping[str, str] | None = None,
        rows: int | None = None,
        memory: str | None = None,
        threads: int | None = None,
        stand_in: Any = None,
    ) -> None:
        self.stand_in = same_wherever(stand_in)  # rehearsals open it, from whatever folder
        self.declaration = Declaration.read(
            name=name,
            columns=columns,
            version=version,
            key=key,
            rules=rules,
            person=person,
            max_rows=max_rows,
            public=public,
            questions=questions,
            reading=reading,
            rows=rows,
        )
        needed = [*self._columns, *(role for role in (key, person) if role is not None)]
        if not isinstance(line_breaks, bool):
            raise InputError(
                "must be True or False",
                field="line_breaks",
                next_step="Say True only of a CSV file whose values in quotes hold line breaks.",
            )
        written = read_text_file(file, field="file")  # refuses what is no mapping
        self._line_breaks = line_breaks
        self._file = dict(file or {})
        self._probe = Probe()
        self._source = Source(
            source,
            table,
            needed,
            line_breaks=line_breaks,
            file=written,
            opaque=[name for name, domain in self._columns.items() if domain.kind == "opaque"],
            limits=read_limits(memory, threads),
        )

    @property
    def name(self) -> str:
        """The account's name."""
        return self.declaration.name

    @property
    def public(self) -> bool:
        """Whether the table holds no secrets."""
        return self.declaration.public

    @property
    def line_breaks(self) -> bool | None:
        """Whether values in quotes may hold line breaks; None if the source is no text file."""
        return self._line_breaks if self._source.is_text else None

    @property
    def files(self) -> Mapping[str, Any]:
        """How a text file of these columns is written, as the arguments of another dataset."""
        return {"file": self._file, "line_breaks": self._line_breaks} if self._source.is_text else {}

    @property
    def table(self) -> ir.Table:
        """The only view that questions get: declared columns, at most ``max_rows`` per person, no NaN."""
        from anonymaly.declare.readings import people  # noqa: PLC0415  (Ibis, when a question reads)

        typed = self._typed()
        return people(typed, self.declaration, lookup.of(typed))

    def judged(self, policy: Policy | Publication) -> ir.Table:
        """Return the same view with a column that is true for whoever a policy calls non-sensitive."""
        from anonymaly.declare.readings import judged_people  # noqa: PLC0415

        typed = self._typed()
        return judged_people(typed, self.declaration, policy, lookup.of(typed))

    def whole(self, policy: Policy | Publication | None) -> ir.Table:
        """Return all rows of each person, with whose row each is, judged by a policy if there is one."""
        from anonymaly.declare.readings import whole_people  # noqa: PLC0415

        typed = self._typed()
        return whole_people(typed, self.declaration, policy, lookup.of(typed))

    def view(self, policy: Policy | Publication | WholePersons | None) -> ir.Table:
        """Return the view for a question: judged by a policy if it needs one."""
        if isinstance(policy, WholePersons):
            return self.whole(policy.judged)
        return self.table if policy is None else self.judged(policy)

    def looked(self) -> ir.Table:
        """Return all rows as they are read, with what is written in each column: for the owner alone."""
        from anonymaly.declare.readings import with_others  # noqa: PLC0415

        self._refuse_misfits()
        declared = self.declaration
        return with_others(self._source.looked(declared.kinds, declared.person, declared.readings), declared)

    def lines(self) -> ir.Table | None:
        """Return how many values each line of a text file has; None where a line is no record."""
        return self._source.lines()

    def lines_not_utf_8(self) -> int:
        """Return how many lines of a text file are no records because they are not in UTF-8."""
        return self._source.lines_not_utf_8()

    def check(self) -> Sequence[ColumnCheck]:
        """Compare declaration and table, column by column; reads names and types, no rows."""
        source = self._source
        lines = [
            ColumnCheck(name, domain.describe(), source.type_of(name), self._problem(name, domain))
            for name, domain in self._columns.items()
        ]
        for role, name in (("key", self.declaration.key), ("person", self.declaration.person)):
            if name is not None and name not in self._columns:
                lines.append(ColumnCheck(name, role, source.type_of(name), source.problem(name, "opaque")))
        return lines

    def undeclared(self) -> list[str]:
        """Return the names of the table's columns that are declared as nothing: for the owner."""
        declared = {*self._columns, self.declaration.key, self.declaration.person}
        return [name for name in self._source.table().schema().names if name not in declared]

    def ready(self, policy: Policy | Publication | WholePersons | None = None) -> ir.Table:
        """Return the view for a question, once connection, permission and columns are checked; reads no rows.

        A lost connection is opened again, and so are files, and versions of a table, that are others now.
        What is still wrong is reported before anything is charged.
        """
        self._source.renew()
        for _ in range(2):
            view = self.view(policy)
            try:
                # Engines check names, types and permissions of the whole statement, and then read nothing.
                self._probe.check(view)
            except EngineFailure as failure:
                kind = failure.kind
            else:
                return view
            self._source.reopen()
        problem, advice = lookup.of(view).why_unreadable(kind)
        # Raised outside the handler, so that not even the error's context holds the engine's own words.
        raise SchemaError(problem, field="source", next_step=advice)

    def with_adjacency(self, adjacency: Adjacency) -> Declaration:
        """Return the declaration as an account in this adjacency sees it."""
        return self.declaration.with_adjacency(adjacency)

    def __repr__(self) -> str:
        rules = f", rules={list(self.declaration.rules)}" if self.declaration.rules else ""
        version = self.declaration.version
        return f"Dataset({self.name!r}, version={version!r}, columns={list(self._columns)}{rules})"

    def _repr_html_(self) -> str:
        from anonymaly.declare.dataset_page import dataset_html  # noqa: PLC0415  (only notebooks)

        return dataset_html(self)

    @property
    def _columns(self) -> Mapping[str, Domain]:
        return self.declaration.columns

    def _typed(self) -> ir.Table:
        """Return all rows in their declared types, once the table's names and types are known to fit."""
        from anonymaly.declare.readings import with_others  # noqa: PLC0415

        self._refuse_misfits()
        declared = self.declaration
        return with_others(self._source.typed(declared.kinds, declared.person, declared.readings), declared)

    def _refuse_misfits(self) -> None:
        for line in self.check():
            if line.problem is not None:
                raise SchemaError(
                    f"{line.problem} (declared: {line.declared})",
                    field=f"columns.{line.column}" if line.column in self._columns else line.declared,
                    next_step=f"{self._guess(line.column)}Correct the declaration of {self.name}; `anonymaly "
                    "check` compares all of it with the table.",
                )

    def _guess(self, column: str) -> str:
        names = self._source.table().schema().names
        return "" if column in names else guess(column, names)

    def _problem(self, name: str, domain: Domain) -> str | None:
        return self._source.problem(name, domain.kind, domain.reading)
