# SPDX-License-Identifier: Apache-2.0
"""Streams, as their owner's program last saw them; no page opens a journal, a key or a reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from anonymaly.core.stream_status import StreamStatus
from anonymaly.server.console.stream_look import StreamLook, health_of, look_at
from anonymaly.server.console.stream_pictures import pictures_of
from anonymaly.server.console.stream_words import says_of_sensor, says_of_window
from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.problems import unknown

MOST_WINDOWS = 12
MOST_SENSORS = 12


def streams_page(visit: Visit) -> Shown:
    """Show the streams."""
    places = visit.services.settings.streams
    found = [look_at(name, place) for name, place in sorted(places.items())]
    return Shown("streams.html", {"streams": [_head(look) for look in found]})


def stream_page(visit: Visit) -> Shown:
    """Show a stream: how it runs, windows, sensors, what readings cost."""
    name = visit.places["stream"]
    place = visit.services.settings.streams.get(name)
    if place is None:
        raise unknown()
    look = look_at(name, place)
    data = {
        "stream": _head(look),
        "health": health_of(look),
        "windows": [],
        "some_counted": False,
        "sensors": [],
        "usual": [],
        "status": None if look.status is None else look.status.to_dict(),
    }
    if look.status is None:
        return Shown("stream.html", data, pictures={"drawn": []})
    shown = look.status.recent[-MOST_WINDOWS:][::-1]
    data["windows"] = [says_of_window(item) for item in shown]
    data["some_counted"] = not all(item.counted for item in shown)
    listed = look.status.listed
    data["sensors"] = [says_of_sensor(item) for item in listed if item.matters][:MOST_SENSORS]
    data["usual"] = [says_of_sensor(item) for item in listed if not item.matters]
    return Shown("stream.html", data, pictures=_drawn(look.status))


def _head(look: StreamLook) -> dict[str, Any]:
    """Return what is said of a stream in a line."""
    status = look.status
    return {
        "name": look.name,
        "found": look.found,
        "age_seconds": look.age,
        "stale": look.stale,
        "good": all(line["good"] for line in health_of(look)),
        "written": None if status is None else status.written,
        "protocol": None if status is None else status.protocol,
        "windows": None if status is None else status.windows,
        "sensors": None if status is None else status.sensors,
        "to_look_at": None if status is None else status.to_look_at,
    }


def _drawn(status: StreamStatus) -> Mapping[str, Any]:
    return {"drawn": [Markup(chart.to_svg()) for chart in pictures_of(status)]}  # noqa: S704  (escaped there)


PAGES = (
    ConsolePage("GET", "/streams", streams_page),
    ConsolePage("GET", "/streams/{stream}", stream_page),
)
