# SPDX-License-Identifier: Apache-2.0
"""Refuses a second name for the same source: two accounts would each spend a whole budget on the same people.

What is compared is what can be known without reading rows: files by what the disk knows them by, whatever
links lead there, and tables of a database by host, port, database and name, however the address is written. A
copy, a view, a replica or a way through another machine is another source: only its owner knows that it holds
the same people.
"""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from anonymaly.core.extras import require
from anonymaly.declare.manifest import Manifest
from anonymaly.engine.addresses import is_address, scheme
from anonymaly.engine.files import find_files, kind_of_files
from anonymaly.engine.lookup import SCHEMES
from anonymaly.errors import InputError

PORT = 5432
HERE = "this machine"

Mark = tuple[object, ...]


def refuse_second_names(manifests: Mapping[Path, Manifest]) -> None:
    """Raise an error if two files declare an account of the same name, or the same source."""
    names: dict[str, Path] = {}
    sources: dict[Mark, Path] = {}
    for path, manifest in manifests.items():
        if manifest.name in names:
            raise InputError(
                f"{names[manifest.name].name} and {path.name} both declare a table called {manifest.name}",
                field="name",
                next_step="Keep one of them; a further version of a table is an amendment of its file.",
            )
        names[manifest.name] = path
        for mark in marks(manifest, path.parent):
            if mark in sources and sources[mark] != path:
                raise InputError(
                    f"{sources[mark].name} and {path.name} declare the same source under two names, so that "
                    "each would spend a budget of its own on the same people",
                    field="source",
                    next_step="Keep one of them, with all columns that are asked about.",
                )
            sources[mark] = path


def marks(manifest: Manifest, folder: Path) -> set[Mark]:
    """Return what a source is known by: one mark for each of its files, or of the places of a table."""
    source = manifest.source_location(folder)
    if is_address(source):
        return _of_address(source, manifest.table or "", folder)
    files = find_files(source)
    if not files:
        return set()  # opening it says so
    inside = kind_of_files(files[0]) == "database"
    table = (_of_duckdb(manifest.table or ""),) if inside else ()
    return {("file", *_identity(file), *table) for file in files}


def _of_address(address: str, table: str, folder: Path) -> set[Mark]:
    kind = SCHEMES.get(scheme(address), scheme(address))
    if kind == "postgres":
        return _of_postgres(address, table)
    if kind == "duckdb":
        path = unquote(address.partition("://")[2].partition("?")[0])
        return {("file", *_identity(os.path.join(folder, path)), _of_duckdb(table))}
    parts = urlsplit(address)
    place = parts.netloc.rpartition("@")[2].casefold()
    return {(kind, place, unquote(parts.path.strip("/")), table.casefold())}


def _of_postgres(address: str, table: str) -> set[Mark]:
    """Return a mark for each machine that libpq may connect to, as it reads the address and what it lacks."""
    # Imports Ibis, which opening the table does anyway.
    from anonymaly.engine.postgres_tables import read_address  # noqa: PLC0415

    require("postgres", "A table in PostgreSQL")
    given, schema = read_address(address)

    def said(name: str, variable: str) -> str:
        return str(given.get(name) or os.environ.get(variable) or "")

    service = said("service", "PGSERVICE")  # of a file that only libpq reads: its name stands for the rest
    places = said("hostaddr", "PGHOSTADDR") or said("host", "PGHOST") or ("" if service else "localhost")
    hosts, ports = places.split(","), (said("port", "PGPORT") or str(PORT)).split(",")
    pairs = zip(hosts, ports if len(ports) == len(hosts) else ports * len(hosts), strict=False)
    database = said("dbname", "PGDATABASE") or said("user", "PGUSER") or getpass.getuser()
    name = table.replace('"', "")
    if schema is not None and "." not in name:
        name = f"{schema}.{name}"
    # Capital and small letters may be the same, and public is where a bare name is looked up.
    own = name.casefold().removeprefix("public.")
    return {
        ("postgres", service, machine, port or str(PORT), "" if service else database, own)
        for host, port in pairs
        for machine in _machines(host)
    }


def _identity(path: str) -> tuple[object, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return (os.path.realpath(path),)
    return (found.st_dev, found.st_ino)


def _of_duckdb(table: str) -> str:
    return table.casefold().removeprefix("main.")


def _machines(host: str) -> set[str]:
    """Return one name for each machine that a name leads to: its address, and one for this machine's own."""
    if not host or host.startswith(("/", "@")):
        return {HERE}
    try:
        found = {str(item[4][0]) for item in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return {host.casefold().rstrip(".")}
    return {HERE if _is_here(address) else address for address in found}


def _is_here(address: str) -> bool:
    """Say whether an address is this machine's: it could listen there."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as own:
            own.bind((address, 0))
    except OSError:
        return False
    return True
