# SPDX-License-Identifier: Apache-2.0
"""The extras: packages that a plain installation leaves out, and the error when one of them is needed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any

from anonymaly.errors import ExtraMissing

# extra → the packages that it brings, as they are imported; the names are those of pyproject.toml
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "audit": ("scipy",),
    "broker": ("amqtt",),
    "client": ("httpx",),
    "estimators": ("sklearn",),
    "lake": ("deltalake", "pyiceberg"),
    "oidc": ("authlib", "httpx", "joserfc"),
    "postgres": ("psycopg",),
    "report": ("altair", "vl_convert"),
    "server": ("cryptography", "fastapi", "jinja2", "uvicorn"),
    "spark": ("pyspark",),
    "stream": ("aiomqtt", "cryptography", "scipy"),
}
_INSTALLED_AS = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python"}


def missing(extra: str) -> list[str]:
    """Return which packages of an extra are not installed; nothing is imported.

    Examples
    --------
    >>> missing("report")
    []
    """
    return [package for package in EXTRAS[extra] if not _is_there(package)]


def require(extra: str, needed_by: str, *packages: str) -> None:
    """Raise an error that names the command, unless an extra is installed.

    Parameters
    ----------
    extra
        The name of the extra.
    needed_by
        What needs it: the first words of the error.
    packages
        The packages of the extra that are needed; all if none is given.

    Examples
    --------
    >>> require("estimators", "GridKNN")
    """
    absent = [package for package in missing(extra) if not packages or package in packages]
    if absent:
        names = [_INSTALLED_AS.get(package, package) for package in absent]
        listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        raise ExtraMissing(
            f"{needed_by} needs {listed}, which {'is' if len(absent) == 1 else 'are'} not installed",
            next_step=f"Run: pip install 'anonymaly[{extra}]'",
        )


def load(module: str, extra: str, needed_by: str) -> Any:
    """Return a module of an extra, or raise the error of `require`.

    Examples
    --------
    >>> load("scipy.stats", "audit", "An audit").__name__
    'scipy.stats'
    """
    require(extra, needed_by, module.partition(".")[0])
    return importlib.import_module(module)


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:
        return False
