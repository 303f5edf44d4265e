# SPDX-License-Identifier: Apache-2.0
"""Streams in the console: what the owner's program last wrote, how old that is, and nothing for others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from anonymaly.errors import InputError
from anonymaly.server.settings import ServerSettings
from anonymaly.stream.programs.watching import WatchedSensors
from tests.server.console.test_console_gate import check_plain
from tests.server.console.visiting import Browser, Reader
from tests.server.web.served import Served, write_status
from tests.stream.protocol.parties import ROOM


@pytest.fixture
def owner(changing: Served) -> Browser:
    return Browser(changing, "owner")


@pytest.fixture
def rooms(changing: Served) -> Iterator[Path]:
    """Where the status of a stream is, which is afterwards as it was."""
    path = changing.folder / "rooms.json"
    write_status(path)
    yield path
    write_status(path)


def shown(owner: Browser, name: str = "rooms") -> tuple[dict[str, Any], str]:
    """Return a page as data, and as text without line breaks."""
    page = owner.get(f"/streams/{name}")
    check_plain(page.text)
    found: dict[str, Any] = owner.get(f"/streams/{name}.json").json()
    return found, " ".join(Reader(page.text).text.split())


def ago(**time: int) -> str:
    return (datetime.now(UTC) - timedelta(**time)).isoformat()


def wrong_lines(data: dict[str, Any]) -> list[str]:
    return [line["says"] for line in data["health"] if not line["good"]]


def test_a_stream_has_its_windows_sensors_health_and_cost(owner: Browser, rooms: Path) -> None:
    data, text = shown(owner)
    assert wrong_lines(data) == [
        "1 sensor of 60 is late: much longer than usual without a reading.",
        "1 alarm about the newest windows: a sensor sent a second version of what is known.",
        "Of 1 reading in the newest windows the counters' shares are no verdict: one of the two lies, or is "
        "broken.",
    ]
    assert [item["name"] for item in data["sensors"]] == [
        "room-10", "room-09", "room-05", "room-07", "room-08",
    ], "the most urgent first, and none about which nothing is unusual"  # fmt: skip
    assert [item["window"] for item in data["windows"]] == list(range(39, 27, -1))
    for words in (
        "fault: room-08", "a counter lies about room-09", "39 judged, 1 too few sensors",
        "No reading in the newest 10 judged windows", "A reading loses at most ε = 20 in every window",
        "So far 40 windows were counted",
    ):  # fmt: skip
        assert words in text
    assert not data["stream"]["stale"]


def test_pictures_say_in_words_what_they_show(owner: Browser, rooms: Path) -> None:
    pictures = [given for tag, given in owner.read("/streams/rooms").elements if tag == "svg"]
    said = [given["aria-label"] or "" for given in pictures if given.get("role") == "img"]
    assert said == [
        "Faults in each window. 0 to 1 readings in each of 39 judged windows from 0 to 39, 0 in the newest.",
        "Sensors without a reading. 0 to 2 sensors in each of 39 judged windows from 0 to 39, 1 in the "
        "newest.",
        "Sensors with most to look at. room-07: 9 of 39 readings; room-08: 1 of 39 readings.",
    ]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"written": ago(hours=2)}, "The owner's program has written nothing for a while"),
        ({"written": ago(hours=-2)}, "The status is from the future"),
        ({"runs": False}, "The owner's program has ended."),
        ({"connected": False, "unacknowledged": 3}, "It is not connected to the broker; 3 messages of it"),
        ({"late": True}, "The next verdict is late"),
    ],
)
def test_what_is_not_well_is_said_with_what_to_do(
    owner: Browser, rooms: Path, changes: dict[str, Any], says: str
) -> None:
    write_status(rooms, **changes)
    data, text = shown(owner)
    (line,) = [line for line in data["health"] if line["says"].startswith(says)]
    assert line["next_step"]
    assert line["next_step"] in text
    assert not data["stream"]["good"]
    assert data["stream"]["stale"] == ("written" in changes)


def test_of_an_old_status_nothing_is_said_to_be_well_now(owner: Browser, rooms: Path) -> None:
    write_status(rooms, written=ago(hours=2))
    data, text = shown(owner)
    assert not [line for line in data["health"] if line["good"]]
    assert "connected to the broker" not in text
    assert "1 sensor of 60 is late" in text
    assert data["stream"]["age_seconds"] >= 7200
    assert "which is a while ago" in " ".join(owner.read("/streams").text.split())


@pytest.mark.parametrize("content", [None, "", "{}", "\x00" * 100])
def test_a_status_that_is_not_there_or_not_to_be_read_is_no_error(
    owner: Browser, rooms: Path, content: str | None
) -> None:
    rooms.unlink()
    if content is not None:
        rooms.write_text(content)
    data, text = shown(owner)
    assert data["stream"]["found"] == ("missing" if content is None else "unreadable")
    assert data["status"] is None
    assert ("Start the owner's program with --status" if content is None else "chmod 2750") in text
    assert owner.get("/streams").status_code == 200


def test_a_stream_of_single_sensors_is_shown_too(owner: Browser, rooms: Path) -> None:
    watched = WatchedSensors({"room-1": ROOM, "room-2": ROOM})
    for number in range(3):
        verdict = {"number": number + 1, "sensor": "room-1", "window": number, "look_at": [0]}
        watched.take(
            {"event": "verdict", **verdict, "complete": number < 2, "readings": 10, "found": 1}, 10.0 * number
        )
    watched.status(25.0).write(rooms)
    data, text = shown(owner)
    assert [item["name"] for item in data["sensors"]] == ["room-1"]
    assert "the servers have windows of different length" in text
    assert "3 of 30 readings to look at" in text
    assert "Every sensor has a declaration of its own" in text


def test_only_the_owner_sees_streams_or_that_there_are_any(served: Served) -> None:
    for who in ("analyst", "auditor"):
        browser = Browser(served, who)
        nothing = browser.get("/nowhere")
        for place in ("/streams", "/streams/rooms", "/streams/other"):
            found = browser.get(place)
            assert (found.status_code, found.content) == (404, nothing.content)
        assert "/streams" not in browser.get("/").text
    owner = Browser(served, "owner")
    assert 'href="/streams"' in owner.get("/").text
    assert owner.get("/streams/other").content == owner.get("/nowhere").content


def test_a_status_cannot_bring_markup_onto_a_page(owner: Browser, rooms: Path) -> None:
    hostile = '<img src=x onerror=alert(1)>"&{{7*7}}'
    status = write_status(rooms)
    sensor = {**status.listed[0].to_dict(), "name": hostile, "to_look_at": 39}
    window = {**status.recent[-1].to_dict(), "named": [hostile], "to_look_at": 1}
    write_status(rooms, listed=[sensor], recent=[window], states={hostile: 1}, cost=hostile)
    page = owner.get("/streams/rooms").text
    check_plain(page)
    assert "<img" not in page
    assert "&lt;img" in page


@pytest.mark.parametrize("name", ["", "a/b", "a.b", "..", "-a", "a" * 65, "ä"])
def test_a_stream_is_named_so_that_it_has_an_address(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="which no address can hold"):
        ServerSettings.load(tmp_path, {"streams": {name: "status.json"}})


def test_web_processes_are_told_where_streams_are_and_workers_are_not(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text("streams: {rooms: rooms.json, hall: /srv/hall.json}\n")
    settings = ServerSettings.load(tmp_path)
    assert settings.for_web(tmp_path).streams == {
        "rooms": str(tmp_path / "rooms.json"), "hall": "/srv/hall.json",
    }  # fmt: skip
    assert "rooms.json" not in settings.for_workers(tmp_path).to_json()
