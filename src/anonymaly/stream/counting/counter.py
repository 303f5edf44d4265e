# SPDX-License-Identifier: Apache-2.0
"""A counter, one of the two servers of ``counting``: holds shares of readings, and never a reading.

For each window, in order, both counters do the same steps (``steps``).
"""

from __future__ import annotations

import numpy as np

from anonymaly.errors import LedgerError
from anonymaly.stream.counting.messages import Contribution, HeldList, VerdictShares
from anonymaly.stream.counting.steps import FROM_THE_OTHER, WindowSteps
from anonymaly.stream.protocol.encoding import NotYet, refused
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.notices import Skip
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.windows import Moment


class PoolCounter(WindowSteps):
    """Counts the readings of a pool together with the other counter.

    Parameters
    ----------
    number : {1, 2}
        Which of the two it is.
    declaration : CountingDeclaration
        What is public about the pool.
    sensors : list of str
        Whose contributions to take. Lists name them by their places: new ones come last, for good.
    check_key : bytes
        32 bytes that both counters hold and no sensor knows, fixed before the first window.
    journal : path
        The counter's own file.
    retired : list of str, optional
        Those of the sensors that contribute no more, so that no window waits for them.
    earlier : list of EarlierDeclaration, optional
        What was declared before, oldest first.
    anchor : path, optional
        A file elsewhere that holds what was opened (`OpenedAnchor.begin` makes it). A counter whose journal
        does not agree with it passes over those windows instead of opening sums again with new noise.
    """

    share = Contribution

    def handle(self, message: Message) -> list[Outgoing]:
        """Take a message in and return what to send."""
        return self._anchored(super().handle(message))

    def tick(self, now: Moment) -> list[Outgoing]:
        """Say what time it is; return what to send because windows are over."""
        return self._anchored(super().tick(now))

    def resume(self) -> list[Outgoing]:
        """Return what was sent and not yet acknowledged, oldest first."""
        return self._anchored(super().resume())

    def close(self) -> None:
        """Let go of journal and anchor."""
        super().close()
        if self._anchor is not None:
            self._anchor.close()

    def _anchored(self, outgoing: list[Outgoing]) -> list[Outgoing]:
        """Return what leaves now, after the anchor holds what it opens."""
        if self._anchor is not None:
            if not self._agrees_with(self._anchor.opened):
                raise LedgerError(
                    "was set back while it was used, and its anchor was not; nothing leaves",
                    field="journal",
                    next_step="Start again: the counter then passes over what may have been opened.",
                )
            self._anchor.advance(self.opened)
        return outgoing

    def _recall(self) -> None:
        if not self._is_sure:
            self._totals.clear()
        super()._recall()

    def _take(self, message: Message) -> list[Message]:
        if isinstance(message, Contribution):
            return self._gather(message)
        if not isinstance(message, FROM_THE_OTHER):
            raise refused("is of a kind that a counter does not take")
        if message.sensor != self.declaration.pool:
            raise refused("is about another pool")
        if message.window < self.floor:
            return self._answer_late(message)
        # One that does not know the newest sensors yet names the others in the same places.
        if isinstance(message, HeldList) and message.declared != self._declared_digest(
            message.window, len(message.members)
        ):
            raise refused("is of a counter with another declaration or other sensors")
        if not self._journal.add(message):
            return []
        self._open.wait_for(message.window)
        return self._advance()

    def _skip(self, message: Skip) -> list[Message]:
        """Give up all windows up to one, by the owner's decision: they are finished in order."""
        if message.source != self.overseer or message.sensor != self.declaration.pool:
            raise refused("is no decision of the pool's owner")
        if message.last >= self.floor:
            self._forget_until(message.last)
        return self._advance()

    def _gather(self, message: Contribution) -> list[Message]:
        if message.sensor not in self._open:
            raise refused(f"is about the sensor {message.sensor}, which is not declared")
        if message.previous >= message.window:
            raise refused("follows a later window")
        if message.window < self.floor or self._open.has(message):
            return []  # late, or seen: one contribution a window, the first that arrived
        if message.declared != self.declared.fingerprint(message.window):
            raise NotYet(  # it may be paid for otherwise (GUARANTEE, lemma C4)
                "was made under another declaration of its window than is known here",
                field="message",
                next_step="It will be sent again. Give every party the same stream.yaml, and start it anew.",
            )
        if message.bits != self.declared.of(message.window).bits:
            raise refused("does not fit the declaration")
        self._open.refuse_too_many(message)
        self._journal.add(message)
        self._open.add(message)
        return self._advance()

    def _answer_late(self, message: Message) -> list[Message]:
        """Tell a counter that waits for a window that was passed over here that this one holds nothing.

        Where the window was not passed over, the other has this counter's list: it then ignores this one. Who
        holds nothing itself waits for nobody, and an answer to it would be answered for ever.
        """
        if not isinstance(message, HeldList) or not message.members.any():
            return []
        nothing = HeldList(
            self.declaration.pool,
            message.window,
            self.part,
            self._declared_digest(message.window, len(self.sensors)),
            np.zeros(len(self.sensors), np.bool_),
            (),
        )
        return [] if self._journal.is_waiting(nothing) else [nothing]

    def _advance(self) -> list[Message]:
        """Do every step that can be done."""
        made: list[Message] = []
        while (window := self._next_window()) is not None:
            steps = self._steps(window)
            made += steps
            if not steps or not isinstance(steps[-1], VerdictShares):
                return made
        return made

    def _next_window(self) -> int | None:
        """Return the window to work on, and pass over those before it that hold nothing."""
        window, floor = self._open.first, self.floor
        if window is None or window == floor:
            return window
        before = self.declared.of(window - 1).windows
        if not self._open.passed_over(floor) and self._now < before.closes(window - 1):
            return None
        self._journal.note("floor", str(window))
        return window
