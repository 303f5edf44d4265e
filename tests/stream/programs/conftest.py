# SPDX-License-Identifier: Apache-2.0
"""What tests of the programs share."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anonymaly.cli.main import run as run_program
from anonymaly.stream.programs.processes import reserved_port

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str, input: str = "", group: str = "stream") -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["anonymaly", group, *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(input))
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run_program()
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(end.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture
def port() -> Iterator[int]:
    """A port for a broker that nothing else gets while the test runs."""
    with reserved_port() as port:
        yield port
