# SPDX-License-Identifier: Apache-2.0
"""When to send a message again that has no receipt: after growing pauses, and at once over a new connection.

The broker's own acknowledgement says that the broker has a message, not that its recipient keeps it, and a
broker that restarts may forget. The parties' journals hold all messages; this holds the next few in memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anonymaly.stream.protocol.messages import Message, MessageReceipt

FIRST_PAUSE = 2.0  # seconds
LONGEST_PAUSE = 10.0

Label = tuple[type[Message], str, int, int]


@dataclass
class _Sent:
    message: Message
    due: float
    pause: float = FIRST_PAUSE


class Outbox:
    """At most ``most`` messages that wait for their receipts; times are of a clock that never jumps.

    Examples
    --------
    >>> from anonymaly.stream.protocol.messages import Thresholds
    >>> outbox = Outbox(most=1)
    >>> [sent.window for sent in outbox.add([Thresholds("room-1", n, 5, 9) for n in range(2)], now=0)]
    [0]
    >>> outbox.take_due(now=1), [message.window for message in outbox.take_due(now=2)]
    ([], [0])
    >>> outbox.behind, outbox.confirm(MessageReceipt("room-1", 0, Thresholds)), len(outbox)
    (True, True, 0)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.behind = False  # whether messages were left out, which are in the journal only
        self._sent: dict[Label, _Sent] = {}

    def __len__(self) -> int:
        return len(self._sent)

    def add(self, messages: Iterable[Message], now: float) -> list[Message]:
        """Return what to send now: the new messages, unless older ones found no room and come first."""
        taken = []
        for message in messages:
            label = (type(message), message.sensor, message.window, message.sequence)
            if label in self._sent:
                continue
            self.behind = self.behind or len(self._sent) >= self.most
            if not self.behind:
                self._sent[label] = _Sent(message, now + FIRST_PAUSE)
                taken.append(message)
        return taken

    def catch_up(self, messages: Iterable[Message], now: float) -> list[Message]:
        """Return what to send now of the messages without a receipt, oldest first."""
        self.behind = False
        return self.add(messages, now)

    def confirm(self, receipt: MessageReceipt) -> bool:
        """Forget what a receipt is for; say whether it was known."""
        label = (receipt.of, receipt.sensor, receipt.window, receipt.part)
        return self._sent.pop(label, None) is not None

    def take_due(self, now: float) -> list[Message]:
        """Return what is to be sent again, oldest first, and set when it is due next."""
        due = [sent for sent in self._sent.values() if sent.due <= now]
        for sent in due:
            sent.pause = min(2 * sent.pause, LONGEST_PAUSE)
            sent.due = now + sent.pause
        return [sent.message for sent in due]

    def clear(self) -> None:
        """Forget all messages; the journal has them."""
        self._sent.clear()
