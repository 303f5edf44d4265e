# SPDX-License-Identifier: Apache-2.0
"""Logins that fail: after a few from an address, or for a key from there, the next one waits.

Counted in each web process, and by what failed alone: nobody keeps another person from logging in.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from anonymaly.server.problems import Problem

OF_A_KEY = 5  # failures at once, from one address
OF_AN_ADDRESS = 20
BACK_SECONDS = 30.0  # after which one of them is forgotten
MOST_KNOWN = 10_000


class LoginThrottle:
    """Failures by address, and by address and the public part of the key.

    Examples
    --------
    >>> throttle = LoginThrottle(clock=lambda: 0.0)
    >>> for _ in range(OF_A_KEY):
    ...     throttle.failed("10.0.0.1", "4d0c")
    >>> throttle.refuse("10.0.0.1", "another")
    >>> throttle.refuse("10.0.0.1", "4d0c")
    Traceback (most recent call last):
    ...
    anonymaly.server.problems.Problem: 5 logins have failed
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        field: str = "key",
        advice: str = "check the key: it begins with anm_",
    ) -> None:
        self._clock = clock
        self._field = field
        self._advice = advice
        self._failures: OrderedDict[str, tuple[float, float]] = OrderedDict()  # whose → how many, when

    def refuse(self, address: str, key: str) -> None:
        """Refuse one more attempt than may fail."""
        for whose, most in self._whose(address, key):
            failures = self._now(whose)
            if failures > most - 1:
                raise Problem(
                    429,
                    f"{most} logins have failed",
                    field=self._field,
                    next_step=f"Wait {math.ceil((failures - most + 1) * BACK_SECONDS)} seconds, and "
                    f"{self._advice}.",
                    headers={"Retry-After": str(math.ceil((failures - most + 1) * BACK_SECONDS))},
                )

    def failed(self, address: str, key: str) -> None:
        """Note an attempt that failed."""
        for whose, _ in self._whose(address, key):
            self._failures[whose] = (self._now(whose) + 1, self._clock())
            self._failures.move_to_end(whose)
        while len(self._failures) > MOST_KNOWN:
            self._failures.popitem(last=False)

    def _now(self, whose: str) -> float:
        failures, when = self._failures.get(whose, (0.0, self._clock()))
        return max(0.0, failures - (self._clock() - when) / BACK_SECONDS)

    @staticmethod
    def _whose(address: str, key: str) -> tuple[tuple[str, int], ...]:
        return (address, OF_AN_ADDRESS), (f"{address} {key}", OF_A_KEY)
