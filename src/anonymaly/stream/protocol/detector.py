# SPDX-License-Identifier: Apache-2.0
"""The detector sees perturbed readings, and never how far they were moved, but for one suspect a window.

Böhler et al. 2017 call it the analyst.
"""

from __future__ import annotations

import numpy as np

from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.encoding import refused
from anonymaly.stream.protocol.messages import Candidates, Message, Readings, Suspects, Thresholds
from anonymaly.stream.protocol.server import StreamServer


class StreamDetector(StreamServer):
    """Finds suspects among perturbed readings, and says which readings lie beyond the two distances.

    Parameters
    ----------
    streams : mapping
        Each sensor's name → its `StreamDeclaration`.
    journal : path
        The detector's own file.
    earlier : mapping, optional
        What was declared before: each sensor's name → declarations, each with the first window of which it
        holds no more.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column, Declaration
    >>> column = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> room = Declaration(columns=[column], epsilon=0.5, window=3, layer=2.0, model="radius")
    >>> detector = StreamDetector({"room-1": room}, folder / "detector.journal")
    >>> batch = Readings("room-1", 0, np.array([[100], [104], [390]]), last=True)
    >>> receipt, suspects = detector.handle(batch)
    >>> suspects.recipient, suspects.message.members.tolist()
    ('corrector', [False, False, True])
    """

    overseer = "corrector"  # it has no key of the owner's
    role = "detector"

    def _advance(self, message: Message) -> list[Message]:
        stream = self.stream_of(message.sensor, message.window)
        if isinstance(message, Readings):
            if message.values.shape[1] != len(stream.columns):
                raise refused(
                    f"has {message.values.shape[1]} columns where {len(stream.columns)} are declared"
                )
            return self._suspect(message, stream) if self._gather(message) else []
        if isinstance(message, Thresholds):
            return self._look_beyond(message, stream)
        raise refused("is of a kind that a detector does not take")

    def _suspect(self, message: Message, stream: StreamDeclaration) -> list[Message]:
        values = self._values(message.sensor, message.window, Readings)
        members = stream.make_model().suspects(stream.places(values))
        suspects = Suspects(message.sensor, message.window, members)
        self._journal.add(suspects)
        return [suspects]

    def _look_beyond(self, message: Thresholds, stream: StreamDeclaration) -> list[Message]:
        found = self._journal.parts(message.sensor, message.window, Suspects)
        if not found:
            raise refused("answers suspects that were never named")
        members = found[0].members
        if message.near is None or message.far is None:
            near = far = np.zeros(len(members), np.bool_)
        else:
            distances = stream.distances(self._values(message.sensor, message.window, Readings))
            near = ~members & (distances >= message.near * stream.precision)
            far = ~members & (distances >= message.far * stream.precision)
        self._journal.finish(message.sensor, message.window)
        return [Candidates(message.sensor, message.window, near, far)]
