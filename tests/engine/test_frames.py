# SPDX-License-Identifier: Apache-2.0
"""One reader of what users give, whatever library holds it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.engine.frames import columns_of, no_frame, values_of
from anonymaly.errors import InputError
from anonymaly.questions.score.space import read_numbers

COLUMNS = {"age": [30, 41], "pay": [1.5, 2.0]}
HOLDERS: dict[str, Any] = {
    "mapping": COLUMNS,
    "mapping of arrays": {name: np.array(values) for name, values in COLUMNS.items()},
    "records": [{"age": 30, "pay": 1.5}, {"age": 41, "pay": 2.0}],
    "pandas": pandas.DataFrame(COLUMNS),
    "pandas with gaps in its index": pandas.DataFrame(COLUMNS, index=[7, 3]),
    "polars": polars.DataFrame(COLUMNS),
    "polars lazy": polars.LazyFrame(COLUMNS),
    "Arrow table": pa.table(COLUMNS),
    "Arrow batch": pa.RecordBatch.from_pydict(COLUMNS),
}


@pytest.mark.parametrize("data", HOLDERS.values(), ids=HOLDERS)
def test_columns_are_the_same_whoever_holds_them(data: Any) -> None:
    found = columns_of(data, field="records")
    assert found is not None
    assert {name: values_of(column) for name, column in found.items()} == COLUMNS


@pytest.mark.parametrize("data", HOLDERS.values(), ids=HOLDERS)
def test_questions_read_the_same_from_all_of_them(data: Any) -> None:
    assert read_numbers(data, ["pay", "age"]).tolist() == [[1.5, 30], [2.0, 41]]
    query = am.Identify(records=data, model="rare", epsilon=1)
    assert query.to_dict()["records"] == COLUMNS


@pytest.mark.parametrize(
    "data", [[], [[1, 2]], np.ones((2, 2)), "new.csv", 7, None, pandas.Series([1])], ids=repr
)
def test_what_has_no_columns_is_left_to_the_caller(data: Any) -> None:
    assert columns_of(data, field="records") is None


FAULTS: dict[str, tuple[Any, str]] = {
    "one value": ({"age": 3}, "without a list of values"),
    "text": ({"age": "30"}, "without a list of values"),
    "other columns": ([{"age": 1}, {"pay": 2}], "other columns in record 2 than in the first"),
    "twice": (pandas.DataFrame([[1, 2]], columns=["age", "age"]), "names a column twice"),
    "twice as text": (pandas.DataFrame([[1, 2]], columns=[1, "1"]), "names a column twice"),
    "twice in Arrow": (pa.table([[1], [2]], names=["age", "age"]), "names a column twice"),
}


@pytest.mark.parametrize("record", [{"age": 3}, {"age": "30"}], ids=repr)
def test_a_single_record_is_asked_for_in_a_list(record: Any) -> None:
    with pytest.raises(InputError, match=r"Put a single record into a list, as in \[\{"):
        columns_of(record, field="people")
    with pytest.raises(InputError, match="a mapping of columns to lists of values"):
        columns_of({"age": 3, "ward": ["A"]}, field="people")


def test_what_has_no_columns_is_refused_by_what_it_is() -> None:
    assert "has no records" in str(no_frame([], field="records"))
    row = pandas.DataFrame({"age": [1]}).iloc[0]
    assert "got Series. Put a single record into a list" in str(no_frame(row, field="records"))
    assert "got ndarray. Give a data frame" in str(no_frame(np.ones((2, 2)), field="records"))


@pytest.mark.parametrize(("data", "problem"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_columns_is_explained(data: Any, problem: str) -> None:
    with pytest.raises(InputError, match=f"people: .*{problem}") as refused:
        columns_of(data, field="people")
    assert refused.value.next_step


def test_a_planned_frame_that_fails_quotes_no_value() -> None:
    failing = polars.LazyFrame({"age": ["Lovelace"]}).select(polars.col("age").cast(polars.Int64))
    with pytest.raises(InputError, match="could not be read as columns") as refused:
        columns_of(failing, field="records")
    assert "Lovelace" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


def test_reading_plain_columns_imports_no_library_of_frames() -> None:
    code = (
        "import sys; from anonymaly.engine.frames import columns_of;"
        "columns_of({'age': [1]}, field='x'); columns_of([{'age': 1}], field='x');"
        "assert not {'pandas', 'polars', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
