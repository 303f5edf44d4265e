# SPDX-License-Identifier: Apache-2.0
"""Answers as JSON; where their length could tell something, filled with spaces to a public size."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

SMALLEST_CLASS = 1024


def reply(
    data: Any, status: int = 200, *, headers: Mapping[str, str] | None = None, pad: bool = False
) -> Response:
    """Return plain data as a response."""
    content = to_bytes(data)
    return Response(
        padded(content) if pad else content,
        status,
        media_type="application/json",
        headers=dict(headers or {}),
    )


def to_bytes(data: Any) -> bytes:
    """Write plain data as JSON; numbers that JSON does not have become null."""
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(data), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def padded(content: bytes) -> bytes:
    """Fill a JSON text with spaces up to the next power of two.

    Examples
    --------
    >>> len(padded(b"1")), len(padded(b"1" * 1025))
    (1024, 2048)
    """
    size = SMALLEST_CLASS
    while size < len(content):
        size *= 2
    return content.ljust(size)


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {str(name): _finite(item) for name, item in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(item) for item in data]
    return data
