# SPDX-License-Identifier: Apache-2.0
"""Engines that nobody tried: each statement can be written for them, which says nothing of what it means.

Text is left as it is here. Where it is read, these engines are refused, because nobody looked at how they
compare it, how their sums end and what they make of NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.engine import lookup
from anonymaly.engine.engine import Engine
from anonymaly.errors import SchemaError
from anonymaly.noise import Noise
from anonymaly.questions.identify import summary as neighbours
from tests.engine.test_snapshots import EXPRESSIONS
from tests.questions import hostile
from tests.questions.test_parity import EVERY, PROTECTED, RULES

UNTRIED = ("bigquery", "snowflake", "trino")


class TextAsItIs(Engine):
    def plain_text(self, text: ir.StringValue) -> ir.StringValue:
        return text


@pytest.mark.parametrize("engine", UNTRIED)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_view_can_be_written_for_engines_that_nobody_tried(name: str, engine: str) -> None:
    assert "SELECT" in ibis.to_sql(EXPRESSIONS[name](TextAsItIs(engine)), dialect=engine)


@contextmanager
def recorded(connection: Any) -> Iterator[list[ir.Expr]]:
    """The expressions that a connection runs."""
    found: list[ir.Expr] = []

    def noting(own: Any) -> Any:
        def run(expression: ir.Expr, **options: Any) -> Any:
            found.append(expression)
            return own(expression, **options)

        return run

    for name in ("to_pyarrow", "to_pyarrow_batches"):
        setattr(connection, name, noting(getattr(connection, name)))
    yield found


@pytest.mark.parametrize("name", EVERY)
def test_a_summary_can_be_written_for_engines_that_nobody_tried(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "_is_local", lambda _: False)  # or points would not go to the engine
    dataset = am.Dataset(
        hostile.arrow(hostile.rows(40)[1:]),
        name="h",
        columns=hostile.COLUMNS,
        rules=RULES,
        **PROTECTED["persons"],
    )
    bound = EVERY[name].bind(dataset.declaration)
    connection = ibis.duckdb.connect()
    view = connection.create_table("view", dataset.view(bound.policy).to_pyarrow())
    released: dict[str, Any] = {}
    with recorded(connection) as expressions:
        for stage in bound.stages:
            found = stage.summarise(view, dict(released))
            released[stage.name] = stage.release(found, dict(released), Noise.seeded(1))
            if isinstance(found, pa.RecordBatchReader):
                found.close()
    assert expressions
    for engine in UNTRIED:
        for expression in expressions:
            assert "SELECT" in ibis.to_sql(expression.as_table().unbind(), dialect=engine)


@pytest.mark.parametrize("engine", UNTRIED)
def test_text_of_an_engine_that_nobody_tried_is_refused(engine: str) -> None:
    with pytest.raises(SchemaError, match=f"{engine} may compare different texts as equal"):
        lookup.named(engine).plain_text(ibis.table({"c": "string"}, name="t").c)
