# SPDX-License-Identifier: Apache-2.0
"""What web processes and workers share besides ledgers: keys, sessions, ready tables, and jobs.

A web process may be broken into. In PostgreSQL its role reads these tables without the keys' proofs and
without what jobs ask, adds jobs that wait, and changes nothing (``web_grants``); in SQLite, on one host, only
its own code keeps it from more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from anonymaly.core.extras import require
from anonymaly.errors import InputError
from anonymaly.ledger.definitions import tables as ledger_tables

SCHEMA = 1
PATIENCE_SECONDS = 30
THREADS = 40  # of a web process, as anyio has them
_BEGINNING = 0x616E6F6E  # the lock of whoever makes the tables
LARGEST_PAYLOAD = 16 * 2**20  # characters: four times the largest request, which JSON may spell out

_metadata = sa.MetaData()
facts = sa.Table(
    "server_facts", _metadata, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text)
)
keys = sa.Table(
    "server_keys",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),  # the public part of the key
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),  # by which a web process knows the key
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("expires_at", sa.Double),
    sa.Column("revoked_at", sa.Double),
)
# By which a worker knows that whoever holds the key asked: a table of its own, for workers alone.
proofs = sa.Table(
    "server_proofs",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("proof", sa.Text, nullable=False),
)
uses = sa.Table(  # of keys; the only thing that a web process writes anew
    "server_uses",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("used_at", sa.Double, nullable=False),
)
# Of the console, by web processes: a person's key, sealed with what only the person's browser has.
sessions = sa.Table(
    "server_sessions",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("key_id", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("sealed", sa.Text, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("used_at", sa.Double, nullable=False),
    sa.CheckConstraint(
        "length(id) <= 64 AND length(key_id) <= 64 AND length(role) <= 20 AND length(sealed) <= 400",
        name="server_sessions_size",
    ),
    sa.Index("server_sessions_used", "used_at"),
)
# Of the console, too: what somebody wants found, their own records among it, sealed as sessions are.
finds = sa.Table(
    "server_finds",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session", sa.Text, nullable=False),  # it goes with its session
    sa.Column("sealed", sa.Text, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.CheckConstraint(
        f"length(id) <= 64 AND length(session) <= 64 AND length(sealed) <= {LARGEST_PAYLOAD}",
        name="server_finds_size",
    ),
    sa.Index("server_finds_of_session", "session", "created_at"),
)
# Tokens of a provider that were used, each with the key that it made: for workers alone.
logins = sa.Table(
    "server_logins",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),  # a digest of the token
    sa.Column("key_id", sa.Text, nullable=False, unique=True),
    sa.Column("until", sa.Double, nullable=False),  # the end of the key
)
tables = sa.Table(  # published by workers
    "server_tables",
    _metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("public", sa.Text, nullable=False),  # JSON: declaration, ledger, slots; see `published`
    sa.Column("ready_at", sa.Double),  # renewed while a worker could read the table
)
workers = sa.Table(  # each says every few seconds that it lives
    "server_workers",
    _metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("tables", sa.Text, nullable=False),  # JSON: the names of those that it is to answer for
    sa.Column("seen_at", sa.Double, nullable=False),
)
counts = sa.Table(  # of requests; written by web processes, and nothing rests on it
    "server_counts",
    _metadata,
    sa.Column("method", sa.Text, primary_key=True),
    sa.Column("route", sa.Text, primary_key=True),  # the template, never a path
    sa.Column("status", sa.Integer, primary_key=True),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.CheckConstraint("length(method) <= 10 AND length(route) <= 200", name="server_counts_size"),
)
jobs = sa.Table(
    "server_jobs",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("table_name", sa.Text),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("key_id", sa.Text, nullable=False),
    sa.Column("idempotency", sa.Text),  # a digest
    sa.Column("request", sa.Text),  # a digest under the idempotency key
    sa.Column("payload", sa.Text),  # removed when the job ends: a question may hold personal fields
    sa.Column("proof", sa.Text, nullable=False),
    sa.Column("asks", sa.Text, nullable=False),  # what is asked, without personal fields
    sa.Column("slot", sa.Double, nullable=False),  # seconds: what it ends in shows at moments by this
    # Not said by whoever adds a job: every job waits at first.
    sa.Column("state", sa.Text, nullable=False, server_default="waiting"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("claimed_by", sa.Text),
    sa.Column("claimed_at", sa.Double),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("ended_at", sa.Double),
    sa.Column("result", sa.Text),  # JSON: an answer without a large value, or a problem
    sa.CheckConstraint(
        "state IN ('waiting', 'running', 'done', 'refused', 'failed')", name="server_jobs_state"
    ),
    sa.CheckConstraint(
        "(state IN ('waiting', 'running')) = (payload IS NOT NULL)", name="server_jobs_payload"
    ),
    # A web process that was broken into may add jobs: none that others could choke on.
    sa.CheckConstraint(
        "length(id) <= 64 AND length(kind) <= 20 AND length(table_name) <= 200 AND length(person) <= 200 AND "
        "length(key_id) <= 64 AND length(idempotency) <= 200 AND length(request) <= 200 AND "
        f"length(proof) <= 200 AND length(payload) <= {LARGEST_PAYLOAD} AND "
        f"length(asks) <= {LARGEST_PAYLOAD} AND "
        # Every web process works out from these when jobs are released. NaN is above all in PostgreSQL.
        "slot >= 0.1 AND slot <= 1e9 AND created_at >= 0 AND created_at <= 1e12",
        name="server_jobs_size",
    ),
    sa.UniqueConstraint("person", "idempotency", name="server_jobs_once"),
    sa.Index("server_jobs_waiting", "state", "created_at"),
    sa.Index("server_jobs_ended", "ended_at"),
    sa.Index("server_jobs_of_person", "person", "table_name", "created_at"),
)
# What an owner wants and the host has not confirmed yet: the signed job itself, held back. Only workers and
# the host write here; web processes read all but the proof.
proposals = sa.Table(
    "server_proposals",
    _metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("job", sa.Text, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("table_name", sa.Text),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("key_id", sa.Text, nullable=False),
    sa.Column("idempotency", sa.Text),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("proof", sa.Text, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="open"),
    sa.Column("ended_at", sa.Double),
    sa.Column("problem", sa.Text),  # why it was refused
    sa.CheckConstraint(
        "state IN ('open', 'confirmed', 'refused', 'declined')", name="server_proposals_state"
    ),
)

# What web processes read of a job: neither what it asks nor its proof.
SHOWN = tuple(column for column in jobs.c if column.name not in ("payload", "proof"))
# Without what it ended in: to read a large answer takes longer, and before its release nobody is to see that.
LOOKED_AT = tuple(column for column in SHOWN if column.name != "result")
_SAID_BY_WORKERS = ("state", "attempts", "claimed_by", "claimed_at", "ended_at", "result")


def web_grants(role: str) -> tuple[str, ...]:
    """Return what the database role of web processes may do; the last is for each ledger's database."""
    shown = ", ".join(column.name for column in SHOWN)
    proposed = ", ".join(column.name for column in proposals.c if column.name != "proof")
    added = ", ".join(column.name for column in jobs.c if column.name not in _SAID_BY_WORKERS)
    return (
        f"GRANT SELECT ON server_facts, server_keys, server_tables, server_workers TO {role}",
        f"GRANT SELECT ({shown}) ON server_jobs TO {role}",
        f"GRANT INSERT ({added}) ON server_jobs TO {role}",
        f"GRANT SELECT ({proposed}) ON server_proposals TO {role}",
        f"GRANT SELECT, INSERT, UPDATE ON server_uses TO {role}",
        f"GRANT SELECT, INSERT, UPDATE ON server_counts TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON server_sessions TO {role}",
        f"GRANT SELECT, INSERT, DELETE ON server_finds TO {role}",
        f"GRANT SELECT ON {', '.join(ledger_tables())} TO {role}",
    )


# What ends with a browser's session: a copy of it would outlive what people had forgotten.
FLEETING = (sessions.name, finds.name)


def table_names() -> list[str]:
    """Return the names of all shared tables."""
    return sorted(_metadata.tables)


class State:
    """The shared tables, in a SQLite file or a PostgreSQL database; safe with threads and processes."""

    def __init__(self, engine: sa.Engine, location: str) -> None:
        self.engine = engine
        self.location = location
        # One clock for all: hosts' differ, and slots are counted from when a job came to when it ended.
        self.now: sa.ColumnElement[float] = (
            sa.literal_column("extract(epoch from clock_timestamp())", sa.Double)
            if engine.dialect.name == "postgresql"
            else sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Double)
        )

    @classmethod
    def open(cls, location: str | Path, *, create: bool = False) -> State:
        """Open the tables at a path or a ``postgresql://`` address; make them if asked to."""
        text = str(location)
        if text.startswith(("postgresql://", "postgres://")):
            require("postgres", "A server that shares a PostgreSQL database")
            address = "postgresql+psycopg://" + text.partition("://")[2]
            state = cls(sa.create_engine(address, pool_pre_ping=True), "a PostgreSQL database")
        elif "://" in text:
            # Not repeated: it may hold a password.
            raise InputError(
                "must be a file or a PostgreSQL address",
                field="state",
                next_step="Write server.db, or postgresql://user@host:5432/database.",
            )
        else:
            path = Path(text).absolute()
            if not path.exists():
                if not create:
                    raise InputError(
                        f"there is no server at {path}",
                        field="state",
                        next_step="Start a worker first: anonymaly serve FOLDER.",
                    )
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            state = cls(_sqlite(path), str(path))
        try:
            if create:
                state._create()
            state._refuse_another_version()
        except sa.exc.SQLAlchemyError as problem:
            kind = type(problem).__name__
        else:
            return state
        # Outside of the handler: what a driver says of an address may hold more than its host.
        state.close()
        raise InputError(
            f"what a server's processes share cannot be used ({kind}): {state.location}",
            field="state",
            next_step="Check that the database can be reached, by this user, and that a worker began it.",
        )

    def _create(self) -> None:
        with self.write() as connection:
            begin_alone(connection)
            _metadata.create_all(connection)
            known = connection.execute(sa.select(facts.c.value).where(facts.c.name == "schema")).scalar()
            if known is None:
                connection.execute(facts.insert(), {"name": "schema", "value": str(SCHEMA)})

    def _refuse_another_version(self) -> None:
        with self.read() as connection:
            known = connection.execute(sa.select(facts.c.value).where(facts.c.name == "schema")).scalar()
        if known != str(SCHEMA):
            raise InputError(
                f"{self.location} was written by another version, in form {known}; this one knows {SCHEMA}",
                field="state",
                next_step="Start the version that wrote it, or begin with an empty one: the ledgers stay.",
            )

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Open a connection for reading."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Open a transaction that is alone in SQLite, and by its own locks in PostgreSQL."""
        with self.engine.connect() as connection:
            if self.engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()

    def time(self, connection: sa.Connection) -> float:
        """Return what the database's clock says, in seconds since 1970."""
        return float(connection.execute(sa.select(self.now)).scalar_one())

    def forget(self) -> None:
        """Have a file lose the bytes of what was removed, such as what ended jobs asked; a server vacuums."""
        if self.engine.dialect.name == "sqlite":
            with self.engine.connect() as connection:
                # The journal holds them until all of it is in the file. Whoever reads meanwhile is not waited
                # for: the next time will do.
                connection.exec_driver_sql("PRAGMA busy_timeout=200")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
                connection.exec_driver_sql(f"PRAGMA busy_timeout={PATIENCE_SECONDS * 1000}")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def begin_alone(connection: sa.Connection) -> None:
    """Let servers that begin at once do so one after the other, until the transaction ends."""
    if connection.dialect.name == "postgresql":  # in SQLite whoever writes is alone
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_BEGINNING)))


def _sqlite(path: Path) -> sa.Engine:
    # As many connections as there are threads that handle requests: to open one takes longer than most reads.
    engine = sa.create_engine(
        f"sqlite:///{path}", connect_args={"timeout": PATIENCE_SECONDS}, pool_size=THREADS
    )
    prepare: Callable[..., Any] = _prepare
    sa.event.listen(engine, "connect", prepare)
    return engine


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    patience = f"busy_timeout={PATIENCE_SECONDS * 1000}"
    # What is removed is written over with zeros: an ended job's question stays in no free part of the file.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", patience):
        connection.execute(f"PRAGMA {pragma}")
