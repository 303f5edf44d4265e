# SPDX-License-Identifier: Apache-2.0
"""Where ledger and table of an account lie, and the question that is asked there while things fail."""

from __future__ import annotations

import gc
import sqlite3
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from anonymaly.ask.catalogue import load
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Domain, Interval, Opaque
from anonymaly.questions.count.query import Count

Backend = Literal["sqlite", "postgres"]
TableSource = Literal["memory", "csv", "parquet", "duckdb", "postgres"]
PARTS = ("ledger", "anchor", "answers", "source", "temporary")

# Values that are in one row and nowhere else, as they are written and as they lie in memory.
NAME, NUMBER = "Zwiebelfisch-8841", 73918.25
CANARIES = (NAME.encode(), str(NUMBER).encode(), struct.pack("<d", NUMBER))
_ROWS: Mapping[str, list[Any]] = {
    "name": [*(f"N{place}" for place in range(19)), NAME],
    "income": [*(1000.0 * place for place in range(19)), NUMBER],
    "age": [*range(20, 39), 47],
}
_COLUMNS: Mapping[str, Domain] = {"name": Opaque(), "income": Interval(0, 100_000), "age": Interval(0, 120)}


@dataclass(frozen=True)
class AskSetting:
    """An account of one question.

    Parameters
    ----------
    ledger : {"sqlite", "postgres"}
        Where the charge is kept.
    source : str
        Where the table lies.
    question : str, optional
        A question of the table of questions, asked on its own example in memory; by default a count.
    form : int
        Which of the question's examples.
    ledger_address, source_address : str, optional
        Addresses of PostgreSQL databases of our own: everything in them is removed.
    """

    ledger: Backend = "sqlite"
    source: TableSource = "memory"
    question: str | None = None
    form: int = 0
    ledger_address: str | None = None
    source_address: str | None = None

    @property
    def name(self) -> str:
        """What it is called in a report."""
        if self.question is None:
            return f"{self.ledger}+{self.source}"
        return f"{self.question}.{self.form}" if self.form else self.question

    @property
    def query(self) -> Query:
        """The question."""
        if self.question is None:
            return Count(where="income >= 5000", epsilon="0.1")
        query: Query = load(self.question).examples()[self.form].query
        return query

    def location(self, folder: Path) -> str | Path:
        """Return where the ledger lies."""
        return self.ledger_address if self.ledger_address else folder / "ledger" / "people.ledger"

    def prepare(self, folder: Path, *, neighbour: bool = False) -> None:
        """Fill an empty folder, and empty the databases; the neighbour lacks the row of the canaries."""
        if self.source == "duckdb":
            gc.collect()  # DuckDB keeps a file open as long as an error holds a connection to it
        for part in PARTS:
            (folder / part).mkdir(mode=0o700)
        if self.ledger_address is not None:
            emptied(self.ledger_address)
        if self.question is None and self.source not in ("memory", "postgres"):
            _WRITERS[self.source](pa.table(self._rows(neighbour)), str(self._path(folder)))
        if self.question is None and self.source_address is not None:
            values = ", ".join(map(str, zip(*self._rows(neighbour).values(), strict=True)))
            _in_postgres(
                self.source_address,
                "DROP TABLE IF EXISTS people",
                "CREATE TABLE people (name text, income double precision, age integer)",
                f"INSERT INTO people VALUES {values}",  # noqa: S608 - our own rows
            )

    def open(self, folder: Path, *, neighbour: bool = False) -> Curator:
        """Return a curator of the account, in a folder that is prepared."""
        return Curator(
            self._dataset(folder, neighbour),
            budget=1 if self.question is None else 100,
            ledger=self.location(folder),
            anchor=folder / "anchor" / "people.anchor",
            store=folder / "answers",
            secret=folder / "ledger" / "people.secret",
        )

    def reservations(self, folder: Path) -> tuple[int, list[tuple[str, str, int]]]:
        """Return what is spent, and the key, state and cost of each charge, read by no code of the ledger's.

        Before there is a ledger, nothing is.
        """
        if self.ledger_address is None:
            path = folder / "ledger" / "people.ledger"
            if not path.exists():
                return 0, []
            connection = _connect(f"file:{path}?mode=ro", uri=True)
            try:
                return _sums(lambda text: connection.execute(text).fetchall())
            except sqlite3.DatabaseError:  # no ledger, and whoever opens it will say so
                return 0, []
            finally:
                connection.close()
        with _psycopg().connect(self.ledger_address) as server:
            if server.execute("SELECT to_regclass('ledger_head')").fetchone() == (None,):
                return 0, []
            return _sums(lambda text: server.execute(text).fetchall())

    def ledger_texts(self, folder: Path) -> bytes:
        """Return all that the ledger's tables hold, if they are not in a file of the folder."""
        if self.ledger_address is None:
            return b""
        with _psycopg().connect(self.ledger_address) as server:
            names = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            tables = [server.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names]  # noqa: S608
        return str(tables).encode()

    def _dataset(self, folder: Path, neighbour: bool) -> Dataset:
        if self.question is not None:
            example = load(self.question).examples()[self.form]
            cut = {name: values[:-1] for name, values in example.records.items()}
            dataset: Dataset = example.dataset(cut if neighbour else None, name="people")
            return dataset
        table = {"duckdb": "people", "postgres": "people"}.get(self.source)
        source: Any = pa.table(self._rows(neighbour)) if self.source == "memory" else self._path(folder)
        return Dataset(source, name="people", columns=_COLUMNS, table=table)

    def _rows(self, neighbour: bool) -> Mapping[str, list[Any]]:
        return {name: values[:-1] if neighbour else values for name, values in _ROWS.items()}

    def _path(self, folder: Path) -> str | Path:
        return self.source_address or folder / "source" / f"people.{self.source}"


def settings_of_all_questions() -> tuple[AskSetting, ...]:
    """Return a setting for each question in each of its forms, in memory."""
    from anonymaly.ask.catalogue import QUESTIONS  # noqa: PLC0415

    return tuple(
        replace(AskSetting(), question=question, form=form)
        for question in QUESTIONS
        for form in range(len(load(question).examples()))
    )


def _write_duckdb(table: pa.Table, path: str) -> None:
    with duckdb.connect(path) as connection:
        connection.register("rows", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")


_WRITERS: Mapping[str, Callable[[pa.Table, str], None]] = {
    "csv": pyarrow.csv.write_csv,
    "parquet": pq.write_table,
    "duckdb": _write_duckdb,
}


def _psycopg() -> Any:
    import psycopg  # noqa: PLC0415  (an extra)

    return psycopg


def emptied(address: str) -> str:
    """Remove everything from a PostgreSQL database of our own, and return its address."""
    _in_postgres(address, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return address


def _in_postgres(address: str, *statements: str) -> None:
    with _psycopg().connect(address) as connection:
        for statement in statements:
            connection.execute(statement)


def _sums(rows: Callable[[str], list[Any]]) -> tuple[int, list[tuple[str, str, int]]]:
    spent = sum(row[0] for row in rows("SELECT spent FROM ledger_accounts"))
    return spent, [tuple(row) for row in rows("SELECT key, state, cost FROM ledger_reservations")]


_connect = sqlite3.connect
