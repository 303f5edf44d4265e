# SPDX-License-Identifier: Apache-2.0
"""The released model: what it is given, and the file it is kept in."""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.errors import InputError, Refused
from anonymaly.questions.score.methods.grid import GridMethod
from anonymaly.questions.score.model_file import read_model, write_model
from anonymaly.questions.score.value import HeldModel, Model

RECORDS = pd.DataFrame({"age": [30.0, 31, 32, 60] * 40, "bmi": [21, 22, 23, 24] * 40})
COLUMNS = {"age": am.Interval(0, 120), "bmi": am.Interval(10, 70)}
NEW = pd.DataFrame({"age": [31.0, 100.0, -5.0], "bmi": [22, 60, 1000]})


def _simulate(**options: Any) -> Model:
    table = am.Dataset(RECORDS, name="people", columns=COLUMNS, public=True)
    query = am.Score(columns=["age", "bmi"], **{"epsilon": 2, "rows": 160, **options})
    model = am.simulate(query, table, seed=0).value
    assert isinstance(model, Model)
    return model


@pytest.fixture(params=["grid", "marginals"])
def model(request: pytest.FixtureRequest) -> Model:
    return _simulate(method=request.param, contamination=0.1)


def test_frames_and_arrays_of_every_kind_score_alike(model: Model) -> None:
    expected = model.score(NEW)
    turned = NEW[["bmi", "age"]]  # by name, in whatever order
    for records in (
        turned,
        turned.astype({"bmi": "Int64"}),
        pl.DataFrame(turned),
        pa.Table.from_pandas(turned),
        pa.RecordBatch.from_pandas(turned),
        NEW.to_numpy(),
        NEW.to_numpy().tolist(),
        NEW.astype("float32"),
    ):
        assert model.score(records).tolist() == expected.tolist()
    assert model.score(NEW.iloc[:0]).shape == (0,)
    # Values outside the bounds are moved to them.
    assert model.score([[-5, 1000]]).tolist() == model.score([[0, 70]]).tolist()


BAD_RECORDS: list[tuple[Any, str]] = [
    (NEW[["age"]], "no column 'bmi'"),
    (NEW.assign(name="x"), "a column 'name'"),
    (NEW.rename(columns={"age": "Age"}), "no column 'age'"),
    (NEW.assign(age=[1, None, 2]), "age: is missing or infinite in 1 of 3"),
    (NEW.assign(bmi=[1, np.inf, np.inf]), "bmi: is missing or infinite in 2 of 3"),
    (NEW.assign(age=["30", "31", "32"]), "age: must hold numbers"),
    (NEW.assign(age=[True, False, True]), "age: must hold numbers"),
    (NEW.assign(age=[1, "x", None]), "one type|must hold numbers"),
    (pl.DataFrame({"age": [1.0, None], "bmi": [1, 2]}), "age: is missing"),
    (pd.concat([NEW, NEW[["age"]]], axis=1), "twice|column"),
    (NEW["age"], "array of 2 columns"),
    ([[1, 2, 3]], "array of 2 columns"),
    ([1, 2], "array of 2 columns"),
    ([["a", "b"]], "must hold numbers"),
    ([[1, float("nan")]], "bmi: is missing"),
    (None, "array of 2 columns"),
]


@pytest.mark.parametrize(("records", "said"), BAD_RECORDS, ids=[said for _, said in BAD_RECORDS])
def test_records_that_cannot_be_scored_are_explained(model: Model, records: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        model.score(records)


def test_a_model_without_a_threshold_says_so() -> None:
    model = _simulate(method="grid")
    assert model.threshold is None
    with pytest.raises(InputError, match="no threshold"):
        model.is_unusual(NEW)


def test_a_model_comes_back_from_its_file_as_it_was(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "people.model"
    model.save(path)
    again = am.Model.load(path)
    assert again.to_dict() == model.to_dict()
    assert json.dumps(again.to_dict())
    assert np.array_equal(again.score(NEW), model.score(NEW))
    assert np.array_equal(again.is_unusual(NEW), model.is_unusual(NEW))
    again.save(tmp_path / "copy.model")
    assert (tmp_path / "copy.model").read_bytes() == path.read_bytes()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).score(NEW), model.score(NEW))  # noqa: S301


def test_a_file_that_is_cut_off_anywhere_is_refused(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "people.model"
    model.save(path)
    whole = path.read_bytes()
    for length in [0, 1, 10, *range(20, len(whole), max(1, len(whole) // 40)), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="model"):
            am.Model.load(path)


def test_a_file_with_any_byte_changed_scores_the_same_or_is_refused(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "people.model"
    model.save(path)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            again = am.Model.load(path)
        except InputError:
            refused += 1
        else:  # a time stamp of the archive, say
            assert again.to_dict() == model.to_dict()
    assert refused > 75


def _rewritten(model: Model, **changes: Any) -> io.BytesIO:
    """Return the file with parts of its text changed, the digest left as it was."""
    source, target = io.BytesIO(), io.BytesIO()
    model.write(source)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "about.json":
                content = json.dumps({**json.loads(content), **changes}).encode()
            new.writestr(name, content)
    target.seek(0)
    return target


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threshold": 1e9}, "changed after"),
        ({"guarantee": None, "contamination": 0.4}, "changed after"),
        ({"digest": "0" * 64}, "changed after"),
        ({"format": "another model 2"}, "not a model"),
        ({"method": ["grid"]}, "changed after"),
    ],
)
def test_an_edited_file_is_refused(model: Model, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Model.read(_rewritten(model, **changes))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "arrays.npz", a=np.arange(3))
    (tmp_path / "text.model").write_text("not a model")
    for name in ("arrays.npz", "text.model", "nothing.model", "."):
        with pytest.raises(InputError, match=r"model|cannot read"):
            am.Model.load(tmp_path / name)
    with pytest.raises(InputError, match="cannot write"):
        _simulate(method="grid").save(tmp_path / "no" / "folder.model")


def test_whoever_reads_a_model_while_it_is_saved_again_has_the_one_of_before(tmp_path: Path) -> None:
    path = tmp_path / "kept.model"
    _simulate(method="grid", epsilon=1).save(path)
    before = path.read_bytes()
    with path.open("rb") as reading:
        again = _simulate(method="grid", epsilon=3)
        again.save(path)
        assert reading.read() == before
    assert am.Model.load(path) == again
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_arrays_that_do_not_fit_the_method_are_refused() -> None:
    model = _simulate(method="grid", cells=3)
    for body in (
        {"cells": model.body["cells"] + np.uint8(3), "counts": model.body["counts"]},
        {"cells": model.body["cells"], "counts": model.body["counts"][:-1]},
        {"cells": model.body["cells"], "counts": model.body["counts"].astype(float)},
        {"cells": model.body["cells"][:, :1], "counts": model.body["counts"]},
        {"counts": model.body["counts"]},
    ):
        file = io.BytesIO()
        Model(model.method, model.space, body, None).write(file)
        file.seek(0)
        with pytest.raises(InputError, match="not a model that this version knows"):
            Model.read(file)


def test_parameters_that_no_grid_has_are_refused() -> None:
    model = _simulate(method="grid", cells=3)
    for name, item in (
        ("rate", "0"),
        ("rate", "x"),
        ("rate", "1/0"),
        ("rate", "1e999999999"),
        ("rate", 1),
        ("neighbours", 10**30),
        ("neighbours", True),
        ("threshold", "1"),
        ("threshold", -1),
        ("depth", "3"),
        ("depth", True),
        ("cells", 1),
        ("cells", 2.0),
        ("form", "held"),
        ("depth", -1),
    ):
        grid = dataclasses.replace(model.method, **{name: item})  # type: ignore[type-var]
        file = io.BytesIO()
        Model(grid, model.space, model.body, None).write(file)
        file.seek(0)
        with pytest.raises(InputError, match="not a model that this version knows"):
            Model.read(file)


def _forged(model: Model, **changes: Any) -> io.BytesIO:
    """Return the file with parts of its text changed and a digest that fits."""
    source, target = io.BytesIO(), io.BytesIO()
    model.write(source)
    about, body = read_model(source, "it")
    write_model(target, {**about, **changes}, body)
    target.seek(0)
    return target


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": "1"},
        {"threshold": True},
        {"contamination": [0.1]},
        {"parameters": []},
        {"guarantee": []},
        {"guarantee": "ε"},
        {"space": {"columns": ["a", "b"], "lows": [-1e308, 0], "highs": [1e308, 1]}},
        {"space": {"columns": ["a", "a"], "lows": [0, 0], "highs": [1, 1]}},
        {"space": None},
    ],
    ids=str,
)
def test_a_forged_file_of_other_types_is_refused(model: Model, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="not a model that this version knows"):
        Model.read(_forged(model, **changes))
    assert Model.read(_forged(model)) == model


def test_a_forged_lattice_whose_walks_would_overflow_is_refused() -> None:
    euclidean = {**_simulate(method="grid").method.parameters(), "distance": "euclidean"}
    assert GridMethod.restore(2, {**euclidean, "cells": 100}).cells == 100
    with pytest.raises(InputError, match="too many for euclidean"):
        GridMethod.restore(2, {**euclidean, "cells": 1024})


@pytest.mark.parametrize("shape", [(10**13,), (2**62, 4), (3, 7), (-1, -8)])
def test_an_array_that_claims_another_size_is_refused_before_room_is_made(
    model: Model, shape: tuple[int, ...]
) -> None:
    claimed = io.BytesIO()
    np.lib.format.write_array_header_1_0(claimed, {"descr": "<i8", "fortran_order": False, "shape": shape})
    source, target = io.BytesIO(), io.BytesIO()
    model.write(source)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for place, name in enumerate(sorted(old.namelist(), reverse=True)):
            new.writestr(name, old.read(name) if place else claimed.getvalue() + bytes(64))
    target.seek(0)
    with pytest.raises(InputError, match="not a model, or is cut off"):
        Model.read(target)


def test_a_held_model_scores_and_refuses_to_leave(tmp_path: Path) -> None:
    model = _simulate(method="grid", cells=5, form="held")
    assert isinstance(model, HeldModel)
    assert model.score(NEW).shape == (3,)
    assert np.array_equal(model.score(NEW), model.score(NEW))
    for leave in (
        lambda: model.save(tmp_path / "held.model"),
        lambda: pickle.dumps(model),
        lambda: copy.deepcopy(model),
        lambda: copy.copy(model),
        lambda: model.write(io.BytesIO()),
        lambda: model.body,
        model.__getstate__,
    ):
        with pytest.raises(Refused, match="exact counts"):
            leave()
    assert not (tmp_path / "held.model").exists()
    assert "body" not in model.to_dict()
    assert not any(isinstance(item, np.ndarray | dict) for item in vars(model).values())
    assert model.with_threshold(0.1, 1.0).is_unusual(NEW).shape == (3,)
    assert model != _simulate(method="grid", cells=5, form="held")
