# SPDX-License-Identifier: Apache-2.0
"""The answer of ``identify``: true or false, or a list of them for several records, kept as JSON."""

from __future__ import annotations

from anonymaly.ask.encoding import decode_json as decode
from anonymaly.ask.encoding import encode_json as encode

__all__ = ["decode", "encode", "show"]


def show(value: bool | list[bool], asks: str) -> str:
    """Write the answer, or how many answers are yes."""
    if isinstance(value, bool):
        return "an anomaly" if value else "no anomaly"
    return f"{sum(value):,} of {len(value):,} records answered as anomalies"
