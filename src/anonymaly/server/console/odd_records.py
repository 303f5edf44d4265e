# SPDX-License-Identifier: Apache-2.0
"""The oddest of somebody's records by a released model, why, and the question about each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from anonymaly.ask.typed_records import read_typed
from anonymaly.core.epsilon import to_nano
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import InputError
from anonymaly.finding.explaining import choose
from anonymaly.finding.own_records import OwnRecords
from anonymaly.questions.score.reasons import NAMED, Reason
from anonymaly.questions.score.value import Model
from anonymaly.server.console.filled_in import filled_in

MOST_RECORDS = 20_000
TOP = 10
EVERY_PART = 10**6
SHARE = "0.5"  # ε that the form of a question about a record begins with


def read_records(text: str, declared: Declaration) -> dict[str, list[Any]]:
    """Read records that were pasted; refuse more than a page is for."""
    found = read_typed(text, declared.columns, field="records")
    count = max(map(len, found.values()), default=0)
    if count > MOST_RECORDS:
        raise InputError(
            f"has {count:,} records, and a page takes at most {MOST_RECORDS:,}",
            field="records",
            next_step="Use the command line on your own machine: anonymaly find, or anonymaly score --model.",
        )
    return found


def oddest(model: Model, declared: Declaration, text: str) -> dict[str, Any]:
    """Read records, score them and say which are the oddest."""
    own = OwnRecords.read(read_records(text, declared), model.columns)
    scores = model.score(own.frame)
    places = [int(place) for place in np.argsort(-scores, kind="stable")[:TOP]]
    reasons = model.reasons(own.frame.take(places), named=EVERY_PART).told(rows=places, named=EVERY_PART)
    rows = own.rows(places)
    return {
        "count": len(own),
        "odd": [_line(reason, row, declared) for reason, row in zip(reasons, rows, strict=True)],
    }


def _line(reason: Reason, row: dict[str, Any], declared: Declaration) -> dict[str, Any]:
    asked = choose(row, reason, declared, to_nano(SHARE))
    named = Reason(reason.row, reason.score, reason.unusual, reason.parts[:NAMED])
    return {
        "row": reason.row + 1,
        "score": round(reason.score, 2),
        "unusual": reason.unusual,
        "record": {name: None if item is None else str(item) for name, item in row.items()},
        "why": str(named),
        "explain": None if asked.query is None else filled_in(asked.query, declared),
        "why_not": asked.why_not,
    }
