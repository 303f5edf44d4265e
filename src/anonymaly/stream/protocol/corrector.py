# SPDX-License-Identifier: Apache-2.0
"""The corrector: sees how far each reading moved, and never where it was or is."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.stream.protocol.correction import Split, missed_layers, split_suspects
from anonymaly.stream.protocol.encoding import refused
from anonymaly.stream.protocol.messages import Candidates, Message, Shifts, Suspects, Thresholds, Verdict
from anonymaly.stream.protocol.server import StreamServer


class Corrector(StreamServer):
    """Keeps the suspects that hardly moved, and finds readings that were hidden by their move.

    Parameters
    ----------
    streams : mapping
        Each sensor's name → its `StreamDeclaration`.
    journal : path
        The corrector's own file.
    earlier : mapping, optional
        What was declared before: each sensor's name → declarations, each with the first window of which it
        holds no more.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column, Declaration
    >>> column = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> room = Declaration(columns=[column], epsilon=0.5, window=3, layer=2.0)
    >>> corrector = Corrector({"room-1": room}, folder / "corrector.journal")
    >>> _ = corrector.handle(Shifts("room-1", 0, np.array([3, 40, 900]), last=True))
    >>> receipt, thresholds = corrector.handle(Suspects("room-1", 0, np.array([False, True, True])))
    >>> thresholds.recipient, thresholds.message.near, thresholds.message.far
    ('detector', 40, 2040)
    """

    role = "corrector"
    followers = ("detector",)

    def _advance(self, message: Message) -> list[Message]:
        sensor, window = message.sensor, message.window
        if isinstance(message, Shifts):
            complete = self._gather(message)
            found = self._journal.parts(sensor, window, Suspects) if complete else []
            return self._divide(found[0]) if found else []
        if isinstance(message, Suspects):
            new = self._journal.add(message)
            return self._divide(message) if new and self._is_complete(sensor, window, Shifts) else []
        if isinstance(message, Candidates):
            return self._judge(message)
        raise refused("is of a kind that a corrector does not take")

    def _divide(self, suspects: Suspects) -> list[Message]:
        sensor, window = suspects.sensor, suspects.window
        shifts = self._values(sensor, window, Shifts)
        members = suspects.members
        if len(members) != len(shifts):
            # So that the detector does not wait: without distances there is nothing to look for.
            return [Thresholds(sensor, window, None, None), self._give_up(suspects, len(shifts))]
        split = self._split(sensor, window, shifts, members)
        far = split.beyond(self.stream_of(sensor, window).layer_steps)
        thresholds = Thresholds(sensor, window, split.least, far)
        self._journal.add(thresholds)
        return [thresholds]

    def _judge(self, message: Candidates) -> list[Message]:
        sensor, window = message.sensor, message.window
        told = self._journal.parts(sensor, window, Thresholds)
        if not told:
            raise refused("answers distances that were never given")
        shifts = self._values(sensor, window, Shifts)
        suspects = self._journal.parts(sensor, window, Suspects)[0].members
        if len(message.near) != len(shifts):
            return [self._give_up(message, len(shifts))]
        confirmed = self._split(sensor, window, shifts, suspects).confirmed
        # A candidate is never a suspect, even if a faulty detector says so.
        near, far = message.near & ~suspects, message.far & ~suspects
        # As it was told, not as it would be told now: candidates answer that, and an update may lie between.
        steps = self.stream_of(sensor, window).layer_steps
        layers = missed_layers(shifts, suspects, near, far, told[0].near, steps)
        self._journal.finish(sensor, window)
        return [Verdict(sensor, window, confirmed, layers.inward, layers.covered, layers.covered_far)]

    def _split(self, sensor: str, window: int, shifts: Integers, suspects: Booleans) -> Split:
        stream = self.stream_of(sensor, window)
        # Counted here and not by the detector, which might name too few on purpose.
        return split_suspects(shifts, suspects, stream.gap, stream.least_suspects)

    def _give_up(self, message: Message, size: int) -> Verdict:
        """Say that nothing can be judged: the two servers received windows of different length."""
        nobody = np.zeros(size, np.bool_)
        self._journal.finish(message.sensor, message.window)
        return Verdict(message.sensor, message.window, nobody, nobody, nobody, nobody, complete=False)
