# SPDX-License-Identifier: Apache-2.0
"""The answer of ``identify``: true or false, or a list of them for several records, kept as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from anonymaly.ask.encoding import decode_json as decode
from anonymaly.ask.encoding import encode_json as encode

__all__ = ["decode", "encode", "show"]


MOST_NAMED = 20  # records of a batch that are named in its words; the value has all of them
# Of a record that is not there the true answer is no, as of one that is like many others.
NO = "no anomaly, or not in the data"


def show(value: bool | list[bool], asks: str, labels: Sequence[str] | None = None) -> str:
    """Write the answer about a record, or which answers about several are yes.

    Examples
    --------
    >>> show(False, "", ["patient 17"])
    'patient 17: no anomaly, or not in the data'
    >>> show([True, False, True], "")
    '2 of 3 records answered as anomalies: numbers 1, 3; the others: no anomaly, or not in the data'
    """
    if isinstance(value, bool):
        return f"{'' if labels is None else f'{labels[0]}: '}{'an anomaly' if value else NO}"
    names = [str(place) for place in range(1, len(value) + 1)] if labels is None else labels
    found = [name for name, anomaly in zip(names, value, strict=True) if anomaly]
    text = f"{len(found):,} of {len(value):,} records answered as anomalies"
    if found:
        more = len(found) - MOST_NAMED
        named = ", ".join(found[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        numbers = "" if labels is not None else "number " if len(found) == 1 else "numbers "
        text += f": {numbers}{named}"
    return text if len(found) == len(value) else f"{text}; {'the others: ' if found else ''}{NO}"
