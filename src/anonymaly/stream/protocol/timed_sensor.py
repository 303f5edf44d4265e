# SPDX-License-Identifier: Apache-2.0
"""A sensor of a pool, whatever its protocol: at most one reading of each window leaves it (`windows`)."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from anonymaly.core.arrays import Floats, Integers
from anonymaly.errors import InputError
from anonymaly.stream.protocol.kept_readings import KeptReading, times_of
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.paying_sensor import Charged, PayingSensor
from anonymaly.stream.protocol.perturb import read_readings
from anonymaly.stream.protocol.pool import DeclaredPool
from anonymaly.stream.protocol.windows import Moment


class ChargedPool(DeclaredPool, Charged, Protocol):
    """What is public about a pool's readings, and what they cost."""


Declared = TypeVar("Declared", bound=ChargedPool)


class Chosen(NamedTuple):
    """The reading of a window: its place among those given, and the window of the contribution before."""

    place: int
    window: int
    previous: int


def kept_of(chosen: Iterable[Chosen], readings: Sequence[KeptReading]) -> list[KeptReading]:
    """Return the readings in clear of what is sent, for a sensor that keeps some."""
    return [readings[item.place]._replace(window=item.window, place=0) for item in chosen] if readings else []


class TimedSensor(PayingSensor[Declared]):
    """Contributes at most one reading to every window, within a budget.

    Parameters
    ----------
    name, declaration, journal, ledger, budget, anchor, keep, consent
        As of `Sensor`.
    """

    def send(self, readings: Any, times: Iterable[Moment] | None = None) -> list[Outgoing]:
        """Charge the account, hide the readings, and return what to send; all of them or none.

        The first reading of a window counts, and windows only go up; others are left out, cost nothing, and
        are counted in ``repeated`` and ``late``.

        Parameters
        ----------
        readings
            A frame or mapping with the declared columns, or rows in their order; for one column also a list.
        times
            When each was taken: dates with their offset from UTC, or seconds since 1970. Now, if not given.

        Raises
        ------
        BudgetExceeded
            Nothing was spent and nothing is sent: the budget does not suffice for these readings.
        InputError
            The readings are not what was declared; nothing was spent.
        LedgerError
            The journal cannot be written: nothing was spent. Or the ledger cannot be written, or does not
            say whether it was: the charge may stand, nothing was sent unless ``accepted`` has grown, and
            readings that are sent again are charged again.
        """
        self._journal.refuse_in_child()  # before the lock, which a thread of the parent may have held
        rows = read_readings(self.declaration, readings)
        moments = None if times is None else list(times)
        windows, kept = self._windows(moments, len(rows)), self._in_clear(rows, moments)
        with self._one_send:
            return self._send_rows(rows, windows, kept)

    @abstractmethod
    def _send_rows(self, rows: Floats, windows: Integers, kept: Sequence[KeptReading]) -> list[Outgoing]:
        """Send the first reading of each window, and keep those in clear that are to be kept."""

    @abstractmethod
    def warm_up(self) -> None:
        """Load compiled code before anything is charged: it takes a while, and a kill would cost budget."""

    @property
    def newest(self) -> int:
        """The newest window that the sensor contributed to, -1 if there is none."""
        return int(self._journal.read_note("newest") or -1)

    @property
    def repeated(self) -> int:
        """How many readings were left out because their window had one."""
        return self._noted("repeated")

    @property
    def late(self) -> int:
        """How many readings were left out because a later window had one."""
        return self._noted("late")

    def _noted(self, name: str) -> int:
        return int(self._journal.read_note(name) or 0)

    def _windows(self, times: Iterable[Moment] | None, readings: int) -> Integers:
        moments = [time.time()] * readings if times is None else list(times)
        if len(moments) != readings:
            raise InputError(
                f"are {len(moments)}, and there are {readings} readings",
                field="times",
                next_step="Give one for each reading.",
            )
        return self.declaration.windows.numbers_of(moments)

    def _in_clear(self, rows: Floats, times: Sequence[Moment] | None) -> list[KeptReading]:
        """Return the readings with their times, if any are kept; which windows they are of comes later."""
        if not self.keep:
            return []
        known = times_of(times, len(rows))
        return [KeptReading(0, 0, *item) for item in zip(known, map(tuple, rows.tolist()), strict=True)]

    def _choose(self, windows: Integers) -> tuple[list[Chosen], dict[str, int]]:
        """Return the first reading of each window that is newer than all before, and what to note then."""
        newest, repeated, late = self.newest, self.repeated, self.late
        chosen: list[Chosen] = []
        for place, window in enumerate(windows.tolist()):
            if window > newest:
                chosen.append(Chosen(place, window, newest))
                newest = window
            elif window == newest:
                repeated += 1
            else:
                late += 1
        notes = {"newest": newest, "repeated": repeated, "late": late}
        return chosen, notes | {"accepted": self.accepted + len(chosen)}
