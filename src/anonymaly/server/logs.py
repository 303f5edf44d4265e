# SPDX-License-Identifier: Apache-2.0
"""The owner's log: lines for people, or one JSON object a line; reopened when its file is rotated away.

A request has its time, template, status and analyst, a job its end and the number of its entry. Never a
value, a field of a question, or the words of an engine: of what other packages log, only where it came from
and the class of the error are written, except for the web server's own words.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from types import TracebackType
from typing import Any

from anonymaly.errors import InputError

SAID = "said"  # the attribute of a record that holds its fields
TRUSTED = ("anonymaly", "uvicorn")  # whose own words hold no row and no question
Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def fields(event: str, **said: Any) -> dict[str, Any]:
    """Return the fields of a line, as ``extra`` of a call to a logger."""
    return {SAID: {"event": event, **said}}


class Plain(logging.Formatter):
    """Lines for people, without tracebacks: an engine's error quotes rows."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (logging's name)
        """Write a line; of packages that may quote rows, without their words."""
        record.message = _words(record)
        return super().formatMessage(record)

    def formatException(self, ei: Raised) -> str:  # noqa: N802  (logging's name)
        """Write the class alone."""
        return "" if ei[0] is None else ei[0].__name__


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record with its fields, or with its words if it has none."""
        said: Mapping[str, Any] | None = getattr(record, SAID, None)
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "part": record.name,
            **(said if said is not None else {"event": "message", "message": _words(record)}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line)


def begin_log(place: str | None = None, *, as_json: bool = False) -> None:
    """Write what happens to a file, to the one that the environment names, or to standard error."""
    place = place or os.environ.get("ANONYMALY_LOG")
    try:
        handler = WatchedFileHandler(place, encoding="utf-8") if place else logging.StreamHandler(sys.stderr)
    except OSError as problem:
        raise InputError(
            f"cannot write the log {place} ({type(problem).__name__})",
            field="log",
            next_step="Name a file in a folder that this user may write to.",
        ) from None
    handler.setFormatter(JsonLines() if as_json else Plain())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("anonymaly").setLevel(logging.INFO)


def _words(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] in TRUSTED:
        return record.getMessage()
    return "(not written: another package's words may quote rows)"
