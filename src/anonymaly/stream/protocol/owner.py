# SPDX-License-Identifier: Apache-2.0
"""The owner: learns which readings to look at, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import read_name, refused
from anonymaly.stream.protocol.messages import Message, Verdict
from anonymaly.stream.protocol.parties import Party


@dataclass(frozen=True)
class Judgement:
    """A verdict in the order of its arrival."""

    number: int
    verdict: Verdict


class Owner(Party):
    """Keeps exactly one verdict for each window.

    Parameters
    ----------
    sensors : list of str
        Whose verdicts to take.
    journal : path
        The owner's own file; verdicts stay in it.

    Examples
    --------
    >>> import numpy as np
    >>> owner = Owner(["room-1"], folder / "owner.journal")
    >>> yes, no = np.array([True, False]), np.array([False, False])
    >>> _ = owner.handle(Verdict("room-1", 0, yes, no, no, no))
    >>> [(item.verdict.window, item.verdict.found.tolist()) for item in owner.verdicts()]
    [(0, [True, False])]
    """

    def __init__(self, sensors: Iterable[str], journal: str | Path) -> None:
        if isinstance(sensors, str):
            raise InputError(
                "must be a list of names", field="sensors", next_step='Give, for instance, ["room-1"].'
            )
        self.sensors = frozenset(read_name(name) for name in sensors)
        super().__init__("owner", journal)

    def verdicts(self, after: int = 0) -> Iterator[Judgement]:
        """Return what was judged, oldest first; ``after`` is the number of the last one seen."""
        for number, message in self._journal.verdicts(after):
            if isinstance(message, Verdict):
                yield Judgement(number, message)

    def _take(self, message: Message) -> list[Message]:
        if not isinstance(message, Verdict):
            raise refused("is of a kind that an owner does not take")
        if message.sensor not in self.sensors:
            raise refused(f"is about the sensor {message.sensor}, which is not declared")
        self._journal.judge(message.sensor, message.window, message.to_bytes())
        return []
