# SPDX-License-Identifier: Apache-2.0
"""The answer of ``proportion``: two counts and their ratio, kept as JSON."""

from __future__ import annotations

from typing import Any

from anonymaly.ask.encoding import decode_json as decode
from anonymaly.ask.encoding import encode_json as encode

__all__ = ["decode", "encode", "show"]


def show(value: dict[str, Any], asks: str) -> str:
    """Write the ratio as a percentage."""
    ratio = value["proportion"]
    return f"{'unknown' if ratio is None else f'{ratio:.1%}'}: {asks}"
