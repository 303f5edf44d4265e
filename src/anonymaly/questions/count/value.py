# SPDX-License-Identifier: Apache-2.0
"""The answer of ``count``: a whole number, or a list of them for a list of filters, kept as JSON."""

from __future__ import annotations

from anonymaly.ask.encoding import decode_json as decode
from anonymaly.ask.encoding import encode_json as encode

__all__ = ["decode", "encode", "show"]


def show(value: int | list[int], asks: str) -> str:
    """Write the count with its unit; of a list, each count with its filter in a line.

    Examples
    --------
    >>> show(12, "records where age < 60")
    '12 records where age < 60'
    >>> print(show([1200, -3], "records where\\n  age < 60\\n  age >= 60"))
    records where
      1,200  age < 60
         -3  age >= 60
    """
    if isinstance(value, int):
        return f"{value:,} {asks}"
    head, *filters = asks.split("\n")
    counts = [f"{count:,}" for count in value]
    width = max(map(len, counts))
    lines = [f"  {count:>{width}}{text}" for count, text in zip(counts, filters, strict=True)]
    return "\n".join([head, *lines])
