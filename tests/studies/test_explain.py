# SPDX-License-Identifier: Apache-2.0
"""The experiments of 000 on the shipped extract, with few outliers."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import anonymaly as am
from anonymaly.cli.main import app
from anonymaly.datasets import SALARY_COLUMNS, salaries
from anonymaly.errors import InputError
from anonymaly.questions.explain.kernels.cells import DistanceSums
from anonymaly.questions.explain.query import Explain
from anonymaly.reproduce import explain as study
from anonymaly.reproduce import paper
from anonymaly.reproduce.asking import Asked, Asking
from anonymaly.reproduce.explain import Sources, reproduce_explain
from anonymaly.reproduce.journal import Journal
from anonymaly.reproduce.neighbours import Neighbours
from anonymaly.reproduce.outliers import in_random_order
from anonymaly.reproduce.progress import Progress
from anonymaly.reproduce.records import build_reduced_salary, homicide, needed_files, reduced_salary, salary
from anonymaly.reproduce.reproduction import Reproduction
from anonymaly.reproduce.tables import all_numbers

PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")


@pytest.fixture(scope="module")
def sources() -> Sources:
    records = reduced_salary()
    return Sources(records, records, records)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def found(sources: Sources, output: Path) -> Reproduction[Any]:
    return reproduce_explain(sources, output, outliers=3, neighbours=2)


def utilities(found: Reproduction[Any]) -> dict[tuple[int, str], float]:
    return {
        (table.number, line.case): line.ours.mean
        for table in found.tables
        if table.measure != "seconds"
        for line in table.lines
    }


def test_the_papers_figures_are_complete() -> None:
    assert all_numbers() == [2, 3, 4, 5, 6, 7, 8, 9, 12, 13]
    for times, utility in ((2, 3), (4, 5), (6, 7), (8, 9)):
        assert set(paper.TIMES[times]) - {"exact"} == set(paper.UTILITIES[utility])
    for table in paper.TIMES.values():
        assert all(0 < figures.least <= figures.mean <= figures.most for figures in table.values())
    for ratios in paper.UTILITIES.values():
        assert all(0 < figures.low < figures.mean < figures.high < 1 for figures in ratios.values())
    for matches in paper.MATCHES.values():
        assert set(matches) == {"grubbs", "lof", "histogram"}
        for shares in matches.values():
            assert len(shares) == len(paper.CHANGES)
            assert list(shares) == sorted(shares, reverse=True)


def test_every_table_has_our_figures_beside_the_papers(found: Reproduction[Any]) -> None:
    assert [table.number for table in found.tables] == all_numbers()
    for table in found.tables:
        for line in table.lines:
            assert line.paper is not None or line.case == "exact"
            for figures in (line.ours, *line.further.values()):
                assert figures.number == 3
                assert math.isfinite(figures.mean)
                assert table.measure == "seconds" or 0 <= figures.least <= figures.most <= 1
    assert utilities(found)[3, "exact"] > 0.99


def test_the_same_epsilon_buys_sharper_draws_than_in_the_paper(found: Reproduction[Any]) -> None:
    rates = {line.case: line.rates for line in found.tables[1].lines}
    assert rates["random_walk"]["rate"] == 2 * rates["random_walk"]["paper_rate"] == 0.2
    assert rates["breadth_first"]["rate"] == pytest.approx(0.2 / 51)
    assert rates["breadth_first"]["paper_charge"] == pytest.approx(0.2 * 50 / 102)


def test_tables_and_pictures_are_written(found: Reproduction[Any], output: Path) -> None:
    written = json.loads((output / "tables.json").read_text(encoding="utf-8"))
    assert written == found.to_dict()
    names = {path.name for path in found.pictures}
    assert names == {
        f"{n}.{kind}" for n in ("utility", "time", "epsilon", "match") for kind in ("png", "svg", "html")
    }
    assert all(path.stat().st_size > 5_000 for path in found.pictures)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in found.pictures if path.suffix == ".png")
    pages = [path.read_text(encoding="utf-8") for path in found.pictures if path.suffix == ".html"]
    assert not any("<script src=" in page for page in pages)


def test_a_second_run_measures_nothing(
    sources: Sources, found: Reproduction[Any], output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(Asked, "__init__", never)
    monkeypatch.setattr(Neighbours, "validity", never)
    again = reproduce_explain(sources, output, outliers=3, neighbours=2)
    assert again.tables == found.tables


def test_an_interrupted_run_goes_on_and_ends_alike(
    sources: Sources, found: Reproduction[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    original = Asked.__init__

    def interrupted(self: Asked, asking: Asking, row: int, progress: Progress) -> None:
        asked.append(row)
        if len(asked) == 4:
            raise KeyboardInterrupt
        original(self, asking, row, progress)

    monkeypatch.setattr(Asked, "__init__", interrupted)
    monkeypatch.setattr(study, "warm_up", lambda asking, cases, screen=None: None)
    with pytest.raises(KeyboardInterrupt):
        reproduce_explain(sources, tmp_path, outliers=3, neighbours=2)
    path = tmp_path / "measured" / "searches.jsonl"
    kept = path.read_text(encoding="utf-8")
    path.write_text(kept + '{"row": 17, "val', encoding="utf-8")
    resumed = reproduce_explain(sources, tmp_path, outliers=3, neighbours=2)
    assert path.read_text(encoding="utf-8").startswith(kept)
    assert utilities(resumed) == utilities(found)
    assert len(asked) == len(set(asked[:3])) + len(asked[3:])


def test_a_journal_with_other_settings_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    Journal(path, {"seed": 1}).write({"row": 1})
    assert len(Journal(path, {"seed": 1})) == 1
    assert len(Journal(path, {"seed": 1}, force=True)) == 0
    Journal(path, {"seed": 1}).write({"row": 1})
    assert len(Journal(path, {"seed": 2})) == 0


@pytest.mark.parametrize("detector", ["lof", "grubbs", "histogram"])
def test_verdicts_from_arrays_are_those_from_the_table(sources: Sources, detector: str) -> None:
    asking = Asking(sources.salary, detector)
    neighbours = Neighbours(asking)
    for row, _ in zip(in_random_order(neighbours.rows, 5), range(4), strict=False):
        with Progress(None) as progress:
            np.testing.assert_array_equal(asking.ask(row, progress).validity, neighbours.validity(row))


def test_rows_left_out_are_left_out(sources: Sources) -> None:
    neighbours = Neighbours(Asking(sources.salary, "grubbs"))
    asking = Asking(sources.salary, "grubbs")
    bound = asking.bind(asking.question(0, "0.2"))
    whole, fewer = neighbours.summary(bound, 0), neighbours.summary(bound, 0, [1, 2])
    assert isinstance(whole, DistanceSums)
    assert isinstance(fewer, DistanceSums)
    assert (whole.counts.sum(), fewer.counts.sum()) == (10_999, 10_997)


def test_a_measured_answer_is_a_simulated_one(sources: Sources) -> None:
    asking = Asking(sources.salary, "lof")
    row = next(row for row in in_random_order(11_000, 1) if Neighbours(asking).validity(row).any())
    with Progress(None) as progress:
        asked = asking.ask(row, progress)
    start = asked.choices(int(np.flatnonzero(asked.validity)[0]))
    fields = {"search": "breadth_first", "start": start}
    index, _, _ = asked.release("0.2", 9, fields)
    question = Explain(
        record=sources.salary.record(row),
        metric="salary",
        attributes=["job", "sector", "year"],
        epsilon="0.2",
        search="breadth_first",
        start=start,
    )
    context = am.simulate(question, salaries(public=True), seed=9).value
    assert index is not None
    assert {choice.column: list(choice.values) for choice in context.choices} == asked.choices(index)


def test_the_extract_is_small_and_as_declared() -> None:
    rows = reduced_salary().rows
    assert rows.num_rows == 11_000
    for name in ("job", "sector", "year"):
        assert set(rows.column(name).to_pylist()) == set(SALARY_COLUMNS[name].values)  # type: ignore[union-attr]
    assert (Path(am.__file__).parent / "datasets" / "salaries.parquet").stat().st_size < 300_000


@pytest.mark.skipif(not PUBLIC_FILES, reason="needs the public files (ANONYMALY_DATA)")
def test_the_tables_are_built_as_documented() -> None:
    folder = Path(str(PUBLIC_FILES))
    large, homicides = salary(folder), homicide(folder)
    assert large.rows.num_rows == 51_000
    assert [len(set(large.rows.column(name).to_pylist())) for name in large.attributes] == [9, 8, 8]
    assert homicides.rows.num_rows == 28_000
    assert sum(len(set(homicides.rows.column(name).to_pylist())) for name in homicides.attributes) == 12
    assert build_reduced_salary(folder).equals(reduced_salary().rows)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ANONYMALY_DATA"):
        needed_files(None)
    with pytest.raises(InputError, match=r"there is no ontario_salaries_1996_2006\.parquet in"):
        needed_files(tmp_path)


def test_the_command_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANONYMALY_DATA", raising=False)
    without = CliRunner().invoke(app, ["reproduce", "explain", "--output", str(tmp_path)])
    assert isinstance(without.exception, InputError)
    assert "--data DIR" in str(without.exception)
    other = CliRunner().invoke(app, ["reproduce", "count"])
    assert isinstance(other.exception, InputError)


def test_the_command_prints_both_figures(
    sources: Sources, found: Reproduction[Any], output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sources, "read", lambda folder: sources)
    monkeypatch.setattr(
        "anonymaly.cli.reproduce_explain.reproduce_explain",
        lambda *arguments, **options: reproduce_explain(*arguments, **{**options, "neighbours": 2}),
    )
    arguments = ["reproduce", "explain", "--output", str(output), "--outliers", "3"]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.exception
    assert "Table 3. Searches: utility" in told.stdout
    assert "0.90 (0.88, 0.93)" in told.stdout
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert document["tables"] == [table.to_dict() for table in found.tables]
