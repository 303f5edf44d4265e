# SPDX-License-Identifier: Apache-2.0
"""Progress in rows: for whoever asked for it, which is the command line on a terminal."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import ibis
import pytest
from rich.console import Console

import anonymaly
from anonymaly.cli import output
from anonymaly.engine import watching
from anonymaly.engine.statements import EngineFailure, collect, collect_batches

SETTINGS = "SELECT current_setting('enable_progress_bar'), current_setting('enable_progress_bar_print')"


def test_a_watcher_is_told_how_far_a_long_statement_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "EACH", 0.001)
    connection = ibis.duckdb.connect(threads=1)
    connection.raw_sql("CREATE TABLE t AS SELECT range AS i FROM range(4000000)")
    table, seen = connection.table("t"), list[float]()
    groups = table.group_by(key=table.i % 100_003).agg(most=table.i.max())
    before = connection.con.execute(SETTINGS).fetchall()
    collect(groups)
    assert not seen
    with watching.watching(seen.append):
        assert collect(groups).num_rows == 100_003
        assert sum(batch.num_rows for batch in collect_batches(groups, 1000)) == 100_003
    assert seen
    assert all(0 <= percent <= 100 for percent in seen)
    assert connection.con.execute(SETTINGS).fetchall() == before


def test_a_connection_whose_settings_are_locked_is_read_without_a_watcher() -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql("SET lock_configuration = true")
    with watching.watching(lambda percent: None):
        assert collect(connection.sql("SELECT 1 AS one")).num_rows == 1


def test_a_watched_statement_that_fails_quotes_no_row_and_ends_its_watch() -> None:
    connection = ibis.duckdb.connect()
    before = connection.con.execute(SETTINGS).fetchall()
    threads = threading.active_count()
    with watching.watching(lambda percent: None), pytest.raises(EngineFailure) as failed:
        collect(connection.sql("SELECT error('row of Ann') AS c"))
    assert "Ann" not in str(failed.value) + failed.value.template
    assert connection.con.execute(SETTINGS).fetchall() == before
    assert threading.active_count() == threads


def test_settings_that_cannot_be_put_back_hide_no_answer() -> None:
    connection = ibis.duckdb.connect()
    with watching.watched(expression := connection.sql("SELECT 1 AS one")):
        assert collect(expression).num_rows == 1
    with watching.watching(lambda percent: None), watching.watched(expression):
        connection.con.execute("SET lock_configuration = true")
    assert collect(expression).num_rows == 1


def test_what_is_read_is_shown_on_a_terminal_to_whoever_asks_for_no_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for terminal, reading, watched in ((True, True, True), (True, False, False), (False, True, False)):
        shown = io.StringIO()
        monkeypatch.setattr(output, "err", Console(file=shown, force_terminal=terminal, width=100))
        with output.progress_bar(reading=reading):
            watcher = watching._WATCHER.get()
            assert (watcher is not None) == watched
            if watcher is not None:
                watcher(42.0)
        assert ("42 %" in shown.getvalue()) == watched


def test_nothing_but_the_command_line_watches() -> None:
    folder = Path(anonymaly.__file__).parent
    users = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if "watching import watching" in path.read_text("utf-8")
        or "watching.watching" in path.read_text("utf-8")
    }
    assert users == {"cli/output.py"}
    asking = [path for path in folder.rglob("*.py") if "progress_bar(reading=" in path.read_text("utf-8")]
    assert asking
    told = "progress_bar(reading=not as_json and not is_url(manifest))"  # a server's rows are not read here
    assert all(told in path.read_text("utf-8") for path in asking)
