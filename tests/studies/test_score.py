# SPDX-License-Identifier: Apache-2.0
"""The experiments of 002 on a small invented table, with one split."""

from __future__ import annotations

import itertools
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score
from typer.testing import CliRunner

import anonymaly as am
from anonymaly.cli.main import app
from anonymaly.errors import InputError
from anonymaly.questions.score.methods.marginals import MarginalsMethod
from anonymaly.questions.score.methods.method import MethodFacts
from anonymaly.reproduce import score as study
from anonymaly.reproduce import score_measure, score_tables
from anonymaly.reproduce.progress import Progress
from anonymaly.reproduce.ranking import average_precision, precision_at_n, roc_area
from anonymaly.reproduce.reproduction import Reproduction
from anonymaly.reproduce.score import reproduce_score
from anonymaly.reproduce.score_data import Labelled, labelled, read_tables
from anonymaly.reproduce.score_measure import count, measure, release

PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")


def invented(name: str = "Pima") -> Labelled:
    random = np.random.default_rng(1)
    values = np.vstack([random.normal(0, 1, (150, 3)), random.normal(3, 1, (10, 3))])
    return labelled(name, values, np.arange(160) >= 150)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def found(output: Path) -> Reproduction[Any]:
    return reproduce_score([invented()], output, seeds=1)


def test_every_table_has_figures_between_nought_and_one(found: Reproduction[Any]) -> None:
    assert [table.title for table in found.tables] == [
        "AUROC that must be reached",
        "Without privacy: AUROC",
        "Figure 2, right: AUROC by ε",
        "Figure 3: average precision by ε",
        "Figure 3: P@n by ε",
        "Figure 2, left: AUROC by b, at ε = 1",
    ]
    for table in found.tables:
        assert table.lines
        for line in table.lines:
            assert len(line) == len(table.heads)
            means = [cell.mean for cell in line if isinstance(cell, score_tables.Figure)]
            assert means
            assert all(0 <= mean <= 1 for mean in means)


def test_the_choice_by_hindsight_is_labelled_and_never_worse_than_the_rules_choice(
    found: Reproduction[Any],
) -> None:
    table = found.tables[2]
    assert "leak" in table.note
    rule, best = table.heads.index("grid k-NN"), table.heads.index("best b by hindsight")
    for line in table.lines:
        if 2 <= int(str(line[rule + 1])) <= 10:
            assert line[best].mean >= line[rule].mean  # type: ignore[union-attr]


def test_tables_and_pictures_are_written(found: Reproduction[Any], output: Path) -> None:
    assert json.loads((output / "score_tables.json").read_text("utf-8")) == found.to_dict()
    assert (output / "score_tables.md").read_text("utf-8").startswith("## AUROC that must be reached")
    for name in ("figure_2_epsilon", "figure_2_cells", "figure_3_precision", "figure_3_at_n"):
        assert (output / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_goes_on_where_it_was(
    found: Reproduction[Any], output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(study, "measure", refuse)
    monkeypatch.setattr(study, "_draw", lambda *_: [])
    assert reproduce_score([invented()], output, seeds=1).tables == found.tables
    with pytest.raises(AssertionError, match="measured again"):
        reproduce_score([invented()], output, seeds=1, force=True)


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
    for module in (score_measure, score_tables):
        monkeypatch.setattr(module, "HAS_PYOD", False)
    rows = measure(invented("Thyroid"), 0, sweep=False)
    assert not [row for row in rows if "PyOD" in row["score"]]
    table = score_tables.plain_table(score_tables.Measured([{"table": "Thyroid", "rows": rows}]))
    assert "PyOD is not installed" in table.note
    assert not [head for head in table.heads if "PyOD" in head]


def test_a_figure_is_a_mean_with_its_deviation() -> None:
    assert str(score_tables.Figure.of([0.8, 0.9, 1.0])) == "0.900 ± 0.100"


def test_progress_counts_splits() -> None:
    with Progress(None) as progress:
        progress.start("Pima", total=2, done=0, unit="splits")
        progress.advance(1)


class TestTheCommand:
    def test_it_needs_the_public_files(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"no lymphography\.parquet"):
            read_tables(tmp_path)
        done = CliRunner().invoke(app, ["reproduce", "score"], env={"ANONYMALY_DATA": ""})
        assert done.exit_code != 0

    def test_it_prints_the_tables(
        self, tmp_path: Path, output: Path, found: Reproduction[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("anonymaly.cli.reproduce_score.read_tables", lambda folder: [invented()])
        monkeypatch.setattr(study, "_draw", lambda *_: [])
        arguments = ["reproduce", "score", "--seeds", "1", "--output", str(output)]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0
        assert all(table.title in done.output for table in found.tables)


@pytest.mark.skipif(PUBLIC_FILES is None, reason="the public files are elsewhere")
def test_the_tables_have_as_many_records_as_the_papers() -> None:
    tables = {table.name: table for table in read_tables(Path(PUBLIC_FILES or ""))}
    sizes = {
        name: (*table.split(0)[0].shape, len(table.split(0)[1]), int(table.outliers.sum()))
        for name, table in tables.items()
    }
    # 002's Table 1; its heart data is another edition (110 and 38 of 148).
    assert sizes["Lymphography"] == (113, 3, 35, 6)
    assert sizes["Pima"] == (400, 8, 140, 40)
    assert sizes["WDBC"] == (285, 30, 82, 10)
    assert sizes["Adult"] == (19776, 7, 5044, 100)
