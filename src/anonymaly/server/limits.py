# SPDX-License-Identifier: Apache-2.0
"""RequestLimits that are checked before anything else: size, depth, rate, and how many jobs are under way."""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from starlette.types import Receive, Scope

from anonymaly.ask.query import exact_number
from anonymaly.core.value import is_text
from anonymaly.server.problems import Problem
from anonymaly.server.settings import RequestLimits

BODY_SECONDS = 30.0  # in which a body must have arrived
MOST_KEYS = 10_000  # that a process remembers the rate of
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")  # or a pass would remove two levels of different kinds


class Rates:
    """A bucket of tokens for each key: one is taken by a request, and they come back over time."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()  # key → tokens, when

    def take(self, key: str) -> float:
        """Take a token; return 0, or the seconds until there is one.

        Examples
        --------
        >>> rates = Rates(rate=2, burst=1, clock=lambda: 0.0)
        >>> rates.take("a"), rates.take("a"), rates.take("b")
        (0.0, 0.5, 0.0)
        """
        now = self._clock()
        tokens, before = self._known.pop(key, (float(self.burst), now))
        tokens = min(float(self.burst), tokens + (now - before) * self.rate)
        wait = 0.0 if tokens >= 1 else (1 - tokens) / self.rate
        self._known[key] = (tokens if wait else tokens - 1, now)
        if len(self._known) > MOST_KEYS:
            self._known.popitem(last=False)
        return wait

    def refuse_beyond(self, key: str) -> None:
        """Take a token, or refuse the request."""
        wait = self.take(key)
        if wait > 0:
            raise Problem(
                429,
                f"at most {self.rate} requests a second, and {self.burst} at once",
                next_step="Wait and try again.",
                headers={"Retry-After": str(math.ceil(wait))},
            )


Found = TypeVar("Found")


class AtOnce:
    """How many questions of a person are worked out at a time: from declarations, free, a second for each.

    What a thread works out for a person within something else of theirs is a part of that.

    Examples
    --------
    >>> at_once = AtOnce(most=1)
    >>> with at_once.of("ann"), at_once.of("ben"), at_once.of("ann"):
    ...     pass
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._now: Counter[str] = Counter()
        self._gate = threading.Lock()
        self._mine = threading.local()  # whose a thread works at

    def run(self, person: str, work: Callable[[], Found]) -> Found:
        """Do it, or refuse it."""
        with self.of(person):
            return work()

    @contextmanager
    def of(self, person: str) -> Iterator[None]:
        """Work one out, or refuse it."""
        mine: set[str] = self._mine.__dict__.setdefault("people", set())
        if person in mine:
            yield
            return
        with self._gate:
            if self._now[person] >= self.most:
                raise Problem(
                    429,
                    f"{self.most} questions of yours are being worked out, the most at a time",
                    next_step="Wait until one is answered.",
                    headers={"Retry-After": "1"},
                )
            self._now[person] += 1
        mine.add(person)
        try:
            yield
        finally:
            mine.remove(person)
            with self._gate:
                self._now[person] -= 1
                if not self._now[person]:
                    del self._now[person]


def refuse_by_headers(scope: Scope, limits: RequestLimits) -> None:
    """Refuse what its headers show to be too large or compressed, before a byte of it is read."""
    headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
    if any(name == b"content-encoding" for name, _ in headers):
        raise Problem(
            415,
            "must not be compressed",
            field="Content-Encoding",
            next_step="Send the body as it is.",
        )
    for name, value in headers:
        if name != b"content-length":
            continue
        if not value.isdigit() or len(value) > 18 or int(value) > limits.body:
            raise _too_large(limits)


async def read_body(receive: Receive, limits: RequestLimits) -> bytes | None:
    """Read a body up to the limit; None if whoever sends it has gone."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                part = message.get("body", b"")
                size += len(part)
                if size > limits.body:
                    raise _too_large(limits)
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise Problem(
            408,
            f"did not arrive within {BODY_SECONDS:g} seconds",
            field="body",
            next_step="Send it again over a faster line.",
        ) from None


def refuse_depth(body: bytes, deepest: int) -> None:
    """Refuse a body that is nested too deeply, before it is parsed.

    Each pass removes the innermost brackets of what is left, so it takes as many passes as are allowed.

    Examples
    --------
    >>> refuse_depth(b'{"a": ["[[[[", {}]}', 3)
    """
    left = _STRINGS.sub(b"", body).translate(_ONE_KIND, delete=_NO_BRACKETS)
    for _ in range(deepest):
        if not left:
            return
        left = left.replace(b"[]", b"")
    if left.count(b"[") != left.count(b"]"):
        raise _no_json()
    if left:
        raise Problem(
            422,
            f"is nested more than {deepest} levels deep, or its brackets do not match",
            field="body",
            next_step="Send plain JSON.",
        )


def read_json(body: bytes) -> Any:
    """Parse a body strictly: UTF-8, no NaN, no name twice, and decimals as they are written."""
    try:
        return json.loads(
            body.decode("utf-8"),
            parse_float=exact_number,
            parse_constant=_no_constant,
            object_pairs_hook=_no_repeats,
        )
    except (ValueError, RecursionError):
        raise _no_json() from None


def _no_json() -> Problem:
    return Problem(
        400,
        "is not JSON in UTF-8, or has NaN, a name twice or half a surrogate pair",
        field="body",
        next_step='Send, for instance, {"query": {"question": "count", "epsilon": "0.1"}}.',
    )


def _no_constant(_: str) -> Any:
    raise ValueError


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    for name, item in pairs:
        if not is_text(name) or (isinstance(item, str) and not is_text(item)):
            raise ValueError
    return found


def _too_large(limits: RequestLimits) -> Problem:
    return Problem(
        413,
        f"must be at most {limits.body:,} bytes",
        field="body",
        next_step="Ask about fewer records at a time.",
    )
