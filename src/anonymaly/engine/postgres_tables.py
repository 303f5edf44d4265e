# SPDX-License-Identifier: Apache-2.0
"""Connections to PostgreSQL, and its tables with the types that their columns have at bottom.

Ibis opens neither every address that libpq takes, nor every table: it knows the first schema of the search
path only, no domains, and enumerations only where their name needs no schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.schema as sch

from anonymaly.engine.addresses import is_keywords
from anonymaly.engine.columns import quoted
from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir

# Without them a network that is gone is noticed after two hours; an address may say otherwise.
_ALIVE = {"keepalives_idle": 60, "keepalives_interval": 10, "keepalives_count": 6}
# All that could change what our statements mean, or how a value is written, whatever a user's sessions have.
_SETTINGS = {
    "standard_conforming_strings": "on",  # without it, a backslash in a category would be no backslash
    "transform_null_equals": "off",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "lc_monetary": "C",
    "bytea_output": "hex",
}
_FIND = """
SELECT c.oid, n.nspname, c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = pg_catalog.to_regclass(%s) AND c.relkind IN ('r', 'v', 'm', 'f', 'p')
"""
# A domain is its base type with conditions, which hold; and it may be a domain of a domain.
_COLUMNS = """
WITH RECURSIVE bottom AS (
  SELECT a.attnum, a.attname, a.atttypid AS kind, a.atttypmod AS modifier, a.attnotnull
  FROM pg_catalog.pg_attribute a WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT b.attnum, b.attname, t.typbasetype, t.typtypmod, b.attnotnull
  FROM bottom b JOIN pg_catalog.pg_type t ON t.oid = b.kind WHERE t.typtype = 'd'
)
SELECT b.attname, pg_catalog.format_type(b.kind, b.modifier), NOT b.attnotnull,
       t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace, t.typtype = 'e' OR t.typcategory = 'S'
FROM bottom b JOIN pg_catalog.pg_type t ON t.oid = b.kind WHERE t.typtype <> 'd' ORDER BY b.attnum
"""
_WITHOUT_HOLES = ("UTF8", "LATIN1")  # encodings in which all that is stored is characters; others have gaps
_QUOTED = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
_NOT_NUMBERS = ("oid", "xid", "cid", "tid")  # Ibis calls the first a number, and the server casts it to none


def connect(address: str) -> Any:
    """Return an Ibis connection to a libpq or SQLAlchemy address, or to a keyword string."""
    import psycopg  # noqa: PLC0415

    given, schema = read_address(address)
    try:
        connection = psycopg.connect(**given, autocommit=True)
    except psycopg.OperationalError as problem:
        end, kind = problem.pgconn, type(problem).__name__
    else:
        refuse_encoding(connection)
        backend = ibis.postgres.from_connection(connection)
        settings = _SETTINGS if schema is None else {**_SETTINGS, "search_path": schema}
        for name, value in settings.items():
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
        return backend
    # Raised outside the handler: the server's words hold names, and those of a file may hold more.
    raise _why_not_connected(end, kind)


def refuse_encoding(connection: Any) -> None:
    """Refuse a database whose bytes may be no characters: a statement would fail at a row that has such."""
    found = connection.info.parameter_status("server_encoding")
    if found not in _WITHOUT_HOLES:
        raise SchemaError(
            f"the database has the encoding {found}, in which not every byte is a character",
            field="source",
            next_step="Copy the table to a database with the encoding UTF8, or to Parquet.",
        )


def refuse_settings(connection: Any) -> None:
    """Refuse a connection of the owner's on which texts are others, or not every text can be read."""
    refuse_encoding(connection)
    for name, needed in (("client_encoding", "UTF8"), ("standard_conforming_strings", "on")):
        found = connection.info.parameter_status(name)
        if found != needed:
            raise SchemaError(
                f"its connection has {name} set to {found}, with which texts are not read as they are",
                field="source",
                next_step=f"Set {name} to {needed} there, or give the address of the database.",
            )


def find(connection: Any, name: str) -> ir.Table:
    """Return a table by its name alone, by schema and name, or by both as SQL quotes them."""
    with connection.begin() as cursor:
        for spelled in _spellings(name):
            cursor.execute(_FIND, [spelled])
            if found := cursor.fetchone():
                number, schema, own = found
                cursor.execute(_COLUMNS, [number])
                types = {column: _type(connection, *kind) for column, *kind in cursor.fetchall()}
                place = ops.Namespace(database=schema)
                node = ops.DatabaseTable(own, schema=sch.Schema(types), source=connection, namespace=place)
                return node.to_expr()
    raise SchemaError(
        f"there is no table {name} that the database's user can see",
        field="table",
        next_step="Name it as it is stored, with capital and small letters, and as schema.table if it is in "
        "a schema beyond the search path.",
    )


def _spellings(name: str) -> Iterator[str]:
    """Yield what a name may mean, as SQL writes it, the plainest first."""
    if name:
        yield quoted(name)
    schema, dot, own = name.rpartition(".")
    if dot and schema and own:
        yield f"{quoted(schema)}.{quoted(own)}"
    parts = [quoted.replace('""', '"') or plain for quoted, plain in _QUOTED.findall(name)]
    if '"' in name and 1 <= len(parts) <= 2:
        yield ".".join(map(quoted, parts))


def _type(connection: Any, written: str, nullable: bool, built_in: bool, is_text: bool) -> dt.DataType:
    """Return Ibis' type of a column; what it does not know can be passed on as text."""
    if not built_in and is_text:  # an enumeration; or citext, which is compared by its characters here
        return dt.String(nullable=nullable)
    if built_in and written not in _NOT_NUMBERS:
        with suppress(Exception):
            known: dt.DataType = connection.compiler.type_mapper.from_string(written, nullable=nullable)
            if not known.is_unknown():
                return known
        if written.startswith("numeric("):
            # The server allows more digits than Ibis does, as in numeric(3,5); here they say nothing.
            return dt.Decimal(nullable=nullable)
    return dt.Unknown(written, nullable=nullable)


def read_address(address: str) -> tuple[dict[str, Any], str | None]:
    """Return what an address says, as libpq reads it, and the schema that it names in a way of its own."""
    from psycopg import ProgrammingError  # noqa: PLC0415
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    plain, schema = _for_libpq(address)
    try:
        given = conninfo_to_dict(plain)
    except ProgrammingError:
        given = {"port": "?"}
    if not re.fullmatch("[0-9,]*", str(given.get("port", ""))):
        # Also where a / in the password makes what is before it a port. Raised outside the handler.
        raise SchemaError(
            "the address is not written as libpq reads it",
            field="source",
            next_step="Check the names of its options, and write / @ : % in a password as %2F %40 %3A %25, "
            "or give it by PGPASSWORD.",
        )
    # Whatever the environment says: an encoding that lacks a character would make a statement fail at a row.
    return {**_ALIVE, **given, "client_encoding": "UTF8"}, schema


def _for_libpq(address: str) -> tuple[str, str | None]:
    """Return an address as libpq takes it, and the schema that it names in a way of its own."""
    if is_keywords(address):
        return address, None
    _, _, rest = address.partition("://")  # the name may hold SQLAlchemy's driver
    place, _, query = rest.partition("?")
    host, _, path = place.partition("/")
    database, _, schema = path.partition("/")
    options = parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)  # to libpq, + is a plus
    named = [value for key, value in options if key == "schema"]
    kept = [(key, value) for key, value in options if key != "schema"]
    plain = f"postgresql://{host}/{database}?{urlencode(kept, quote_via=quote)}"
    return plain, (named[-1] if named else schema or None)


def _why_not_connected(end: Any, kind: str) -> SchemaError:
    """Say which side a connection failed on, by what libpq notes of it and none of its words."""
    if end is not None and end.needs_password:
        return SchemaError(
            "the database asks for a password, and none was given",
            field="source",
            next_step="Set PGPASSWORD, or write it into ~/.pgpass or a file that passfile= names; in a "
            "manifest write ${NAME} for a variable of the environment.",
        )
    if end is not None and end.used_password:
        return SchemaError(
            "the database refused the login or does not know the database",
            field="source",
            next_step="Check the user, the password and the name of the database.",
        )
    return SchemaError(
        f"the database could not be reached ({kind})",
        field="source",
        next_step="Check host, port, user and the name of the database, and that the server is running.",
    )
