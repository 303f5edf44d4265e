# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.declare.rules import Policy
from anonymaly.engine.statements import collect
from anonymaly.errors import AnonymalyError, SchemaError
from tests.declare.tables import COLUMNS, PLACES, ROWS, arrow, declare, fill_postgres, records, text

engine_test = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
FRAME = pd.DataFrame({"age": [30, 40], "id": [1, 2]})
AGE: dict[str, Domain] = {"age": Interval(0, 120)}


# Does the table fit?


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        (["x"], Interval(0, 1)),
        ([True], Interval(0, 1)),
        ([1], Categories(["1"])),
        (["1"], Categories([1])),
        ([True], Categories([1])),
        ([0, 1], Flag()),
        (["true"], Flag()),
        (["2020-01-01"], Timestamps("2020-01-01", "2021-01-01")),
        (pd.to_datetime(["2020-01-01"], utc=True), Timestamps("2020-01-01", "2021-01-01")),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_type_that_does_not_fit_is_a_schema_error_with_field_and_next_step(
    values: Any, domain: Domain
) -> None:
    dataset = Dataset(pd.DataFrame({"a": values}), name="patients", columns={"a": domain})
    (line,) = dataset.check()
    assert line.problem is not None
    assert line.found is not None
    with pytest.raises(SchemaError, match="which does not fit") as refused:
        _ = dataset.table
    assert refused.value.field == "columns.a"
    assert "anonymaly check" in str(refused.value)


@pytest.mark.parametrize("options", [{"columns": {"Age": Interval(0, 1)}}, {"columns": {"weight": Flag()}}])
def test_a_declared_column_that_is_not_in_the_table_is_named(options: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text(arrow()))
    (name,) = options["columns"]
    with pytest.raises(SchemaError, match=rf"columns\.{name}: is not in the table"):
        _ = Dataset(tmp_path / "t.csv", name="patients", **options).table


@pytest.mark.parametrize("role", ["key", "person"])
def test_a_role_whose_column_is_not_in_the_table_is_named_as_typed(role: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text(arrow()))
    options = {role: "number", **({"max_rows": 1} if role == "person" else {})}
    dataset = Dataset(tmp_path / "t.csv", name="patients", columns=AGE, **options)
    assert [line.problem for line in dataset.check()] == [None, "is not in the table"]
    with pytest.raises(SchemaError, match=f"{role}: is not in the table"):
        _ = dataset.table


def test_a_date_is_a_timestamp_at_midnight_and_a_float_may_be_a_whole_number() -> None:
    table = pa.table({"d": pa.array([18_262, None], pa.int32()).cast(pa.date32()), "c": [1.0, 1.5]})
    columns: dict[str, Domain] = {"d": Timestamps("2020-01-01", "2021-01-01"), "c": Categories([1])}
    assert [tuple(map(str, row)) for row in records(Dataset(table, name="x", columns=columns))] == [
        ("2020-01-01 00:00:00", "1"),
        ("None", "None"),
    ]


# What the view holds


def test_the_view_holds_declared_columns_only_and_in_their_order() -> None:
    columns: dict[str, Domain] = {"note": Opaque(), "age": Interval(0, 120)}
    dataset = Dataset(arrow(), name="patients", columns=columns, key="id", person="id", max_rows=5)
    assert dataset.table.columns == ("note", "age")


@pytest.mark.parametrize("kind", ["float64", "float32", "Float64"])
def test_nan_and_infinity_are_null_in_the_view(kind: Any) -> None:
    values = pd.array(np.array([1.5, np.nan, np.inf, -np.inf, -0.0]), dtype=kind)
    frame = pd.DataFrame({"a": values, "b": values})
    dataset = Dataset(frame, name="x", columns={"a": Interval(0, 1), "b": Opaque()})
    expected = [1.5, None, None, None, 0]
    # Types of numpy's own say too little: what they hold is text, as it would be beside a word.
    opaque = expected if kind == "Float64" else ["1.5", None, "inf", "-inf", "0"]
    assert dataset.table.to_pyarrow().to_pydict() == {"a": expected, "b": opaque}


def test_values_out_of_the_domain_are_seen_as_they_are() -> None:
    rows = records(Dataset(arrow(), name="x", columns={"age": Interval(0, 1), "ward": Categories(["A"])}))
    assert (300, "elsewhere") in rows


def test_two_columns_may_be_called_anything_that_a_language_reserves() -> None:
    names = ["select", "a.b", 'a"b', "a;b", "heart rate", "*", "%s", "{x}", "'", "été", "t0", "source", "1"]
    table = pa.table({name: [place] for place, name in enumerate(names)})
    columns: dict[str, Domain] = dict.fromkeys(names, Interval(0, 100))
    dataset = Dataset(table, name="x", columns=columns, person="select", max_rows=1)
    assert dataset.table.to_pyarrow().to_pylist() == [{name: place for place, name in enumerate(names)}]


# One person's rows

people = st.lists(
    st.tuples(
        st.none() | st.integers(1, 4),
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from([0.5, 1.5, math.nan]),
        st.none() | st.sampled_from(["A", "B", "C"]),
    ),
    max_size=14,
)
SMALL = pa.schema({"id": pa.int64(), "age": pa.int64(), "bmi": pa.float64(), "ward": pa.string()})
SMALL_COLUMNS: dict[str, Domain] = {
    "age": Interval(0, 120),
    "bmi": Interval(0, 9),
    "ward": Categories(["A", "B"]),
}


def view(rows: list[tuple[Any, ...]], most: int, schema: pa.Schema = SMALL) -> Counter[tuple[Any, ...]]:
    table = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
    return Counter(records(Dataset(table, name="x", columns=SMALL_COLUMNS, person="id", max_rows=most)))


@engine_test
@given(people, st.integers(1, 3), st.randoms(use_true_random=False))
def test_which_rows_of_a_person_count_does_not_depend_on_their_order(
    rows: list[tuple[Any, ...]], most: int, chance: random.Random
) -> None:
    shuffled = chance.sample(rows, len(rows))
    assert view(rows, most) == view(shuffled, most)


@engine_test
@given(people, st.integers(1, 3))
def test_removing_a_person_removes_that_persons_rows_from_the_view_and_no_other(
    rows: list[tuple[Any, ...]], most: int
) -> None:
    whole = view(rows, most)
    for person in {row[0] for row in rows} - {None}:
        others = view([row for row in rows if row[0] != person], most)
        own = view([row for row in rows if row[0] == person], most)
        assert whole == others + own
        assert own.total() == min(most, sum(row[0] == person for row in rows))


@pytest.mark.slow
@engine_test
@given(people, st.integers(1, 3))
def test_rows_without_a_person_are_all_kept(rows: list[tuple[Any, ...]], most: int) -> None:
    lone = [row for row in rows if row[0] is None]
    assert view(lone, most).total() == len(lone)
    assert view(rows, most) == view(lone, most) + view([row for row in rows if row[0] is not None], most)


@engine_test
@given(people, st.integers(1, 3))
def test_a_person_without_too_many_rows_keeps_them_all(rows: list[tuple[Any, ...]], most: int) -> None:
    assert view(rows, len(rows) + 1).total() == len(rows)
    assert view(rows, most) <= view(rows, most + 1)


def test_a_person_known_by_a_float_or_text_is_one_person_and_nan_is_nobody() -> None:
    floats = pa.schema({**dict(zip(SMALL.names, SMALL.types, strict=True)), "id": pa.float64()})
    rows: list[tuple[Any, ...]] = [(1.0, 1, None, None), (1.0, 2, None, None)] + [
        (math.nan, 3, None, None)
    ] * 3
    assert view(rows, 1, floats) == Counter({(1, None, None): 1, (3, None, None): 3})


@pytest.mark.parametrize("place", PLACES)
def test_truncation_is_the_same_wherever_the_table_lives(place: str, tmp_path: Path) -> None:
    expected = records(declare({"source": arrow()}, person="id", max_rows=1))
    assert len(expected) == len(ROWS) - 1
    assert records(declare(PLACES[place](arrow(), tmp_path), person="id", max_rows=1)) == expected


def test_truncation_is_the_same_in_postgresql(postgres: str) -> None:
    fill_postgres(postgres, arrow())
    dataset = declare({"source": postgres, "table": "records"}, person="id", max_rows=1)
    assert records(dataset) == records(declare({"source": arrow()}, person="id", max_rows=1))


def test_a_person_may_be_a_declared_column_too() -> None:
    columns: dict[str, Domain] = {"id": Opaque(), "age": Interval(0, 120)}
    dataset = Dataset(arrow(), name="x", columns=columns, person="id", max_rows=1)
    assert sorted(str(row[0]) for row in records(dataset)) == ["1", "2", "3", "None"]


# What nobody may learn

STATES: dict[str, list[tuple[Any, ...]]] = {
    "as given": ROWS,
    "none": [],
    "one": ROWS[:1],
    "many": ROWS * 7,
    "null": [(None,) * 9],
    "strange": [ROWS[3]],
}


def outcome(call: Any) -> str:
    try:
        return str(call())
    except AnonymalyError as error:
        return f"{error!r} {error} {error.to_dict()}"


def told(options: dict[str, Any]) -> list[str]:
    """Everything a dataset says of itself before any budget is spent, errors included."""
    said = []
    for more in (
        {},
        {"person": "id", "max_rows": 2},
        {"columns": {"age": Flag()}},
        {"columns": {"weight": Flag()}},
    ):
        said.append(outcome(lambda more=more: declare(options, **more)))  # type: ignore[misc]
        said.append(outcome(lambda more=more: declare(options, **more).check()))  # type: ignore[misc]
        said.append(outcome(lambda more=more: type(declare(options, **more).table)))  # type: ignore[misc]
    return said


# Without those whose types pandas makes up from the rows: there the frame's schema itself differs.
@pytest.mark.parametrize(
    "place",
    [
        "csv",
        "gzip",
        "parquet",
        "duckdb file",
        "pandas of objects",
        "pandas of arrow",
        "polars",
        "arrow",
        "ibis",
    ],
)
def test_what_a_dataset_says_of_itself_is_the_same_whatever_its_rows(place: str, tmp_path: Path) -> None:
    said = []
    for state, rows in STATES.items():
        folder = tmp_path / state
        folder.mkdir()
        options = PLACES[place](arrow(rows), folder)
        said.append([line.replace(str(folder), "…") for line in told(options)])
    assert all(lines == said[0] for lines in said)
    assert "Dataset('patients', version='1'" in said[0][0]


def test_no_value_of_a_row_is_in_what_a_dataset_says(tmp_path: Path) -> None:
    for place in PLACES:
        folder = tmp_path / place.replace(" ", "_")
        folder.mkdir()
        shown = "".join(told(PLACES[place](arrow(), folder)))
        assert not any(
            secret in shown for secret in ("elsewhere", "said", "été", "300", "1850", "DROP", "s4")
        )


@pytest.mark.parametrize(
    "lines",
    [
        "",
        ",,,,,,,,\n",
        "x,thirty,heavy,Z,one,maybe,soon,n,s\n",
        "1,300,-5,elsewhere,9,TRUE,1850-01-01,n,s\n",
        "1,2\n",
        "1,2,3,4,5,6,7,8,9,10,11\n",
        "\n\n\n",
        "é,\x00,\x7f,',\\,`,;,|,\t\n",
        '"""","x""y",,,,,,,\n',
    ],
)
def test_no_text_in_a_file_is_an_error(lines: str, tmp_path: Path) -> None:
    header = text(arrow([]))
    (tmp_path / "t.csv").write_bytes(header + lines.encode())
    dataset = declare({"source": tmp_path / "t.csv"}, person="id", max_rows=1)
    counted = collect(dataset.table.aggregate(**{name: dataset.table[name].count() for name in COLUMNS}))
    assert counted.num_rows == 1
    assert [line.problem for line in dataset.check()] == [None] * (len(COLUMNS) + 1)


def test_the_representation_names_public_things_only() -> None:
    dataset = Dataset(
        FRAME, name="patients", columns=AGE, version="2026-01", rules={"all": Policy("age >= 0")}
    )
    assert repr(dataset) == "Dataset('patients', version='2026-01', columns=['age'], rules=['all'])"
    assert str(dataset) == repr(dataset)


def test_name_and_public_are_read_from_the_declaration() -> None:
    dataset = Dataset(FRAME, name="patients", columns=AGE, public=True)
    assert (dataset.name, dataset.public) == ("patients", True)


def test_an_ibis_table_of_another_engine_is_read_where_it_is(postgres: str) -> None:
    connection = ibis.connect(postgres)
    connection.raw_sql("CREATE TABLE ages (age REAL)").close()
    connection.raw_sql("INSERT INTO ages VALUES (1.5), (NULL)").close()
    dataset = Dataset(connection.table("ages"), name="x", columns=AGE)
    assert dataset.table.age.sum().to_pyarrow().as_py() == 1.5
