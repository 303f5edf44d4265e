# SPDX-License-Identifier: Apache-2.0
"""Which contributions a server holds of windows that are not finished, and whom a window still waits for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from anonymaly.stream.protocol.encoding import NotYet
from anonymaly.stream.protocol.parties import MOST_OPEN


@runtime_checkable
class Contributed(Protocol):
    """A sensor's message about a window to which it contributes one reading."""

    @property
    def sensor(self) -> str:
        """Whose it is."""

    @property
    def window(self) -> int:
        """Which window it is for."""

    @property
    def previous(self) -> int:
        """The window of the sensor's contribution before, -1 for none."""

    @property
    def digest(self) -> bytes:
        """What both servers' shares of one version have alike."""


@dataclass(frozen=True)
class _Known:
    previous: int
    digest: bytes


class OpenWindows:
    """The contributions by sensor and window; the journal holds them, this finds them.

    Parameters
    ----------
    sensors
        All declared sensors.
    retired
        Those of them that contribute no more.
    """

    def __init__(self, sensors: Iterable[str], retired: Collection[str] = ()) -> None:
        self._known: dict[str, dict[int, _Known]] = {name: {} for name in sensors}
        self._retired = frozenset(retired)
        self._silent = set(self._known) - self._retired  # sensors of which nothing is held
        self._counts: dict[int, int] = {}  # contributions by window; 0 where the other server waits

    def __contains__(self, sensor: str) -> bool:
        return sensor in self._known

    def add(self, message: Contributed) -> None:
        """Remember a contribution."""
        if message.sensor in self._known and not self.has(message):
            self.wait_for(message.window)
            self._counts[message.window] += 1
            self._known[message.sensor][message.window] = _Known(message.previous, message.digest)
            self._silent.discard(message.sensor)

    def has(self, message: Contributed) -> bool:
        """Say whether the sensor contributed to the window before."""
        return message.window in self._known[message.sensor]

    def refuse_too_many(self, message: Contributed) -> None:
        """Refuse a contribution of a sensor that is too far ahead; it is sent again."""
        if len(self._known[message.sensor]) >= MOST_OPEN:
            raise NotYet(
                f"is {MOST_OPEN} windows or more ahead of what is finished here",
                field="message",
                next_step="It will be sent again.",
            )

    def holds(self, sensor: str, window: int) -> bool:
        """Say whether a sensor's contribution to a window is held."""
        return window in self._known[sensor]

    def digest(self, sensor: str, window: int) -> bytes:
        """Return the digest of a contribution."""
        return self._known[sensor][window].digest

    def wait_for(self, window: int) -> None:
        """Remember that a window has to be finished, whoever contributed to it."""
        self._counts.setdefault(window, 0)

    @property
    def first(self) -> int | None:
        """The first window that has to be finished."""
        return min(self._counts, default=None)

    def is_complete(self, window: int) -> bool:
        """Say whether every sensor contributed to a window, or passed it over."""
        if self._silent:
            return False
        return self._counts.get(window) == len(self._known) or all(
            window in windows or windows[min(windows)].previous < window for windows in self._heard()
        )

    def passed_over(self, floor: int) -> bool:
        """Say whether no sensor will contribute to a window from the floor up to the first that is held."""
        if self._silent:
            return False
        return all(windows[min(windows)].previous < floor for windows in self._heard())

    def forget_until(self, window: int) -> None:
        """Forget a window and all before it."""
        self._counts = {number: count for number, count in self._counts.items() if number > window}
        for name, windows in self._known.items():
            for number in [number for number in windows if number <= window]:
                del windows[number]
            if not windows and name not in self._retired:
                self._silent.add(name)

    def _heard(self) -> list[dict[int, _Known]]:
        """Return what is held of each sensor; of one that is retired, if there is anything."""
        return [windows for windows in self._known.values() if windows]
