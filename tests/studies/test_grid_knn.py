# SPDX-License-Identifier: Apache-2.0
"""The experiments of Rauch et al. 2021 on a small invented table, with one split."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

import anonymaly as am
from anonymaly.questions.score.methods.grid import GridMethod
from anonymaly.questions.score.methods.marginals import MarginalsMethod
from anonymaly.questions.score.methods.method import MethodFacts
from studies.grid_knn import measure as measure_module
from studies.grid_knn import study as study_module
from studies.grid_knn import tables
from studies.grid_knn.data import Labelled, labelled, read_tables
from studies.grid_knn.measure import count, measure, release
from studies.grid_knn.ranking import average_precision, precision_at_n, roc_area
from studies.grid_knn.study import GridKnn
from studies.progress import Progress
from studies.runner import Found, Run, reproduce
from studies.table import Cell

PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")
pytestmark = pytest.mark.slow  # a small run of all of the paper's experiments


def invented(name: str = "Pima") -> Labelled:
    random = np.random.default_rng(1)
    values = np.vstack([random.normal(0, 1, (150, 3)), random.normal(3, 1, (10, 3))])
    return labelled(name, values, np.arange(160) >= 150)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def found(output: Path) -> Found:
    return reproduce(GridKnn(seeds=1), [invented()], Run(output))


def test_every_table_has_figures_between_nought_and_one(found: Found) -> None:
    assert [table.title for table in found.tables] == [
        "Table 1. The tables",
        "AUROC that must be reached",
        "Without privacy: AUROC",
        "Figure 2, right: AUROC by ε",
        "Figure 3: average precision by ε",
        "Figure 3: P@n by ε",
        "Figure 2, left: AUROC by b, at ε = 1",
    ]
    for table in found.tables[1:]:
        assert table.lines
        for line in table.lines:
            assert len(line) == len(table.heads)
            means = [cell.figures["mean"] for cell in line if isinstance(cell, Cell)]
            assert means
            assert all(0 <= mean <= 1 for mean in means)


def test_the_choice_by_hindsight_is_labelled_and_never_worse_than_the_rules_choice(
    found: Found,
) -> None:
    table = found.tables[3]
    assert "leak" in table.note
    rule, best = table.heads.index("grid k-NN"), table.heads.index("best b by hindsight")
    for line in table.lines:
        if 2 <= int(str(line[rule + 1])) <= 10:
            by_rule, by_hindsight = line[rule], line[best]
            assert isinstance(by_rule, Cell)
            assert isinstance(by_hindsight, Cell)
            assert by_hindsight.figures["mean"] >= by_rule.figures["mean"]


def test_tables_and_pictures_are_written(found: Found, output: Path) -> None:
    assert json.loads((output / "tables.json").read_text("utf-8")) == found.to_dict()
    assert "\n## AUROC that must be reached\n" in (output / "tables.md").read_text("utf-8")
    for name in ("figure_2_epsilon", "figure_2_cells", "figure_3_precision", "figure_3_at_n"):
        assert (output / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_goes_on_where_it_was(
    found: Found, output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(output, tmp_path, dirs_exist_ok=True)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(study_module, "measure", refuse)
    monkeypatch.setattr(study_module, "draw", lambda *_: [])
    assert reproduce(GridKnn(seeds=1), [invented()], Run(tmp_path)).tables == found.tables
    with pytest.raises(AssertionError, match="measured again"):
        reproduce(GridKnn(seeds=1), [invented()], Run(tmp_path, force=True))


@pytest.mark.parametrize("name", ["marginals", "grid"])
def test_what_is_measured_is_what_the_question_releases(name: str) -> None:
    reference, tested, _ = invented().split(0)
    columns = {f"c{axis}": am.Interval(0, 1) for axis in range(3)}
    frame = pa.table({column: reference[:, axis] for axis, column in enumerate(columns)})
    data = am.Dataset(frame, name="invented", columns=columns, public=True)
    query = am.Score(columns=list(columns), method=name, rows=len(reference), epsilon="0.6")
    model = am.simulate(query, data, seed=4).value
    kind = {"marginals": MarginalsMethod, "grid": GridMethod}[name]
    method = kind.plan({}, MethodFacts(3, Fraction("0.6"), len(reference)))
    scores = release(method, count(method, reference), "0.6", 4, tested)
    assert (model.score(tested) == scores).all()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=40))
def test_areas_and_precisions_are_those_of_scikit_learn(records: list[tuple[bool, int]]) -> None:
    records += [(True, 3), (False, 3)]
    odd = np.array([outlier for outlier, _ in records])
    scores = np.array([float(score) for _, score in records])
    assert roc_area(odd, scores) == pytest.approx(roc_auc_score(odd, scores))
    assert average_precision(odd, scores) == pytest.approx(average_precision_score(odd, scores))


def test_precision_at_n_is_the_mean_over_all_orders_of_equal_scores() -> None:
    odd = np.array([True, False, True, False, False])
    scores = np.array([2.0, 2.0, 1.0, 1.0, 1.0])
    seen = []
    for order in itertools.permutations(range(5)):
        ranked = sorted(order, key=lambda at: -scores[at])
        seen.append(np.mean(odd[ranked[:2]]))
    assert precision_at_n(odd, scores) == pytest.approx(np.mean(seen))


def test_a_split_keeps_outliers_out_of_the_reference() -> None:
    table = invented()
    reference, tested, odd = table.split(3)
    assert (len(reference), len(tested), int(odd.sum())) == (120, 40, 10)
    assert not {tuple(point) for point in reference} & {tuple(point) for point in tested}
    assert not (table.split(4)[0] == reference).all()


def test_without_pyod_its_detectors_are_left_out_and_the_note_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (measure_module, tables):
        monkeypatch.setattr(module, "HAS_PYOD", False)
    rows = measure(invented("Thyroid"), 0, sweep=False)
    assert not [row for row in rows if "PyOD" in row["score"]]
    table = tables.plain_table(tables.Measured([{"table": "Thyroid", "rows": rows}]))
    assert "PyOD is not installed" in table.note
    assert not [head for head in table.heads if "PyOD" in head]


def test_a_figure_is_a_mean_with_its_deviation() -> None:
    assert tables.Figure.of([0.8, 0.9, 1.0]).cell.text == "0.900 ± 0.100"


def test_progress_counts_splits() -> None:
    with Progress(None) as progress:
        progress.start("Pima", total=2, done=0, unit="splits")
        progress.advance(1)


def test_what_was_measured_when_all_papers_shared_a_folder_is_read(
    found: Found, output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "score_pima.jsonl").write_bytes((output / "measured" / "pima.jsonl").read_bytes())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(study_module, "measure", refuse)
    monkeypatch.setattr(study_module, "draw", lambda *_: [])
    again = reproduce(GridKnn(seeds=1), [invented()], Run(tmp_path / "grid_knn"))
    assert again.tables == found.tables


@pytest.mark.skipif(PUBLIC_FILES is None, reason="the public files are elsewhere")
def test_the_tables_have_as_many_records_as_the_papers() -> None:
    found = {table.name: table for table in read_tables(Path(PUBLIC_FILES or ""))}
    sizes = {
        name: (*table.split(0)[0].shape, len(table.split(0)[1]), int(table.outliers.sum()))
        for name, table in found.items()
    }
    # The paper's Table 1; its heart data is another edition (110 and 38 of 148).
    assert sizes["Lymphography"] == (113, 3, 35, 6)
    assert sizes["Pima"] == (400, 8, 140, 40)
    assert sizes["WDBC"] == (285, 30, 82, 10)
    assert sizes["Adult"] == (19776, 7, 5044, 100)
