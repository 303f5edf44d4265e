# SPDX-License-Identifier: Apache-2.0
"""Find anomalies in records about people without exposing anyone.

Everything public is here; each name is imported when it is first used, so that ``import anonymaly``
costs nothing that the program does not need. ``__init__.pyi`` is the one list of names and their homes.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

from anonymaly.version import __version__ as __version__


def _read_homes() -> dict[str, str]:
    """Return name → module from the list that type checkers read."""
    # lazy_loader reads such a file too, but hands over no module of a subpackage (`am.identify`).
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    return {
        alias.name: str(node.module)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


_HOMES = _read_homes()
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anonymaly' has no attribute {name!r}")
    found = vars(importlib.import_module(_HOMES[name])).get(name)
    # A module below its home is not an attribute of it before it is imported.
    return importlib.import_module(f"{_HOMES[name]}.{name}") if found is None else found


def __dir__() -> list[str]:
    return __all__
