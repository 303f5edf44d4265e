# SPDX-License-Identifier: Apache-2.0
"""Addresses of databases and of object stores: what is one, what of it may be shown, what cannot be read."""

from __future__ import annotations

import re
from urllib.parse import quote

from anonymaly.errors import InputError

# A keyword string of libpq, such as host=db.example dbname=clinic: each part a name, = and a value.
_VALUE = r"(?:'(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)*)"
_KEYWORDS = re.compile(rf"\s*(?:[a-z_]+\s*=\s*{_VALUE}(?:\s+|$))+")
_DATABASE = re.compile(r"(?:^|\s)(?:dbname|service)\s*=")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
# The login of a URL as libpq reads it; and of what was meant to be one, as far as it may go.
_LOGIN = re.compile(r"(?<=://)([^:@/]*):[^@/]*@")
_ANY_LOGIN = re.compile(r"(?<=/)([^:@/]*):.*@")
_NAMED = r"((?:password|token|secret)\s*=\s*)"
_NAMED_IN_URL = re.compile(rf"{_NAMED}[^&]*", re.IGNORECASE)
_NAMED_IN_KEYWORDS = re.compile(rf"{_NAMED}{_VALUE}", re.IGNORECASE)

STORES = {
    **dict.fromkeys(("s3", "s3a", "s3n", "gs", "gcs", "r2"), "in an object store"),
    **dict.fromkeys(("abfs", "abfss", "az", "azure", "adl", "wasb", "wasbs"), "in an object store"),
    **dict.fromkeys(("http", "https", "ftp", "hf", "hdfs", "webhdfs", "dbfs"), "on another machine"),
}


def is_keywords(text: str) -> bool:
    """Say whether a text is a keyword string of libpq that names a database or a service.

    Examples
    --------
    >>> is_keywords("host=db.example dbname=clinic"), is_keywords("year=2024/visits.csv")
    (True, False)
    """
    return bool(_KEYWORDS.fullmatch(text) and _DATABASE.search(text))


def is_address(text: str) -> bool:
    """Say whether a source is an address, and not the path of a file.

    Examples
    --------
    >>> is_address("postgresql://db.example/clinic"), is_address("clinic.csv")
    (True, False)
    """
    return "://" in text or is_keywords(text)


def scheme(address: str) -> str:
    """Return the name before ``://`` without the driver that SQLAlchemy names there; libpq's for keywords.

    Examples
    --------
    >>> scheme("postgresql+psycopg://db.example/clinic"), scheme("dbname=clinic")
    ('postgresql', 'postgresql')
    """
    if "://" not in address or is_keywords(address):
        return "postgresql"
    return address.partition("://")[0].partition("+")[0].lower()


def without_password(text: str) -> str:
    """Return an address as it may be shown; of one that is mistyped, rather too much is hidden.

    Examples
    --------
    >>> without_password("postgresql://ada:geheim@db.example/clinic?password=geheim&sslmode=require")
    'postgresql://ada:***@db.example/clinic?password=***&sslmode=require'
    >>> without_password("dbname=clinic password='ge heim'")
    'dbname=clinic password=***'
    """
    return _replaced(_ANY_LOGIN, text, "***")


def with_variable_for_password(address: str, name: str) -> str:
    """Return an address as a file may hold it, with a variable of the environment for its password.

    Examples
    --------
    >>> with_variable_for_password("postgresql://ada:geheim@db.example/clinic", "PGPASSWORD")
    'postgresql://ada:${PGPASSWORD}@db.example/clinic'
    """
    return _replaced(_LOGIN, address, f"${{{name}}}")


def _replaced(login: re.Pattern[str], text: str, instead: str) -> str:
    named = _NAMED_IN_URL if "://" in text else _NAMED_IN_KEYWORDS
    in_url = login.sub(lambda found: f"{found[1]}:{instead}@", text)
    return named.sub(lambda found: f"{found[1]}{instead}", in_url)


def with_variables(text: str, variables: dict[str, str], *, field: str) -> str:
    """Return a text with every ``${NAME}`` replaced by that variable of the environment.

    In the login of an address, and as the value of an option, it is escaped: it may hold any character.

    Examples
    --------
    >>> with_variables("postgresql://ada:${PW}@db.example/clinic", {"PW": "a@b"}, field="source")
    'postgresql://ada:a%40b@db.example/clinic'
    """
    of_libpq = is_keywords(text)
    start, end = text.find("://"), text.rfind("@")

    def value(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in variables:
            raise InputError(
                f"the environment has no {name}",
                field=field,
                next_step=f"Set {name} before you run this, or write what it stands for.",
            )
        is_option = text[: found.start()].rstrip().endswith("=") and text[found.end() :][:1] in ("", " ", "&")
        if of_libpq and is_option:
            return "'" + re.sub(r"(['\\])", r"\\\1", variables[name]) + "'"
        in_login = 0 <= start < found.start() < end
        return quote(variables[name], safe="") if in_login or (start >= 0 and is_option) else variables[name]

    return _VARIABLE.sub(value, text)


def refuse_stores(address: str) -> None:
    """Refuse an address of files elsewhere, and say how they can be read."""
    name = scheme(address)
    if name == "file":
        raise InputError(
            "is a file by its address", field="source", next_step="Give its path, without file://."
        )
    if name in STORES:
        raise InputError(
            f"{name}:// is {STORES[name]}, which is not read from here",
            field="source",
            next_step="Copy the files to a disk, or give an Ibis table of a DuckDB connection that has its "
            "extension for them loaded (httpfs, azure), or a deltalake.DeltaTable or pyiceberg table.",
        )
