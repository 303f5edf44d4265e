# SPDX-License-Identifier: Apache-2.0
"""The owner: learns which readings to look at, and nothing else without the consent of a sensor's holder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import read_name, refused
from anonymaly.stream.protocol.fetching_owner import FetchingOwner
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.messages import Message, Verdict
from anonymaly.stream.protocol.notices import AlarmReason
from anonymaly.stream.protocol.parties import Outgoing

MOST_GIVEN_UP = 100_000  # windows without a verdict that one decision gives up
LONGEST_REASON = 2000


@dataclass(frozen=True)
class Judgement:
    """A verdict in the order of its arrival."""

    number: int
    verdict: Verdict


@dataclass(frozen=True)
class AlarmEntry:
    """Something that a party found wrong with a sensor, in the order of its arrival."""

    number: int
    sensor: str
    window: int
    reporter: str
    reason: AlarmReason


class Owner(FetchingOwner):
    """Keeps exactly one verdict for each window.

    Parameters
    ----------
    sensors : list of str
        Whose verdicts to take.
    journal : path
        The owner's own file; verdicts stay in it.
    fetchable : list of str, optional
        Those of the sensors that can be asked for a reading; all, if not given.

    Examples
    --------
    >>> import numpy as np
    >>> owner = Owner(["room-1"], folder / "owner.journal")
    >>> yes, no = np.array([True, False]), np.array([False, False])
    >>> _ = owner.handle(Verdict("room-1", 0, yes, no, no, no))
    >>> [(item.verdict.window, item.verdict.found.tolist()) for item in owner.verdicts()]
    [(0, [True, False])]
    >>> (asked,) = owner.fetch("room-1", 0, 0, reason="is the window open?")
    >>> asked.recipient, [item.state for item in owner.fetches()]
    ('sensor/room-1', ['waiting'])
    """

    followers = ("corrector",)

    def __init__(
        self, sensors: Iterable[str], journal: str | Path, fetchable: Iterable[str] | None = None
    ) -> None:
        if isinstance(sensors, str):
            raise InputError(
                "must be a list of names", field="sensors", next_step='Give, for instance, ["room-1"].'
            )
        self.sensors = frozenset(read_name(name) for name in sensors)
        super().__init__("owner", journal)
        self._set_fetchable(self.sensors if fetchable is None else fetchable)

    def verdicts(self, after: int = 0) -> Iterator[Judgement]:
        """Return what was judged, oldest first; ``after`` is the number of the last one seen."""
        for number, message in self._journal.verdicts(after):
            if isinstance(message, Verdict):
                yield Judgement(number, message)

    def alarms(self, after: int = 0) -> list[AlarmEntry]:
        """Return what was found wrong, oldest first; ``after`` is the number of the last one seen."""
        return alarms_of(self._journal, after)

    def skip(self, sensor: str, first: int, last: int, *, reason: str) -> list[Outgoing]:
        """Give up windows from the first to the last: those without a verdict get one that says so.

        The decision stays in the journal, with its reason, and goes to the servers, which forget what they
        have of these windows. A verdict that comes later changes nothing.

        Examples
        --------
        >>> owner = Owner(["room-1"], folder / "deciding.journal")
        >>> [(item.recipient, item.message.last) for item in owner.skip("room-1", 0, 1, reason="disk lost")]
        [('corrector', 1)]
        >>> [(item.verdict.window, item.verdict.complete) for item in owner.verdicts()]
        [(0, False), (1, False)]
        """
        if sensor not in self.sensors:
            raise InputError(
                f"{sensor} is not declared", field="sensor", next_step=f"Give one of {sorted(self.sensors)}."
            )
        if not 0 <= first <= last:
            raise InputError("must not be before the first", field="until", next_step="Give a later window.")
        check_reason(reason)
        with self._journal.transaction():
            missing = self._missing(sensor, first, last)
            for window in missing:
                self._journal.judge(sensor, window, self._given_up(sensor, window).to_bytes())
            number = self._journal.decide(sensor, first, last, reason)
            made = self._hand_on(sensor, first, last, number)
            for message in made:
                self._journal.keep(message)
        return [Outgoing(message.recipient, message) for message in made]

    def _is_flagged(self, sensor: str, window: int, place: int) -> bool:
        verdict = self._journal.verdict(sensor, window)
        if not isinstance(verdict, Verdict) or not 0 <= place < len(verdict.found):
            return False
        return bool(verdict.found[place])

    def _missing(self, sensor: str, first: int, last: int) -> list[int]:
        judged = self._journal.judged(sensor, first, last)
        check_given_up(last - first + 1 - len(judged))
        return [window for window in range(first, last + 1) if window not in judged]

    def _given_up(self, sensor: str, window: int) -> Message:
        """Return the verdict that says nothing."""
        nobody = np.zeros(0, np.bool_)
        return Verdict(sensor, window, nobody, nobody, nobody, nobody, complete=False)

    def _take(self, message: Message) -> list[Message]:
        if not isinstance(message, Verdict):
            raise refused("is of a kind that an owner does not take")
        if message.sensor not in self.sensors:
            raise refused(f"is about the sensor {message.sensor}, which is not declared")
        self._journal.judge(message.sensor, message.window, message.to_bytes())
        return []


def alarms_of(journal: Journal, after: int) -> list[AlarmEntry]:
    """Return the alarms in an owner's journal behind a number, oldest first."""
    return [
        AlarmEntry(number, sensor, window, reporter, AlarmReason(reason))
        for number, sensor, window, reporter, reason in journal.alarms(after)
    ]


def check_reason(reason: str) -> None:
    """Refuse a decision without a reason."""
    if not reason.strip() or len(reason) > LONGEST_REASON:
        raise InputError(
            f"must have 1 to {LONGEST_REASON} letters", field="reason", next_step="Say why in a sentence."
        )


def check_given_up(windows: int) -> None:
    """Refuse a decision about more windows than anybody means."""
    if windows > MOST_GIVEN_UP:
        raise InputError(
            f"would give up more than {MOST_GIVEN_UP:,} windows",
            field="until",
            next_step="Check the number, or give up some first.",
        )
