# SPDX-License-Identifier: Apache-2.0
"""``python -m studies`` as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from studies.__main__ import main
from studies.one_sided import measure, study
from studies.one_sided.data import FILE, HISTOGRAMS
from studies.papers import papers
from studies.progress import Progress
from studies.runner import Run, Stopwatch

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


def test_papers_are_listed_with_their_files_and_times() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "studies", "--list"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    *lines, last = done.stdout.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == papers()
    assert "reads keti_building.parquet, nab.parquet" in done.stdout
    assert "measuring took " in done.stdout
    assert "Böhler, Bernau and Kerschbaum 2017" in done.stdout
    assert "make reproduce PAPER=" in last


def test_every_paper_is_a_folder_of_the_same_files() -> None:
    for name in papers():
        files = {path.name for path in (ROOT / "studies" / name).glob("*.py")}
        assert {
            "study.py",
            "data.py",
            "measure.py",
            "paper.py",
            "exhibits.py",
            "tables.py",
            "charts.py",
        } <= files, name


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
    assert '<section id="one_sided">' in (tmp_path / "output" / "report.html").read_text("utf-8")
    monkeypatch.setattr(measure, "measure_input", None)  # nothing is measured again
    monkeypatch.setattr(study, "draw", lambda *_: sorted(folder.glob("figure_*")))
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


def test_settings_of_one_paper_are_refused_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--runs=1"])
    assert "unrecognized arguments: --runs" in capsys.readouterr().err
    assert main(["--runs", "1"]) == 2
    assert "settings such as --runs 5 come after it" in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.slow
def test_all_papers_run_and_one_without_its_files_is_named(
    public: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["--data", str(public), "--output", str(tmp_path / "output"), "--quick"]
    original, measured = measure.measure_input, []

    def interrupted(*given: Any, **named: Any) -> Any:
        if len(measured) == 3:
            raise KeyboardInterrupt
        measured.append(original(*given, **named))
        return measured[-1]

    monkeypatch.setattr(measure, "measure_input", interrupted)
    assert main(arguments) == 130
    assert "the same command goes on" in capsys.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "output" / "report.html").exists()

    def counted(*given: Any, **named: Any) -> Any:
        measured.append(original(*given, **named))
        return measured[-1]

    monkeypatch.setattr(measure, "measure_input", counted)
    assert main([*arguments, "--json"]) == 2  # five papers have no files here
    said = capsys.readouterr()
    assert "sensors (5 of 6): left out: there is no keti_building.parquet and no nab.parquet" in said.err
    assert "one_sided (2 of 6): 11 tables, 5 pictures; measured in" in said.err
    journal = (tmp_path / "output" / "one_sided" / "measured" / "inputs.jsonl").read_text("utf-8")
    assert len(measured) == len(journal.splitlines()) - 1  # the first three were not measured again
    report = json.loads(said.out)
    assert report == json.loads((tmp_path / "output" / "report.json").read_text("utf-8"))
    results = {paper["name"]: paper["result"] for paper in report["papers"]}
    assert [name for name, result in results.items() if result] == ["one_sided"]
    assert results["one_sided"]["made"]["settings"]["runs"] == 1
    page = (tmp_path / "output" / "report.html").read_text("utf-8")
    assert page.count("<svg ") == 5
    assert "http://" not in page
    assert "https://" not in page

    monkeypatch.setattr(measure, "measure_input", None)
    monkeypatch.setattr(study, "draw", None)
    assert main(arguments) == 2
    assert "one_sided (2 of 6): finished before" in capsys.readouterr().err


def test_a_stopwatch_goes_on_where_measurements_do(tmp_path: Path) -> None:
    with Stopwatch(Run(tmp_path)) as watch:
        pass
    assert not list(tmp_path.iterdir())  # nothing was kept, so no later run goes on
    (tmp_path / "measured").mkdir()
    (tmp_path / "measured" / "seconds.txt").write_text("5000\n", "utf-8")
    with Stopwatch(Run(tmp_path)) as watch:
        pass
    assert watch.seconds >= 5000
    assert float((tmp_path / "measured" / "seconds.txt").read_text("utf-8")) >= 5000
    with Stopwatch(Run(tmp_path, force=True)) as watch:
        pass
    assert watch.seconds < 5000


def test_bars_say_which_paper_of_how_many_is_at_work() -> None:
    out = StringIO()
    with Progress(Console(file=out, force_terminal=True, width=100)) as progress:
        progress.papers("pcor", 2, 6)
        progress.start("salary", total=4, done=1)
    assert "papers (pcor)" in out.getvalue()
    assert "2/6" in out.getvalue()
