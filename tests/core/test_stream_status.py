# SPDX-License-Identifier: Apache-2.0
"""The file by which a stream's owner tells the console how the stream is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymaly.core.stream_status import LARGEST, StreamStatus
from anonymaly.errors import InputError
from tests.server.web.served import write_status


def test_a_status_is_read_as_it_was_written_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    path.write_text("what was there before")
    path.chmod(0o644)
    status = write_status(path)
    assert StreamStatus.load(path) == status
    assert path.stat().st_mode & 0o777 == 0o600
    assert [item.name for item in tmp_path.iterdir()] == ["status.json"]


def test_in_a_folder_with_the_setgid_bit_its_group_may_read_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o2750)
    write_status(tmp_path / "status.json")
    assert (tmp_path / "status.json").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("content", ["", "[]", "{}", "[" * 100_000, '{"format": 1}', " " * (LARGEST + 1)])
def test_what_is_no_status_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "status.json"
    path.write_text(content)
    with pytest.raises(InputError, match="is no status of a stream"):
        StreamStatus.load(path)


@pytest.mark.parametrize(
    "change", [{"written": "yesterday"}, {"written": "2026-01-01T00:00:00"}, {"format": 2}]
)
def test_a_status_of_another_format_or_without_a_moment_is_refused(
    tmp_path: Path, change: dict[str, object]
) -> None:
    path = tmp_path / "status.json"
    path.write_text(json.dumps(write_status(path).to_dict() | change))
    with pytest.raises(InputError, match="is no status of a stream"):
        StreamStatus.load(path)
