# SPDX-License-Identifier: Apache-2.0
"""The experiments of Shafieinejad et al. 2021 on the shipped extract, with few outliers."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

import anonymaly as am
from anonymaly.datasets import SALARY_COLUMNS, salaries
from anonymaly.questions.explain.kernels.cells import DistanceSums
from anonymaly.questions.explain.query import Explain
from studies.pcor import paper
from studies.pcor import study as study_module
from studies.pcor.asking import Asked, Asking
from studies.pcor.data import build_reduced_salary, homicide, reduced_salary, salary
from studies.pcor.neighbours import Neighbours
from studies.pcor.study import Pcor, Sources
from studies.pcor.tables import AS_PRINTED
from studies.progress import Progress
from studies.runner import Found, Run, reproduce
from studies.seeds import in_random_order
from studies.table import Cell, Table

SMALL = Pcor(outliers=3, neighbours=2)
NUMBERS = list(range(2, 14))
PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")
pytestmark = pytest.mark.slow  # a small run of all of the paper's experiments


@pytest.fixture(scope="module")
def sources() -> Sources:
    records = reduced_salary()
    return Sources(records, records, records)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def found(sources: Sources, output: Path) -> Found:
    return reproduce(SMALL, sources, Run(output))


def table_of(found: Found, number: int) -> Table:
    return next(table for table in found.tables if table.title.startswith(f"Table {number}. "))


def figures_in(table: Table) -> list[Cell]:
    """Return what was measured: all cells with figures but the paper's."""
    ours = table.heads.index("ours")
    return [cell for line in table.lines for cell in line[ours:] if isinstance(cell, Cell)]


def utilities(found: Found) -> dict[tuple[str, str], float]:
    """Return our means by table and line, but for times, which no two runs share."""
    return {
        (table.title, str(line[0])): line[table.heads.index("ours")].figures["mean"]  # type: ignore[union-attr]
        for table in found.tables
        if not table.title.endswith(": time")
        for line in table.lines
    }


def test_the_papers_figures_are_complete() -> None:
    assert sorted([*paper.TIMES, *paper.UTILITIES, *paper.MATCHES]) == NUMBERS
    for times, utility in ((2, 3), (4, 5), (6, 7), (8, 9), (10, 11)):
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


def test_every_table_has_our_figures_beside_the_papers(found: Found) -> None:
    assert [table.title.partition(".")[0] for table in found.tables] == [f"Table {n}" for n in NUMBERS]
    for table in found.tables:
        for name, printed in zip(table.column(""), table.column("paper"), strict=True):
            assert isinstance(printed, Cell) or name == "exact"
        measured = figures_in(table)
        assert len(measured) == len(table.lines) * (len(table.heads) - table.heads.index("ours"))
        for cell in measured:
            assert cell.figures["number"] == 3
            assert math.isfinite(cell.figures["mean"])
            if not table.title.endswith(": time"):
                assert 0 <= cell.figures["least"] <= cell.figures["most"] <= 1
    assert utilities(found)["Table 3. Searches: utility", "exact"] > 0.99


def test_the_same_epsilon_buys_sharper_draws_than_in_the_paper(found: Found) -> None:
    table = table_of(found, 3)
    names = table.column("")
    ours = dict(zip(names, table.column("our ε1"), strict=True))
    theirs = dict(zip(names, table.column("paper's ε1"), strict=True))
    assert ours["random walk"] == 2 * float(str(theirs["random walk"])) == 0.2
    assert ours["breadth first"] == pytest.approx(0.2 / 51)
    printed = dict(zip(names, table.column(AS_PRINTED), strict=True))["breadth first"]
    assert isinstance(printed, Cell)
    assert printed.figures["charge"] == pytest.approx(0.2 * 50 / 102)
    assert printed.text.endswith("for ε = 0.098")


def test_tables_and_pictures_are_written(found: Found, output: Path) -> None:
    written = json.loads((output / "tables.json").read_text(encoding="utf-8"))
    assert written == found.to_dict()
    names = {path.name for path in found.pictures}
    drawn = {f"figure_{n}_{what}" for n in range(1, 6) for what in ("utility", "time")} - {"figure_4_time"}
    assert names == {f"{n}.{kind}" for n in (*drawn, "epsilon", "match") for kind in ("png", "svg", "html")}
    assert all(path.stat().st_size > 5_000 for path in found.pictures)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in found.pictures if path.suffix == ".png")
    pages = [path.read_text(encoding="utf-8") for path in found.pictures if path.suffix == ".html"]
    assert not any("<script src=" in page for page in pages)


def test_a_second_run_measures_nothing(
    sources: Sources, found: Found, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(Asked, "__init__", never)
    monkeypatch.setattr(Neighbours, "validity", never)
    monkeypatch.setattr(study_module, "draw", lambda *_: [])
    again = reproduce(SMALL, sources, Run(output))
    assert again.tables == found.tables


def test_an_interrupted_run_goes_on_and_ends_alike(
    sources: Sources, found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    original = Asked.__init__

    def interrupted(self: Asked, asking: Asking, row: int, progress: Progress) -> None:
        asked.append(row)
        if len(asked) == 4:
            raise KeyboardInterrupt
        original(self, asking, row, progress)

    monkeypatch.setattr(Asked, "__init__", interrupted)
    monkeypatch.setattr(study_module, "draw", lambda *_: [])
    monkeypatch.setattr(study_module, "warm_up", lambda asking, cases, screen=None: None)
    with pytest.raises(KeyboardInterrupt):
        reproduce(SMALL, sources, Run(tmp_path))
    path = tmp_path / "measured" / "searches.jsonl"
    kept = path.read_text(encoding="utf-8")
    path.write_text(kept + '{"row": 17, "val', encoding="utf-8")
    resumed = reproduce(SMALL, sources, Run(tmp_path))
    assert path.read_text(encoding="utf-8").startswith(kept)
    assert utilities(resumed) == utilities(found)
    assert len(asked) == len(set(asked[:3])) + len(asked[3:])


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
        rule="groups",
    )
    context = am.simulate(question, salaries(public=True, rules={"groups": am.SameContexts()}), seed=9).value
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
