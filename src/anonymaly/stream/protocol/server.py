# SPDX-License-Identifier: Apache-2.0
"""What both servers do: gather batches, which arrive in any order, into windows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.errors import InputError
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.encoding import NotYet, read_name, refused
from anonymaly.stream.protocol.messages import Message, Readings, Shifts
from anonymaly.stream.protocol.parties import MOST_OPEN, Party

# Each sensor's earlier declarations, with the first window of which each holds no more.
Earlier = Mapping[str, Sequence[tuple[int, StreamDeclaration]]]


class StreamServer(Party):
    """A party that gathers the windows of many sensors: the detector, the corrector."""

    role: ClassVar[str]
    """Its address."""

    def __init__(
        self,
        streams: Mapping[str, StreamDeclaration],
        journal: str | Path,
        earlier: Earlier = MappingProxyType({}),
    ) -> None:
        if not isinstance(streams, Mapping) or not streams:
            raise InputError(
                "must map each sensor's name to its StreamDeclaration",
                field="streams",
                next_step='Give, for instance, {"room-1": declaration}.',
            )
        self.streams = {read_name(name): _declaration(stream) for name, stream in streams.items()}
        self._earlier = {name: sorted(items, key=lambda item: item[0]) for name, items in earlier.items()}
        super().__init__(self.role, journal)

    def stream_of(self, sensor: str, window: int) -> StreamDeclaration:
        """Return what is declared of a sensor's window."""
        return declared_of(self.streams, self._earlier, sensor, window)

    def _take(self, message: Message) -> list[Message]:
        if message.sensor not in self.streams:
            raise refused(f"is about the sensor {message.sensor}, which is not declared")
        if self._journal.is_finished(message.sensor, message.window):
            return []
        if message.window >= self._journal.floor(message.sensor) + MOST_OPEN:
            raise NotYet(
                f"is {MOST_OPEN} windows ahead of what is finished here, or more",
                field="message",
                next_step=f"It will be sent again. If the windows of {message.sensor} before "
                f"{message.window} will never be finished, because a journal was lost, the owner gives them "
                f"up: anonymaly stream skip --sensor {message.sensor} --until {message.window}",
            )
        return self._advance(message)

    @abstractmethod
    def _advance(self, message: Message) -> list[Message]:
        """Enter a message about an open window; return what follows from it."""

    def _gather(self, message: Readings | Shifts) -> bool:
        """Keep a batch; return whether it is new and its window complete with it."""
        known = self._journal.batches(message)
        if known.known:
            return False
        last = message.part if message.last else known.last
        two_ends = message.last and known.last is not None
        if two_ends or (last is not None and max(known.highest, message.part) > last):
            raise refused("is a batch behind the window's last")
        if len(message.values) == 0 and not message.last:
            raise refused("is an empty batch")
        if known.rows + len(message.values) > self.stream_of(message.sensor, message.window).window:
            raise refused("would make its window longer than declared")
        self._journal.add(message)
        return known.number == last

    def _is_complete(self, sensor: str, window: int, kind: type[Readings] | type[Shifts]) -> bool:
        known = self._journal.parts(sensor, window, kind)
        return bool(known) and known[-1].last and len(known) == known[-1].part + 1

    def _values(self, sensor: str, window: int, kind: type[Readings] | type[Shifts]) -> Integers:
        return np.concatenate([part.values for part in self._journal.parts(sensor, window, kind)])


def declared_of(
    streams: Mapping[str, StreamDeclaration], earlier: Earlier, sensor: str, window: int
) -> StreamDeclaration:
    """Return what is declared of a sensor's window; earlier declarations are given oldest first."""
    for until, declared in earlier.get(sensor, ()):
        if window < until:
            return declared
    return streams[sensor]


def _declaration(stream: StreamDeclaration) -> StreamDeclaration:
    if not isinstance(stream, StreamDeclaration):
        raise InputError(
            f"must be a StreamDeclaration, got {type(stream).__name__}",
            field="streams",
            next_step="Give am.stream.Declaration(columns=…, epsilon=…, window=…, layer=…).",
        )
    return stream
