# SPDX-License-Identifier: Apache-2.0
"""Canonical text and the hash that links each entry to the one before it."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Mapping
from typing import Any

from anonymaly.errors import InputError

DEEPEST = 32  # a declaration is a few levels deep; a thousand levels would exhaust the reader's stack
LONGEST_LABEL = 200
_ZEROS = "0" * 64


def genesis(ledger: str) -> str:
    """Return what stands in for the previous hash before the first entry.

    The ledger's identity is part of it, so that no entry of one ledger can be shown as another's.
    """
    return _ZEROS + ledger


def link(previous: str, seq: int, text: str) -> str:
    """Return SHA-256 of the previous hash, the number and the canonical text, one per line.

    Examples
    --------
    >>> link(genesis("a"), 1, '{"kind":"open"}')[:16]
    '7eed7671490f44b6'
    """
    return hashlib.sha256(f"{previous}\n{seq}\n{text}".encode()).hexdigest()


def plain(value: Any, *, field: str, depth: int = 0) -> Any:
    """Copy a value into plain JSON data, or say which part is not plain.

    Examples
    --------
    >>> plain({"age": (0, 120)}, field="declaration")
    {'age': [0, 120]}
    """
    advice = "Give dictionaries with text keys, lists, text, finite numbers, true, false or null."
    if depth > DEEPEST:
        raise InputError(f"is nested more than {DEEPEST} levels deep", field=field, next_step=advice)
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [plain(item, field=field, depth=depth + 1) for item in value]
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: plain(item, field=f"{field}.{name}", depth=depth + 1) for name, item in value.items()}
    kind = "a number that is not finite" if isinstance(value, float) else type(value).__name__
    raise InputError(f"must be plain JSON data, got {kind}", field=field, next_step=advice)


def mapping(value: Any, *, field: str) -> dict[str, Any]:
    """Copy a mapping into plain JSON data."""
    if not isinstance(value, Mapping):
        raise InputError(f"must be a mapping, got {type(value).__name__}", field=field)
    copied: dict[str, Any] = plain(value, field=field)
    return copied


def label(value: Any, *, field: str) -> str:
    """Accept a name that every database stores unchanged and every terminal prints on one line."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_LABEL:
        raise InputError(f"must be text of 1 to {LONGEST_LABEL} characters", field=field)
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in value):
        raise InputError("must not contain control characters or line breaks", field=field)
    return value


def whole(value: Any, *, field: str, least: int, most: int) -> int:
    """Accept an integer within bounds; True is not a number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"must be an integer, got {type(value).__name__}", field=field)
    if not least <= value <= most:
        raise InputError(f"must be between {least} and {most}, got {value}", field=field)
    return value
