# SPDX-License-Identifier: Apache-2.0
"""What a party must not forget: one small SQLite file, from which a killed party goes on.

It holds what was sent and not yet acknowledged, the parts of windows that are not finished, and which windows
are. All finished windows together leave one number behind, and the newest of them a byte of a digest for each
batch (``versions``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from anonymaly.stream.protocol.journal_file import JournalFile
from anonymaly.stream.protocol.messages import Message, MessageReceipt, Readings, Shifts, read_message

Kind = TypeVar("Kind", bound=Message)

_THIS = "sensor = ? AND window = ? AND code = ?"
_SUMMARY = (
    "COUNT(*), COALESCE(MAX(sequence), -1), COALESCE(SUM(rows), 0), MAX(CASE WHEN last THEN sequence END), "
    "COALESCE(MAX(sequence = ?), 0)"
)


class Batches(NamedTuple):
    """The batches that a window has so far, their highest number and the last one's, and all readings."""

    number: int
    highest: int
    rows: int
    last: int | None
    known: bool  # whether the batch that was asked about is among them


class Journal(JournalFile):
    """What one party remembers.

    Parameters
    ----------
    path : path
        The file; it is made if it is not there.
    address : str
        Whose journal it is; another party's is refused.

    Examples
    --------
    >>> with Journal(folder / "corrector.journal", "corrector") as journal, journal.transaction():
    ...     journal.note("greeting", "hello")
    ...     journal.read_note("greeting")
    'hello'
    """

    def keep(self, message: Message) -> None:
        """Keep a message until its receipt comes."""
        key = (message.sensor, message.window, message.code, message.sequence)
        self.execute(
            "INSERT INTO outbox (sensor, window, code, sequence, body) VALUES (?, ?, ?, ?, ?)",
            (*key, message.to_bytes()),
        )

    def settle(self, receipt: MessageReceipt) -> None:
        """Forget a message that arrived; a second receipt changes nothing."""
        key = (receipt.sensor, receipt.window, receipt.of.code, receipt.sequence)
        self.execute(f"DELETE FROM outbox WHERE {_THIS} AND sequence = ?", key)  # noqa: S608

    def withdraw(self, message: Message) -> None:
        """Send a message no more, whether or not it arrived."""
        key = (message.sensor, message.window, message.code, message.sequence)
        self.execute(f"DELETE FROM outbox WHERE {_THIS} AND sequence = ?", key)  # noqa: S608

    def unsettled(self, most: int) -> list[Message]:
        """Return what was not acknowledged, oldest first; all of it with -1."""
        with self._lock:
            rows = self.execute("SELECT body FROM outbox ORDER BY id LIMIT ?", (most,)).fetchall()
        return [read_message(body) for (body,) in rows]

    def count_unsettled(self) -> int:
        """Return how many messages were not acknowledged."""
        with self._lock:
            return int(self.execute("SELECT COUNT(*) FROM outbox").fetchone()[0])

    def is_finished(self, sensor: str, window: int) -> bool:
        """Say whether all of a window is done."""
        query = "SELECT 1 FROM finished WHERE sensor = ? AND window = ?"
        return window < self.floor(sensor) or self.execute(query, (sensor, window)).fetchone() is not None

    def floor(self, sensor: str) -> int:
        """Return the first window of a sensor that is not finished."""
        row = self.execute("SELECT window FROM floors WHERE sensor = ?", (sensor,)).fetchone()
        return 0 if row is None else int(row[0])

    def finish(self, sensor: str, window: int) -> None:
        """Forget a window's parts and remember that it is done."""
        self.finish_all(sensor, window, window)

    def finish_all(self, sensor: str, first: int, last: int) -> None:
        """Forget the parts of windows, the last one's too, and remember that they are done."""
        key = (sensor, first, last)
        self.execute("DELETE FROM parts WHERE sensor = ? AND window BETWEEN ? AND ?", key)
        # See `versions`: enough to find a copied sensor, too little to find out what a batch was.
        self.execute(
            "UPDATE versions SET digest = substr(digest, 1, 1) WHERE sensor = ? AND window BETWEEN ? AND ?",
            key,
        )
        floor = self.floor(sensor)
        if first <= floor:
            floor = max(floor, last + 1)
            self.execute("DELETE FROM finished WHERE sensor = ? AND window < ?", (sensor, floor))
        else:
            for window in range(first, last + 1):
                self.execute("INSERT OR IGNORE INTO finished VALUES (?, ?)", (sensor, window))
        while self.execute("DELETE FROM finished WHERE sensor = ? AND window = ?", (sensor, floor)).rowcount:
            floor += 1
        self.execute("INSERT OR REPLACE INTO floors VALUES (?, ?)", (sensor, floor))
        self._finished += 1

    def add(self, message: Message) -> bool:
        """Keep a part of a window; return False if it was there already, and leave that one."""
        rows, last = (len(message.values), message.last) if isinstance(message, Readings | Shifts) else (0, 1)
        key = (message.sensor, message.window, message.code, message.sequence)
        added = self.execute(
            "INSERT OR IGNORE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)", (*key, rows, last, message.to_bytes())
        )
        return added.rowcount == 1

    def batches(self, message: Readings | Shifts) -> Batches:
        """Return what is known of the batches of the message's window, without reading them."""
        query = f"SELECT {_SUMMARY} FROM parts WHERE {_THIS}"  # noqa: S608
        key = (message.sequence, message.sensor, message.window, message.code)
        number, highest, rows, last, known = self.execute(query, key).fetchone()
        return Batches(number, highest, rows, last, bool(known))

    def parts(self, sensor: str, window: int, kind: type[Kind]) -> list[Kind]:
        """Return the parts of one kind that a window has so far, in order."""
        query = f"SELECT body FROM parts WHERE {_THIS} ORDER BY sequence"  # noqa: S608
        rows = self.execute(query, (sensor, window, kind.code)).fetchall()
        return [part for (body,) in rows if isinstance(part := read_message(body), kind)]

    def first(self, sensor: str, kind: type[Message]) -> int | None:
        """Return the first window of which there is a part of a kind."""
        query = "SELECT MIN(window) FROM parts WHERE sensor = ? AND code = ?"
        row = self.execute(query, (sensor, kind.code)).fetchone()
        return None if row[0] is None else int(row[0])

    def add_alarm(self, sensor: str, window: int, reporter: str, reason: int) -> int | None:
        """Keep an alarm; return its number, or None if it was there already."""
        added = self.execute(
            "INSERT OR IGNORE INTO alarms (sensor, window, reporter, reason) VALUES (?, ?, ?, ?)",
            (sensor, window, reporter, int(reason)),
        )
        return added.lastrowid if added.rowcount == 1 else None

    def alarms(self, after: int) -> list[tuple[int, str, int, str, int]]:
        """Return the alarms behind a number: number, sensor, window, who noticed, reason."""
        with self._lock:
            return self.execute(
                "SELECT id, sensor, window, reporter, reason FROM alarms WHERE id > ? ORDER BY id", (after,)
            ).fetchall()

    def decide(self, sensor: str, first: int, last: int, reason: str) -> int:
        """Keep a decision to give up windows; return its number."""
        added = self.execute(
            "INSERT INTO decisions (sensor, first, last, reason) VALUES (?, ?, ?, ?)",
            (sensor, first, last, reason),
        )
        return int(added.lastrowid or 0)

    def judged(self, sensor: str, first: int, last: int) -> set[int]:
        """Return which of a sensor's windows have a verdict."""
        rows = self.execute(
            "SELECT window FROM verdicts WHERE sensor = ? AND window BETWEEN ? AND ?", (sensor, first, last)
        )
        return {int(window) for (window,) in rows}

    def judge(self, sensor: str, window: int, body: bytes) -> None:
        """Keep a verdict for good; a second one of the same window changes nothing."""
        self.execute(
            "INSERT OR IGNORE INTO verdicts (sensor, window, body) VALUES (?, ?, ?)", (sensor, window, body)
        )

    def verdicts(self, after: int) -> Iterator[tuple[int, Message]]:
        """Return the verdicts behind a number, oldest first, each with its number."""
        with self._lock:
            rows = self.execute("SELECT id, body FROM verdicts WHERE id > ? ORDER BY id", (after,))
            found = rows.fetchall()
        for number, body in found:
            yield number, read_message(body)

    def stored(self, kind: type[Kind]) -> Iterator[Kind]:
        """Return all parts of one kind, whatever sensor and window they are of."""
        rows = self.execute("SELECT body FROM parts WHERE code = ?", (kind.code,)).fetchall()
        for (body,) in rows:
            if isinstance(part := read_message(body), kind):
                yield part

    def forget_until(self, window: int) -> None:
        """Forget the parts of a window, and of all before it, whatever sensor they are of."""
        self.execute("DELETE FROM parts WHERE window <= ?", (window,))
        self._finished += 1

    def drop(self, message: Message) -> None:
        """Forget one part of a window."""
        key = (message.sensor, message.window, message.code, message.sequence)
        self.execute(f"DELETE FROM parts WHERE {_THIS} AND sequence = ?", key)  # noqa: S608

    def forget(self, sensor: str, window: int) -> None:
        """Forget the parts of one window."""
        self.execute("DELETE FROM parts WHERE sensor = ? AND window = ?", (sensor, window))

    def is_waiting(self, message: Message) -> bool:
        """Say whether a message in the same place waits for its receipt."""
        key = (message.sensor, message.window, message.code, message.sequence)
        query = f"SELECT 1 FROM outbox WHERE {_THIS} AND sequence = ?"  # noqa: S608
        return self.execute(query, key).fetchone() is not None

    def is_judged(self, sensor: str, window: int) -> bool:
        """Say whether a window has its verdict."""
        query = "SELECT 1 FROM verdicts WHERE sensor = ? AND window = ?"
        return self.execute(query, (sensor, window)).fetchone() is not None

    def verdict(self, sensor: str, window: int) -> Message | None:
        """Return a window's verdict, if there is one."""
        query = "SELECT body FROM verdicts WHERE sensor = ? AND window = ?"
        row = self.execute(query, (sensor, window)).fetchone()
        return None if row is None else read_message(row[0])

    def withdraw_all(self, kind: type[Message]) -> None:
        """Send none of one kind any more."""
        self.execute("DELETE FROM outbox WHERE code = ?", (kind.code,))

    def count_of(self, kind: type[Message]) -> int:
        """Return how many messages of one kind were not acknowledged."""
        with self._lock:
            row = self.execute("SELECT COUNT(*) FROM outbox WHERE code = ?", (kind.code,)).fetchone()
        return int(row[0])
