# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ibis
import pytest

import anonymaly as am
from anonymaly.engine import lookup
from anonymaly.engine.engine import Engine
from anonymaly.errors import InputError, SchemaError


@pytest.mark.parametrize("name", lookup.ENGINES)
def test_every_engine_that_is_known_has_a_file_of_its_name(name: str) -> None:
    engine = lookup.named(name)
    assert engine.name == name
    assert type(engine) is not Engine
    assert "SELECT" in ibis.to_sql(ibis.table({"a": "int64"}, name="t"), dialect=name)


def test_an_engine_is_found_by_its_tables_and_by_its_addresses(postgres: str) -> None:
    connection = ibis.connect(postgres)
    connection.raw_sql("CREATE TABLE t (age REAL)").close()
    for expression in (connection.table("t"), connection.table("t").age.sum()):
        assert lookup.of(expression) is lookup.named("postgres")
    assert lookup.of(ibis.memtable({"a": [1]})) is lookup.embedded()
    assert lookup.of_address("duckdb:///t.db") is lookup.embedded()
    for url in ("postgres://host/db", "postgresql://host/db"):
        assert lookup.of_address(url) is lookup.named("postgres")


def test_of_an_engine_without_a_file_nothing_good_is_assumed() -> None:
    engine = lookup.of_address("mysql://host/db")
    assert engine == Engine("mysql")
    assert not engine.is_local
    assert not engine.forgives


@pytest.mark.parametrize("name", ["sqlite", "SQLite"])
def test_an_engine_that_gives_filters_another_meaning_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(InputError, match=r"no types of their own.*Copy the table to Parquet") as refused:
        lookup.refuse_unusable(name)
    assert refused.value.field == "source"


@pytest.mark.parametrize(
    ("address", "said", "advice"),
    [
        (
            "jdbc:postgresql://db/clinic?user=ada&password=geheim",
            "its address names no engine",
            "Leave out jdbc:",
        ),
        ("redshift://ada:geheim@db/clinic", "redshift:// names no engine", "Parquet"),
        ("mongodb://ada:geheim@db/clinic", "mongodb:// names no engine", "Parquet"),
        ("ada:geheim@db://clinic", "its address names no engine", "Parquet"),
    ],
)
def test_an_address_of_no_engine_is_refused_when_it_is_declared(address: str, said: str, advice: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        am.Dataset(address, table="visits", name="t", columns={"age": am.Interval(0, 120)})
    assert refused.value.field == "source"
    assert advice in str(refused.value.next_step)
    assert "geheim" not in str(refused.value)


def test_a_driver_that_is_missing_is_named_with_the_command_that_installs_it() -> None:
    dataset = am.Dataset("mysql://ada:geheim@db/c", table="t", name="t", columns={"age": am.Interval(0, 120)})
    with pytest.raises(SchemaError, match=r"mysql needs a driver.*ibis-framework\[mysql\]'") as refused:
        dataset.check()
    assert refused.value.__context__ is None
