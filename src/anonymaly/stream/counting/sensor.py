# SPDX-License-Identifier: Apache-2.0
"""The sensor of ``counting``: charges, shares its reading's cell, and sends one share to each counter.

What leaves was paid for before (`PayingSensor`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.epsilon import Number
from anonymaly.noise import Noise
from anonymaly.stream.counting.contribution import contribute
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.messages import Contribution
from anonymaly.stream.counting.pool_declarations import EarlierDeclaration, PoolDeclarations
from anonymaly.stream.counting.promise import CountingPromise, windows_guarantee
from anonymaly.stream.protocol.giving_sensor import Consent
from anonymaly.stream.protocol.kept_readings import KeptReading
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.timed_sensor import TimedSensor, kept_of
from anonymaly.stream.protocol.windows import Moment

CONTRIBUTION_BYTES = 1264  # two shares in the journal, at most


class CountingSensor(TimedSensor[CountingDeclaration]):
    """Contributes at most one reading to every window, within a budget.

    Parameters
    ----------
    name : str
        What the others call it.
    declaration : CountingDeclaration
        What is public about the pool.
    journal : path
        The sensor's own file: what was sent and not yet acknowledged.
    ledger : path or PostgreSQL URL
        Where charges are kept.
    budget : number, optional
        The most ε that all readings together may cost. Needed the first time.
    anchor : path, optional
        A file elsewhere that shows whether the ledger was set back.
    keep, consent
        As of `Sensor`.
    earlier : list of EarlierDeclaration, optional
        What was declared before, oldest first. An account that does not know of a change yet is amended: what
        was spent stays spent, and the ledger keeps the change and its reason.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import CountedColumn, PooledWindows
    >>> pool = CountingDeclaration(
    ...     columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=50)], epsilon=0.5, period=2,
    ...     share=0.1, radius=1, windows=PooledWindows(
    ...         start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=2))
    >>> sensor = CountingSensor("room-1", pool, journal=folder / "c.journal", ledger=folder / "c.ledger",
    ...                         budget=10)
    >>> moments = [f"2026-01-01T00:{minute}:00+00:00" for minute in ("00", "07", "16")]
    >>> [(item.recipient, item.message.window) for item in sensor.send([20.1, 20.3, 19.8], moments)]
    [('counter-1', 0), ('counter-2', 0), ('counter-1', 1), ('counter-2', 1)]
    >>> sensor.spent, sensor.repeated  # window 1 is not counted, and window 0 had a reading at 00:07
    (0.5, 1)
    """

    def __init__(
        self,
        name: str,
        declaration: CountingDeclaration,
        *,
        journal: str | Path,
        ledger: str | Path,
        budget: Number | None = None,
        anchor: str | Path | None = None,
        earlier: Sequence[EarlierDeclaration] = (),
        keep: int = 0,
        consent: Consent = "ask",
    ) -> None:
        self.declared = PoolDeclarations(declaration, earlier)
        super().__init__(
            name,
            declaration,
            journal=journal,
            ledger=ledger,
            budget=budget,
            anchor=anchor,
            keep=keep,
            consent=consent,
        )
        self._withdraw_what_nobody_takes()

    def send_nothing(self, times: Iterable[Moment] | None = None) -> list[Outgoing]:
        """Contribute without a reading, which neither server sees by itself; costs as much as one."""
        self._journal.refuse_in_child()
        moments = [time.time()] if times is None else list(times)
        windows = self._windows(moments, len(moments))
        with self._one_send:
            return self._contribute([None] * len(moments), windows)

    def warm_up(self) -> None:
        """Load compiled code before anything is charged."""
        contribute(self.name, 0, 0, self.declaration.bits, Noise.system())

    @property
    def counted(self) -> int:
        """To how many windows that are counted it contributed: those that cost."""
        return sum(self._counted_from(begins) for begins, _ in self.declared.each())

    def promise(self) -> CountingPromise:
        """Say what is promised of the readings sent so far, and what is not."""
        counted = [self._counted_from(begins) for begins, _ in self.declared.each()]
        earlier = tuple(zip(self.declared.earlier, counted, strict=False))
        return CountingPromise(self.declaration, counted[-1], earlier, self.given, self.keep)

    def _counted_from(self, begins: int) -> int:
        """Return how many readings were paid for under the declaration that begins with a window."""
        return self._noted(_note_of(begins))

    def _send_rows(self, rows: Floats, windows: Integers, kept: Sequence[KeptReading]) -> list[Outgoing]:
        return self._contribute(self._cells_of(rows, windows), windows, kept)

    def _cells_of(self, rows: Floats, windows: Integers) -> list[int | None]:
        cells: list[int | None] = [None] * len(rows)
        begins = [self.declared.begins(window) for window in windows.tolist()]
        for first in set(begins):
            places = [place for place, found in enumerate(begins) if found == first]
            found = self.declared.of(first).cells_of(rows[places])
            for place, cell in zip(places, found.tolist(), strict=True):
                cells[place] = cell
        return cells

    def _contribute(
        self, cells: Sequence[int | None], windows: Integers, readings: Sequence[KeptReading] = ()
    ) -> list[Outgoing]:
        chosen, notes = self._choose(windows)
        paid = [item.window for item in chosen if self.declared.of(item.window).is_counted(item.window)]
        counted = Counter(map(self.declared.begins, paid))
        for begins, number in counted.items():
            notes[_note_of(begins)] = self._counted_from(begins) + number

        def make() -> tuple[list[Message], Mapping[str, str]]:
            noise, made = Noise.system(), list[Message]()
            for place, window, previous in chosen:
                bits, declared = self.declared.of(window).bits, self.declared.fingerprint(window)
                made += contribute(self.name, window, cells[place], bits, noise, previous, declared)
            return made, {name: str(number) for name, number in notes.items()}

        asks = f"{len(chosen)} contributions, {len(paid)} of them counted, up to window {notes['newest']}"
        each = [(self.declared.of(begins), number) for begins, number in sorted(counted.items())]
        guarantee = windows_guarantee(each) if each else None
        size, kept = CONTRIBUTION_BYTES * len(chosen), kept_of(chosen, readings)
        return self._send(guarantee, len(paid), asks, size, make, kept, notes["newest"])

    def _open_account(self, budget: Number | None) -> None:
        """Enter the changes that the account does not know of yet, then open it."""
        if self.name in self._ledger.accounts():
            known = dict(self._account.declaration)
            states = self.declared.as_accounts()
            number = states.index(known) if known in states else len(states)  # else it is refused
            for change, state in list(zip(self.declared.earlier, states[1:], strict=True))[number:]:
                self._ledger.amend(
                    self.name, state, rules={}, reason=change.reason,
                    learned_from_rows=change.learned_from_readings,
                )  # fmt: skip
        super()._open_account(budget)

    def _account_of(self, declaration: CountingDeclaration) -> dict[str, Any]:
        return self.declared.as_accounts()[-1]

    def _withdraw_what_nobody_takes(self) -> None:
        """Send nothing that was made under what is declared of its window no more; it stays paid for."""
        with self._journal.transaction():
            for message in self._journal.unsettled(-1):
                known = self.declared.fingerprint(message.window)
                if isinstance(message, Contribution) and message.declared != known:
                    self._journal.withdraw(message)


def _note_of(begins: int) -> str:
    """Return where the journal keeps how many readings a declaration counted, by its first window."""
    return f"counted from {begins}" if begins else "counted"
