# SPDX-License-Identifier: Apache-2.0
"""Whatever a sensor is given, in files or through a pipe: every reading is sent once, and none is lost."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from anonymaly.errors import InputError
from anonymaly.stream import Sensor
from anonymaly.stream.programs import inputs as inputs_module
from anonymaly.stream.programs.inputs import Inputs, ReadingOrigin, origins
from anonymaly.stream.programs.readings import Batch, read_lines
from tests.stream.protocol.parties import HOUSE, ROOM
from tests.stream.protocol.test_sharing import open_sensor


@pytest.fixture
def sensor(tmp_path: Path) -> Iterator[Sensor]:
    with open_sensor(tmp_path) as sensor:
        yield sensor


def write(path: Path, *values: float) -> Path:
    path.write_text(
        "time,celsius\n" + "".join(f"8:{place:02},{value}\n" for place, value in enumerate(values))
    )
    return path


def send(sensor: Sensor, batches: Iterator[Batch], inputs: Inputs, most: int | None = None) -> list[float]:
    """Send as a program does that is killed after ``most`` batches; return what was sent."""
    sent: list[float] = []
    for number, batch in enumerate(batches):
        if most is not None and number >= most:
            break
        inputs.note(batch, *sensor.next_place)
        sensor.send([reading.values for reading in batch])
        sent += [reading.values[0] for reading in batch]
    return sent


def from_file(sensor: Sensor, path: Path, most: int | None = None, resume: bool | None = None) -> list[float]:
    inputs = Inputs(sensor, 4)
    return send(sensor, inputs.from_file(path, resume=resume), inputs, most)


def from_pipe(sensor: Sensor, text: str, most: int | None = None) -> list[float]:
    inputs = Inputs(sensor, 4)
    return send(sensor, inputs.from_pipe(io.StringIO(text)), inputs, most)


def test_a_second_file_is_sent_from_its_beginning_and_the_first_goes_on_where_it_stopped(
    tmp_path: Path, sensor: Sensor
) -> None:
    monday = write(tmp_path / "monday.csv", *range(10, 20))
    tuesday = write(tmp_path / "tuesday.csv", *range(20, 30))
    assert from_file(sensor, monday, most=1) == [10, 11, 12, 13]
    assert from_file(sensor, tuesday, most=1) == [20, 21, 22, 23]
    assert from_file(sensor, monday) == [14, 15, 16, 17, 18, 19]
    assert from_file(sensor, tuesday) == [24, 25, 26, 27, 28, 29]
    assert from_file(sensor, monday) == []
    with monday.open("a") as file:
        file.write("9:00,29.5\n")
    assert from_file(sensor, monday) == [29.5], "a file may grow"
    assert from_file(sensor, write(monday, *range(20, 24))) == [20, 21, 22, 23], "the same name, another day"
    assert sensor.accepted == 25


def test_a_file_that_begins_like_another_is_asked_about(tmp_path: Path, sensor: Sensor) -> None:
    monday = write(tmp_path / "monday.csv", 20, 21)
    from_file(sensor, monday)
    copied = write(tmp_path / "copied.csv", 20, 21)
    with pytest.raises(InputError, match=r"begins like monday\.csv, of which 2 readings were sent.*--resume"):
        from_file(sensor, copied)
    assert from_file(sensor, copied, resume=True) == []
    assert from_file(sensor, write(tmp_path / "equal.csv", 20, 21), resume=False) == [20, 21]


def test_a_journal_of_the_version_before_asks_what_was_sent_from_this_file(
    tmp_path: Path, sensor: Sensor
) -> None:
    sensor.send([20.0, 21.0])
    monday = write(tmp_path / "monday.csv", 20, 21, 22)
    with pytest.raises(InputError, match="2 readings were sent before inputs were remembered"):
        from_file(sensor, monday)
    assert from_file(sensor, monday, resume=True) == [22]
    assert from_file(sensor, monday) == []


def test_what_was_read_from_a_pipe_and_not_sent_comes_first_next_time(tmp_path: Path, sensor: Sensor) -> None:
    assert from_pipe(sensor, "\n".join(map(str, range(10, 20))), most=1) == [10, 11, 12, 13]
    assert from_pipe(sensor, "20\n21\n", most=1) == [14, 15, 16, 17]
    assert from_file(sensor, write(tmp_path / "monday.csv", 25)) == [18, 19, 20, 21, 25]
    assert from_file(sensor, tmp_path / "monday.csv") == []
    assert sensor.journal.execute("SELECT COUNT(*) FROM spool WHERE number >= 13").fetchone() == (0,)


def test_lines_of_a_pipe_are_kept_as_soon_as_they_are_there(sensor: Sensor) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe, os.fdopen(writing, "wb", buffering=0) as source:
        source.write(b"10\n11\n12\n13\n14\n15\n1")
        batches = Inputs(sensor, 4).from_pipe(pipe)
        assert [reading.values for reading in next(batches)] == [(10.0,), (11.0,), (12.0,), (13.0,)]
        kept = sensor.journal.execute("SELECT number FROM spool ORDER BY number").fetchall()
        assert kept == [(number,) for number in range(6)], "the half line is not a reading yet"
        source.write(b"6\n")
        source.close()
        assert [reading.values for reading in next(batches)] == [(14.0,), (15.0,), (16.0,)]
        assert list(batches) == []


def test_a_verdicts_reading_is_found_by_line_and_time(tmp_path: Path, sensor: Sensor) -> None:
    path = tmp_path / "monday.csv"
    path.write_text("time,celsius\n8:00,20\n8:01,broken\n8:02,21\n8:03,22\n")
    from_file(sensor, path)
    sensor.flush()
    from_pipe(sensor, "climate celsius=20.5 1700000000000000000\nclimate celsius=21 1700000000000000001")
    assert ROOM.window > 3
    assert origins(sensor, 0, [0, 1, 2, 3]) == {
        0: ReadingOrigin("monday.csv", 2, "8:00"), 1: ReadingOrigin("monday.csv", 4, "8:02"),
        2: ReadingOrigin("monday.csv", 5, "8:03"), 3: None,
    }  # fmt: skip
    assert origins(sensor, 1, [1, 99]) == {1: ReadingOrigin("-", 2, "1700000000000000001"), 99: None}


def test_places_are_found_across_windows_and_long_ago_ones_forgotten(
    tmp_path: Path, sensor: Sensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs_module, "REMEMBERED", 2)
    path = write(tmp_path / "monday.csv", *[20.0] * (5 * ROOM.window))
    inputs = Inputs(sensor, ROOM.window - 1)
    send(sensor, inputs.from_file(path), inputs)
    for window in (3, 4):
        found = origins(sensor, window, range(ROOM.window))
        assert [item and item.line for item in found.values()] == [
            2 + window * ROOM.window + place for place in range(ROOM.window)
        ]
    assert origins(sensor, 0, [0]) == {0: None}


LINES = [
    ("climate,room=413 celsius=20.5,watt=3i 1700000000000000000", (20.5, 3.0), "1700000000000000000"),
    ("climate watt=3u,celsius=-1e1", (-10.0, 3.0), None),
    (r'my\ climate,room=a\,b note="a b, watt=9",celsius=1,watt=2 5', (1.0, 2.0), "5"),
    ("# a comment", None, None),
    ("climate celsius=20.5", None, None),
    ('climate celsius="20.5",watt=1', None, None),
    ("climate celsius=true,watt=1", None, None),
    ("climate celsius=nan,watt=1", None, None),
    ("nonsense", None, None),
]


@pytest.mark.parametrize(("line", "values", "time"), LINES)
def test_lines_of_influx_become_readings_or_are_left_out(
    line: str, values: tuple[float, ...] | None, time: str | None
) -> None:
    found = list(read_lines([line], HOUSE.names, "line"))
    assert [(reading.values, reading.time) for reading in found] == (
        [] if values is None else [(values, time)]
    )


def test_readings_beyond_their_ranges_are_counted(sensor: Sensor) -> None:
    sensor.send([20.0, 30.0, 30.5, 74.0])
    sensor.send([9.0, 20.0])
    assert sensor.beyond == 3
