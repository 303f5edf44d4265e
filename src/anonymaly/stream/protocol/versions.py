# SPDX-License-Identifier: Apache-2.0
"""Which batches of a sensor a server knows, so that a copy of the sensor is found.

A sensor sends each batch in one version, byte for byte. Another version means that two programs send in its
name, or that it was set back. While a window is open its batches are known by eight bytes of a digest; of a
finished one a single byte is kept, which tells two versions apart in 255 of 256 cases and says next to
nothing about a batch of few readings. A contribution to a pool holds 96 random bits at least: of it all
eight stay.
"""

from __future__ import annotations

import hashlib

from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.messages import Message

REMEMBERED = 1024  # newest windows of each sensor whose batches are known again
LENGTH = 8  # bytes

_KEY = "sensor = ? AND window = ? AND code = ? AND sequence = ?"


def is_other_version(journal: Journal, message: Message) -> bool:
    """Say whether a batch is known and this is not the same.

    Examples
    --------
    >>> from anonymaly.stream.protocol.messages import Suspects
    >>> import numpy as np
    >>> first, second = (Suspects("room-1", 0, np.array([member])) for member in (True, False))
    >>> with Journal(folder / "v.journal", "corrector") as journal, journal.transaction():
    ...     remember(journal, first)
    ...     is_other_version(journal, first), is_other_version(journal, second)
    (False, True)
    """
    row = journal.execute(f"SELECT digest FROM versions WHERE {_KEY}", _key(message)).fetchone()  # noqa: S608
    return row is not None and not _digest(message).startswith(row[0])


def is_known_between(journal: Journal, message: Message, after: int) -> bool:
    """Say whether anything like a message is known of a window behind ``after`` and before the message's."""
    query = "SELECT 1 FROM versions WHERE sensor = ? AND window > ? AND window < ? AND code = ? LIMIT 1"
    return (
        journal.execute(query, (message.sensor, after, message.window, message.code)).fetchone() is not None
    )


def remember(journal: Journal, message: Message) -> None:
    """Know a batch again, and forget those of windows long ago."""
    newest = journal.execute(
        "SELECT COALESCE(MAX(window), -1) FROM versions WHERE sensor = ?", (message.sensor,)
    ).fetchone()[0]
    if message.window <= newest - REMEMBERED:
        return
    journal.execute(
        "INSERT OR IGNORE INTO versions VALUES (?, ?, ?, ?, ?)", (*_key(message), _digest(message))
    )
    if message.window > newest:
        journal.execute(
            "DELETE FROM versions WHERE sensor = ? AND window <= ?",
            (message.sensor, message.window - REMEMBERED),
        )


def _key(message: Message) -> tuple[str, int, int, int]:
    return message.sensor, message.window, message.code, message.sequence


def _digest(message: Message) -> bytes:
    return hashlib.sha256(message.to_bytes()).digest()[:LENGTH]
