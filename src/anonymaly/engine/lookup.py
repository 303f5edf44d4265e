# SPDX-License-Identifier: Apache-2.0
"""Finds the engine of a table, by the table itself or by the URL of its database."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

from anonymaly.core.extras import require
from anonymaly.engine.engine import Engine
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from anonymaly.engine.duckdb import DuckDB

ENGINES = ("duckdb", "postgres")  # as Ibis names them: each is a module beside this one that holds its ENGINE
EXTRAS = {"postgres": ("postgres", "A table in PostgreSQL")}  # what they need besides, and how to say so
SCHEMES = {"postgresql": "postgres"}  # the names in addresses that differ
REFUSED = {
    "sqlite": "SQLite columns have no types of their own, so filters on them could mean something else"
}


def named(name: str) -> Engine:
    """Return the engine of this name; one without a file gets the cautious defaults of `Engine`."""
    if name not in ENGINES:
        return Engine(name)
    engine: Engine = importlib.import_module(f"anonymaly.engine.{name}").ENGINE
    return engine


def of(expression: ir.Expr) -> Engine:
    """Return the engine that an expression would run on."""
    return named(expression.get_backend().name)


def of_address(url: str) -> Engine:
    """Return the engine of a database URL."""
    scheme = url.partition("://")[0]
    return named(SCHEMES.get(scheme, scheme))


def wherever(url: str) -> str:
    """Return an address that means the same after a change of the working folder, if it names a file."""
    scheme, separator, rest = url.partition("://")
    name, here = rest.partition("?")[0], os.getcwd()
    # Without a host, a login or an engine's own words such as :memory:; and addresses escape nothing.
    is_relative = bool(name) and not name.startswith("/") and not set(name) & set(":@")
    if scheme != "duckdb" or not is_relative or set(here) & set("?#"):
        return url
    return f"{scheme}{separator}{here}/{rest}"


def embedded() -> DuckDB:
    """Return the engine that reads files and frames, in this process."""
    from anonymaly.engine.duckdb import ENGINE  # noqa: PLC0415  (Ibis, when a table is first opened)

    return ENGINE


def refuse_unusable(name: str) -> None:
    """Refuse an engine, or the name in a URL, that gives filters another meaning or is not installed."""
    if name.lower() in REFUSED:
        raise InputError(
            REFUSED[name.lower()],
            field="source",
            next_step="Copy the table to Parquet, DuckDB or PostgreSQL.",
        )
    engine = SCHEMES.get(name, name)
    if engine in EXTRAS:
        require(*EXTRAS[engine])
