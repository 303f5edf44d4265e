# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import ibis
import ibis.expr.types as ir
import pytest

from anonymaly.declare.dataset import Dataset
from anonymaly.engine.statements import EngineFailure, collect, collect_batches, statement_template
from tests.declare.tables import COLUMNS, arrow, fill_postgres


def test_a_failing_statement_is_passed_on_as_its_class_and_template() -> None:
    table = Dataset(arrow(), name="x", columns=COLUMNS).table
    failing = table.filter(table.ward.cast("int64") == 4711).count()
    with pytest.raises(EngineFailure) as failed:
        collect(failing)
    assert failed.value.kind == str(failed.value) == "ConversionException"
    assert "4711" not in failed.value.template
    assert failed.value.template.startswith("SELECT COUNT(*)")


def test_a_template_holds_no_literal_not_even_in_a_name() -> None:
    table = Dataset(arrow(), name="x", columns=COLUMNS).table
    expressions = [
        table.filter((table.age > 4711) & (table.ward == "geheim") & (table.seen > "2021-04-17")).count(),
        (table.ward == "geheim").sum(),
        table.select(table.age + 4711, (table.ward == "geheim"), table["body mass"] * 47.11),
        table.filter(table.ward.isin(["geheim", "it's 4711"])),
        table.mutate(x=ibis.literal("geheim"), y=ibis.literal(True)),
    ]
    for expression in expressions:
        template = statement_template(expression)
        assert template.startswith("SELECT")
        assert not any(secret in template for secret in ("4711", "47.11", "geheim", "2021", "TRUE"))
        assert "?" in template


def test_a_statement_that_cannot_be_written_has_no_template() -> None:
    assert statement_template(None) == "(no statement)"  # type: ignore[arg-type]


def test_a_template_is_in_the_words_of_the_engine_that_failed(postgres: str) -> None:
    fill_postgres(postgres, arrow())
    table = Dataset(postgres, table="records", name="x", columns=COLUMNS).table
    failing = table.filter(table.ward.cast("int64") == 4711).count()
    with pytest.raises(EngineFailure) as failed:
        collect(failing)
    assert failed.value.kind == "InvalidTextRepresentation"
    assert "TEXTIN(TEXTOUT(" in failed.value.template
    assert "4711" not in failed.value.template


ENDLESS = "SELECT sum(a.range * b.range % 7) AS s FROM range(100000000) a, range(1000000) b"


@pytest.mark.parametrize("run", [collect, lambda expression: list(collect_batches(expression, 10))])
def test_an_interrupt_while_the_engine_works_is_no_failure(run: Callable[[ir.Table], Any]) -> None:
    endless = ibis.duckdb.connect().sql(ENDLESS)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            run(endless)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
