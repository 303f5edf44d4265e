# SPDX-License-Identifier: Apache-2.0
"""The answer of ``count``: a whole number, kept as JSON."""

from __future__ import annotations

from anonymaly.ask.encoding import decode_json as decode
from anonymaly.ask.encoding import encode_json as encode

__all__ = ["decode", "encode", "show"]


def show(value: int, asks: str) -> str:
    """Write the count with its unit."""
    return f"{value:,} {asks}"
