# SPDX-License-Identifier: Apache-2.0
"""Finds the engine of a table, by the table itself or by the URL of its database."""

from __future__ import annotations

import importlib
import os
from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from anonymaly.core.extras import require
from anonymaly.engine.addresses import is_keywords, scheme
from anonymaly.engine.engine import Engine
from anonymaly.engine.frames import is_of_spark
from anonymaly.engine.limits import NO_LIMITS, Limits
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from anonymaly.engine.duckdb import DuckDB

# As Ibis names them: each is a module beside this one that holds its ENGINE.
ENGINES = ("duckdb", "postgres", "pyspark")
EXTRAS = {  # what they need besides, and how to say so
    "postgres": ("postgres", "A table in PostgreSQL"),
    "pyspark": ("spark", "A table in Spark"),
}
SCHEMES = {"postgresql": "postgres", "sc": "pyspark"}  # the names in addresses that differ
REFUSED = {  # and what to do
    "spark": (
        "Spark is used by way of a session",
        "Open a SparkSession and give its frame, or the address sc://HOST:PORT of Spark Connect.",
    ),
    "sqlite": (
        "SQLite columns have no types of their own, so filters on them could mean something else",
        "Copy the table to Parquet, DuckDB or PostgreSQL.",
    ),
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


def of_source(source: Any) -> Engine:
    """Return the engine of a table that its owner opened: an Ibis table, or what Spark has."""
    return named("pyspark") if is_of_spark(source) else of(source)


def of_address(url: str) -> Engine:
    """Return the engine of a database URL."""
    name = scheme(url)
    return named(SCHEMES.get(name, name))


def wherever(url: str) -> str:
    """Return an address that means the same after a change of the working folder, if it names a file."""
    if is_keywords(url):
        return url
    kind, separator, rest = url.partition("://")
    name, here = rest.partition("?")[0], os.getcwd()
    # Without a host, a login or an engine's own words such as :memory:; and addresses escape nothing.
    is_relative = bool(name) and not name.startswith("/") and not set(name) & set(":@")
    if kind != "duckdb" or not is_relative or set(here) & set("?#"):
        return url
    return f"{kind}{separator}{here}/{rest}"


def embedded(limits: Limits = NO_LIMITS) -> DuckDB:
    """Return the engine that reads files and frames, in this process, within an owner's limits."""
    from anonymaly.engine.duckdb import ENGINE  # noqa: PLC0415  (Ibis, when a table is first opened)

    return ENGINE if limits == NO_LIMITS else replace(ENGINE, limits=limits)


def refuse_unknown(address: str) -> None:
    """Refuse an address by whose name no engine is found."""
    name = scheme(address)
    if name in {*SCHEMES, *REFUSED, *(engine.name for engine in entry_points(group="ibis.backends"))}:
        return
    if name.startswith("jdbc:"):
        next_step = "Leave out jdbc:, and write the user as in postgresql://USER@HOST/DATABASE."
    else:
        next_step = "Give postgresql://…, duckdb://… or sc://…, or copy the table to Parquet."
    shown = f"{name}:// names" if name.isalnum() else "its address names"
    raise InputError(f"{shown} no engine that can be used", field="source", next_step=next_step)


def without_driver(engine: Engine) -> tuple[str, str]:
    """Say that the driver of an engine is missing, and how to get it."""
    return (
        f"{engine.name} needs a driver that is not installed",
        f"Run: pip install 'ibis-framework[{engine.name}]'.",
    )


def refuse_unusable(name: str) -> None:
    """Refuse an engine, or the name in a URL, that gives filters another meaning or is not installed."""
    if name.lower() in REFUSED:
        problem, next_step = REFUSED[name.lower()]
        raise InputError(problem, field="source", next_step=next_step)
    engine = SCHEMES.get(name, name)
    if engine in EXTRAS:
        require(*EXTRAS[engine])
