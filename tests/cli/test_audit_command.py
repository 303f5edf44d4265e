# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from anonymaly.audit import run as audits
from anonymaly.audit.faults import PlantedFault
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "worker_threads", lambda: 1)


def test_one_json_document_is_printed_and_nothing_else(run: Run) -> None:
    done = run("audit", "stream", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["passed"]
    assert {line["about"] for line in found["shared"]} == {"stream"}
    assert all(fault["caught"] for fault in found["faults"])


def test_a_table_and_plain_words_are_printed_and_a_page_is_written(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "audit.html"
    done = run("audit", "stream", "--html", str(page))
    assert done.returncode == 0, done.stderr
    caught = re.search(r"(\d+) of (\d+) planted faults were caught", done.stdout)
    assert caught is not None
    assert int(caught[1]) == int(caught[2]) >= 17
    assert "no violation found" in done.stdout
    assert "<svg" in page.read_text("utf-8")


def test_a_fault_that_survives_makes_the_exit_code_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    survivor = PlantedFault("stream", "nothing is wrong", "bound", lambda: False)
    monkeypatch.setattr(audits, "planted_faults", lambda: (survivor,))
    done = run("audit", "stream", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["passed"] is False
    assert "survived: stream: nothing is wrong (bound)" in run("audit", "stream").stdout


def test_a_misspelt_question_and_an_impossible_page_are_refused_at_once(run: Run, tmp_path: Path) -> None:
    done = run("audit", "cuont")
    assert done.returncode == 2
    assert "Did you mean count?" in done.stderr
    (tmp_path / "folder.html").mkdir()
    for page, said in (
        (tmp_path / "page.txt", "must end in .html"),
        (tmp_path / "no" / "a.html", "no folder"),
        (tmp_path / "folder.html", "is a folder"),
    ):
        done = run("audit", "stream", "--html", str(page))
        assert done.returncode == 2
        assert said in done.stderr


def test_findings_are_printed_even_if_the_page_cannot_be_written_after_all(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "audit.html"

    def meanwhile_a_folder() -> bool:
        page.mkdir()
        return True

    fault = PlantedFault("stream", "its page is taken", "bound", meanwhile_a_folder)
    monkeypatch.setattr(audits, "planted_faults", lambda: (fault,))
    done = run("audit", "stream", "--html", str(page))
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "1 of 1 planted faults were caught" in done.stdout


@pytest.mark.slow
def test_an_interruption_ends_it_with_130_and_without_a_trace(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "anonymaly", "audit", "count"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    # When its workers are there it is in the middle of its work, whatever else the machine does.
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    while started.poll() is None and len(children.read_text().split()) < 2:
        os.sched_yield()
    os.killpg(started.pid, signal.SIGINT)
    _, said = started.communicate()
    assert started.returncode == 130, said
    assert "Traceback" not in said
    assert "an audit spends nothing" in said
