# SPDX-License-Identifier: Apache-2.0
"""Time zones as tables of offsets, so that every engine turns a moment into the same wall-clock time.

Engines bring time zone data of their own, of different years. Here all of them get the numbers that Python
has, from the system or from its tzdata package.
"""

from __future__ import annotations

import difflib
import zoneinfo
from datetime import datetime, timedelta
from functools import lru_cache

from anonymaly.errors import InputError

EPOCH = datetime(1970, 1, 1)
FIRST, LAST = (int((datetime(year, 1, 1) - EPOCH).total_seconds()) for year in (1900, 2101))
_DAY = 86_400


def check_zone(name: str) -> None:
    """Refuse a zone that is not in the database of the world's time zones."""
    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        known = sorted(zoneinfo.available_timezones())
        near = difflib.get_close_matches(name, known, n=3)
        raise InputError(
            f"there is no time zone {name!r}",
            field="zone",
            next_step=f"Name one such as {', '.join(near or ['Europe/Berlin', 'America/New_York', 'UTC'])}.",
        ) from None


@lru_cache(maxsize=32)
def offsets(name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the seconds since 1970 at which a zone's offset changes, and its offsets before, between, after.

    From 1900 to 2100; before and after, the first and the last offset hold.

    Examples
    --------
    >>> changes, found = offsets("Europe/Berlin")
    >>> len(found) == len(changes) + 1, sorted(set(found[-2:]))
    (True, [3600, 7200])
    """
    zone = zoneinfo.ZoneInfo(name)
    changes: list[int] = []
    found = [_offset(zone, FIRST)]
    for day in range(FIRST, LAST, _DAY):
        end = day + _DAY
        if (after := _offset(zone, end)) != found[-1]:
            changes.append(_change(zone, day, end, found[-1]))
            found.append(after)
    return tuple(changes), tuple(found)


def _offset(zone: zoneinfo.ZoneInfo, second: int) -> int:
    moment = (EPOCH + timedelta(seconds=second)).replace(tzinfo=zone)
    # As the zone itself asks it: this moment is in UTC, only marked with the zone.
    return int((zone.fromutc(moment).replace(tzinfo=None) - moment.replace(tzinfo=None)).total_seconds())


def _change(zone: zoneinfo.ZoneInfo, low: int, high: int, before: int) -> int:
    """Return the first second of a day at which another offset holds."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(zone, middle) == before else (low, middle)
    return high
