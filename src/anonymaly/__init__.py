# SPDX-License-Identifier: Apache-2.0
"""Find anomalies in records about people, with a promise that says who is protected and who is not.

All public names are here. Each is imported when it is first used, so that ``import anonymaly`` loads nothing
that the program does not need. ``__init__.pyi`` lists the names and the modules they are in.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

from anonymaly.core import extras as _extras
from anonymaly.version import __version__ as __version__


def _read_homes() -> dict[str, str]:
    """Return name → module from the list that type checkers read."""
    # lazy_loader reads such a file too, but cannot return a module of a subpackage (`am.identify`).
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    return {
        alias.name: str(node.module)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


_HOMES = _read_homes()
_EXTRA_ROOMS = {"anonymaly.estimators": "estimators"}  # room → the extra without which it cannot be imported


def _extra_of(name: str) -> str | None:
    return next((extra for room, extra in _EXTRA_ROOMS.items() if _HOMES[name].startswith(room)), None)


# `from anonymaly import *` takes what is installed; `dir(anonymaly)` shows all there is.
__all__ = sorted(  # noqa: PLE0605
    name for name in _HOMES if (extra := _extra_of(name)) is None or not _extras.missing(extra)
)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        problem = f"module 'anonymaly' has no attribute {name!r}"
        if name.startswith("_"):  # asked for by Python and notebooks, not by people
            raise AttributeError(problem)
        from anonymaly.core.suggestions import guess  # noqa: PLC0415  (only for a misspelt name)

        raise AttributeError(f"{problem}. {guess(name, _HOMES)}dir(anonymaly) lists all names.")
    if extra := _extra_of(name):
        _extras.require(extra, name)
    found = vars(importlib.import_module(_HOMES[name])).get(name)
    # A module below its home is not an attribute of it before it is imported.
    return importlib.import_module(f"{_HOMES[name]}.{name}") if found is None else found


def __dir__() -> list[str]:
    return sorted(_HOMES)
