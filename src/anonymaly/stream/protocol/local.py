# SPDX-License-Identifier: Apache-2.0
"""The parties in one process: messages are carried as bytes, in a fixed order, until none is left."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import NotYet
from anonymaly.stream.protocol.messages import Message, read_message
from anonymaly.stream.protocol.parties import Outgoing, Party

Listener = Callable[[Message], object]


class LocalTransport:
    """Carries messages between parties of this process, oldest first.

    Parameters
    ----------
    parties
        All of them; messages for anybody else stay where they are sent from.
    listener
        Called with each message before it is handed over; for tests and demonstrations.

    Examples
    --------
    >>> from anonymaly import Interval, stream
    >>> celsius = stream.Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> room = stream.Declaration(columns=[celsius], epsilon=5, window=4, layer=2.0, model="radius")
    >>> sensor = stream.Sensor("room-1", room, journal=folder / "s", ledger=folder / "l", budget=100)
    >>> owner = stream.Owner(["room-1"], folder / "o")
    >>> servers = [kind({"room-1": room}, folder / kind.__name__)
    ...            for kind in (stream.Detector, stream.Corrector)]
    >>> transport = LocalTransport([sensor, *servers, owner])
    >>> transport.carry(sensor.send([20.1, 20.3, 19.8, 74.0]))
    >>> len(list(owner.verdicts()))
    1
    """

    def __init__(self, parties: Iterable[Party], listener: Listener | None = None) -> None:
        self.parties = {party.address: party for party in parties}
        self._listener = listener

    def carry(self, messages: Iterable[Outgoing]) -> None:
        """Hand over messages, and all messages that follow from them.

        What its recipient cannot take yet waits until something else was taken. Messages that nobody takes
        then stay with their senders, and `resume` tries again.
        """
        waiting = deque(messages)
        later: list[Outgoing] = []
        taken = False  # anything since what is in `later` was tried
        while waiting or (later and taken):
            if not waiting:
                waiting.extend(later)
                later.clear()
                taken = False
            item = waiting.popleft()
            party = self.parties.get(item.recipient)
            if party is None:
                raise InputError(f"there is no {item.recipient}", field="parties", next_step="Add the party.")
            # Through bytes, so that nothing passes here that could not pass over a wire.
            message = read_message(item.message.to_bytes())
            if self._listener is not None:
                self._listener(message)
            try:
                waiting.extend(party.handle(message))
            except NotYet:
                later.append(item)
            else:
                taken = True

    def resume(self) -> None:
        """Have every party send again what was not acknowledged."""
        for party in self.parties.values():
            self.carry(party.resume())
