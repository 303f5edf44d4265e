# SPDX-License-Identifier: Apache-2.0
"""The owner's log: which fields a line has, what is in none, and that its file may be rotated."""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path

import httpx
import pytest
import yaml

import anonymaly as am
from anonymaly.errors import InputError
from anonymaly.server.logs import JsonLines, Plain, begin_log
from tests.server.places import PATIENCE
from tests.server.running import SETTINGS, Running

ALLOWED = {
    "request": {"time", "level", "part", "event", "method", "route", "status", "analyst"},
    "job": {"time", "level", "part", "event", "job", "ended", "entry"},
    "message": {"time", "level", "part", "event", "message", "error"},
}


def record(name: str) -> logging.LogRecord:
    try:
        raise ValueError("a value of a row")
    except ValueError:
        return logging.LogRecord(
            name, logging.ERROR, "", 1, "it says: %s", ("another value",), sys.exc_info()
        )


@pytest.mark.parametrize("form", [Plain(), JsonLines()])
def test_a_line_has_no_traceback_and_no_words_of_an_engine(form: logging.Formatter) -> None:
    text = form.format(record("duckdb.core"))
    assert "ValueError" in text
    assert "value of a row" not in text
    assert "another value" not in text
    assert "duckdb.core" in text
    assert "another value" in form.format(record("anonymaly.server"))


def test_a_log_that_cannot_be_written_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        begin_log(str(tmp_path / "no folder" / "log"))
    assert caught.value.field == "log"


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.mark.slow
def test_the_log_has_the_named_fields_and_no_other_and_goes_on_after_it_was_rotated(tmp_path: Path) -> None:
    server, log = Running(tmp_path), tmp_path / "server.log"
    settings = {**SETTINGS, "log": "server.log", "log_json": True}
    (tmp_path / "server.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    try:
        server.start()
        server.wait_until_ready()
        key = server.add("ann")
        with am.connect(server.url, key=key) as curator:
            curator.ask(am.Count(where="age == 4711 or ward == 'C'", epsilon="0.12345"))
        httpx.get(f"{server.base}/v1/tables/patients?name=passed-by")
        assert log.stat().st_mode & 0o777 == 0o600
        log.rename(tmp_path / "server.log.1")
        until = time.monotonic() + PATIENCE
        while not any(line["event"] == "request" for line in lines(log)):
            assert time.monotonic() < until
            server.call("GET", "/v1/me")
    finally:
        server.stop()
    found = lines(tmp_path / "server.log.1") + lines(log)
    for line in found:
        assert set(line) <= ALLOWED[str(line["event"])], line
    asked = [line for line in found if line.get("route") == "/v1/tables/{table}/ask"]
    assert {(line["method"], line["analyst"]) for line in asked} == {("POST", "ann")}
    ended = [line for line in found if line["event"] == "job" and line["entry"] is not None]
    entries = server_entries(tmp_path)
    assert {line["entry"] for line in ended} <= set(entries)
    assert "reserve" in {entries[int(str(line["entry"]))] for line in ended}
    text = "\n".join(json.dumps(line) for line in found)
    for secret in ("4711", "12345", "passed-by", key, server.owner):
        assert secret not in text


def server_entries(folder: Path) -> dict[int, str]:
    from anonymaly.ledger import Ledger

    with Ledger.audit(folder / "patients.ledger") as ledger:
        return {entry.seq: entry.kind for entry in ledger.entries()}
