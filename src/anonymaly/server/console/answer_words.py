# SPDX-License-Identifier: Apache-2.0
"""An answer in words and pictures, from the bytes that the owner's store keeps of it."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from anonymaly.ask.answer import Answer
from anonymaly.ask.told import Downloaded, read_answer
from anonymaly.server.console.answer_table import table_of
from anonymaly.server.messages import outbox_file
from anonymaly.server.released import Seen
from anonymaly.server.services import Services

LARGEST = 4 * 2**20  # bytes that a page reads of an answer; more is for downloads
MOST_ROWS = 50


def read_stored(
    services: Services, seen: Seen, told: Mapping[str, Any], largest: int = LARGEST
) -> Answer | None:
    """Return a released answer with its value; None if it is too large for a page, or no longer there."""
    place = outbox_file(services.outbox, seen.job.id)
    if seen.result["content"]["size"] > largest or not place.is_file():
        return None
    file = Downloaded()
    shutil.copyfile(place, file.path)
    return read_answer(told, file, None)


def read_rehearsed(told: Mapping[str, Any]) -> Answer | None:
    """Return a rehearsal's answer; None if it is too large for a page."""
    if told.get("bytes") is None:
        return None
    file = Downloaded()
    file.path.write_bytes(base64.b64decode(told["bytes"]))
    return read_answer({**told, "receipt": None}, file, None)


def words(answer: Answer) -> dict[str, Any]:
    """Say what an answer says and promises."""
    relation = answer.guarantee.relation
    return {
        "shown": answer.shown,
        "banner": answer.banner,
        "error": answer.expectation.error,
        "noise": answer.expectation.noise,
        "factor": str(answer.guarantee.factor),
        "protected": relation.protects(),
        "not_protected": relation.does_not_protect(),
        "rows": _rows(answer.value),
    }


def pictures(answer: Answer) -> list[Markup]:
    """Draw an answer, if it is of a kind that has pictures; their words are escaped where they are drawn."""
    return [Markup(chart.to_svg()) for chart in answer.pictures()]  # noqa: S704


def _rows(value: Any) -> dict[str, Any] | None:
    """Return the first rows of a released table as text."""
    table = table_of(value)
    if table is None:
        return None
    first = next(table.batches(MOST_ROWS), None)
    rows = [] if first is None else [list(row.values()) for row in first.to_pylist()]
    said = [["" if item is None else str(item) for item in row] for row in rows]
    return {"columns": table.columns, "rows": said, "count": len(table)}
