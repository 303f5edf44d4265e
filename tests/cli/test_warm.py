# SPDX-License-Identifier: Apache-2.0
"""``anonymaly warm`` compiles everything, says where it is, and removes nothing but that."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anonymaly.cli.kernel_families import all_kernels
from anonymaly.cli.main import app
from anonymaly.core.code_folder import code_folder

SHOWN = """
from anonymaly.cli.compilation import compilation_shown
from anonymaly.core.compiling import tell
with compilation_shown():
    for began in (True, True, False, False):
        tell("refill", began)
    tell("again", True)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ANONYMALY_CACHE", str(tmp_path))
    code_folder.cache_clear()
    yield tmp_path / "compiled"
    code_folder.cache_clear()


@pytest.mark.slow
def test_it_compiles_every_compiled_function(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["warm", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    folder = code_folder()
    assert (said["folder"], said["size"]) == (str(folder.path), folder.size())
    kept = {file.name.rpartition("-")[0] for file in folder.files()}
    assert {kernel.__name__ for kernel in all_kernels()} <= kept
    again = json.loads(CliRunner().invoke(app, ["warm", "--json"]).stdout)
    assert again["compiled"] == 0


def test_clearing_says_what_was_removed_and_where(cache: Path) -> None:
    (cache / "anonymaly-0").mkdir(parents=True)
    cache.chmod(0o700)
    (cache / "anonymaly-0" / "f-1.code").write_bytes(b"1" * 2_000_000)
    said = CliRunner().invoke(app, ["warm", "--clear"]).stdout
    assert "removed 1 compiled functions; what is left takes 0.0 MB" in said
    assert str(cache) in said.replace("\n", "")
    assert json.loads(CliRunner().invoke(app, ["warm", "--clear", "--json"]).stdout) == {
        "folder": str(cache),
        "size": 0,
        "removed": 0,
    }


def test_a_folder_that_others_can_write_to_is_refused_with_a_next_step(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    done = CliRunner().invoke(app, ["warm"])
    assert "open to others (mode 0777)" in str(done.exception)
    assert "Set ANONYMALY_CACHE to a folder that only you can write to" in str(done.exception)


def test_a_terminal_is_told_once_that_something_is_compiled_and_a_pipe_never(cache: Path) -> None:
    command = [sys.executable, "-c", SHOWN]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == ""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(command, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # Linux's way to say that the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert shown.count(b"compiling for this machine, once: the next time it comes from") == 1
    assert b"2 done, now again" in shown
