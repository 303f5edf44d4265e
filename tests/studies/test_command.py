# SPDX-License-Identifier: Apache-2.0
"""``python -m studies`` as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from studies.__main__ import main, papers
from studies.one_sided import measure
from studies.one_sided.data import FILE, HISTOGRAMS

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_folder_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANONYMALY_DATA", raising=False)


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A folder with histograms of eight bins under the public file's name."""
    folder = tmp_path / "public"
    folder.mkdir()
    np.savez(folder / FILE, **{name.upper(): np.arange(8) * 50 for name in HISTOGRAMS})
    return folder


def test_without_a_paper_they_are_listed() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "studies"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == papers()
    assert "Böhler, Bernau and Kerschbaum 2017" in done.stdout
    assert "make reproduce PAPER=" in done.stdout


def test_every_paper_is_a_folder_of_the_same_files() -> None:
    for name in papers():
        files = {path.name for path in (ROOT / "studies" / name).glob("*.py")}
        assert {"study.py", "data.py", "measure.py", "paper.py", "tables.py", "charts.py"} <= files, name


def test_an_unknown_paper_is_refused_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 2
    said = capsys.readouterr().err
    assert "there is no paper 'explain'" in said
    assert all(name in said for name in papers())


def test_a_missing_folder_and_missing_files_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, words in (
        ([], "no folder with the public files was given. Give --data DIR or set ANONYMALY_DATA"),
        (["--data", str(tmp_path / "none")], f"there is no folder {tmp_path / 'none'}."),
        (["--data", str(tmp_path)], "there is no keti_building.parquet and no nab.parquet in"),
    ):
        assert main(["sensors", "--output", str(tmp_path / "output"), *arguments]) == 2
        assert words in capsys.readouterr().err.replace("\n", "")
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["one_sided", "--runs", "0"], "give a whole number from 1, not '0'"),
        (["one_sided", "--outliers", "3"], "unrecognized arguments: --outliers"),
        (["one_sided", "--adjacency", "both"], "invalid choice: 'both'"),
    ],
)
def test_each_paper_takes_its_own_settings(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_a_paper_is_measured_printed_and_written_into_its_own_folder(
    public: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONYMALY_DATA", str(public))
    arguments = ["one_sided", "--output", str(tmp_path / "output"), "--runs", "1"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "Figure 6. Regret of MRE by share, both policies, ε = 0.01" in printed
    assert "Table 1. Share of non-sensitive records released by sample" in printed
    folder = tmp_path / "output" / "one_sided"
    assert {"tables.json", "tables.md", "measured", "figure_6.png"} <= {
        path.name for path in folder.iterdir()
    }
    monkeypatch.setattr(measure, "measure_input", None)  # nothing is measured again
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((folder / "tables.json").read_text("utf-8"))


def test_an_interrupted_run_says_that_it_goes_on(
    public: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "measure_input", interrupted)
    arguments = ["one_sided", "--data", str(public), "--output", str(tmp_path), "--runs", "1"]
    assert main(arguments) == 130
    assert "the same command goes on" in capsys.readouterr().err.replace("\n", " ")


def test_other_settings_do_not_replace_what_was_measured(
    public: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "measure_input", interrupted)
    arguments = ["one_sided", "--data", str(public), "--output", str(tmp_path)]
    assert main([*arguments, "--runs", "1"]) == 130
    assert main([*arguments, "--runs", "2"]) == 2
    assert "other settings (runs)" in capsys.readouterr().err
