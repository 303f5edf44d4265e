# SPDX-License-Identifier: Apache-2.0
"""What every question does when it is asked: charged first, one outcome, nothing of the rows besides."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonymaly import Curator
from anonymaly.ask.binding import Stage
from anonymaly.ask.query import Example, Query
from anonymaly.errors import AnswerFailed, BudgetExceeded, Refused

VALUE_IN_A_ROW = "the secret of row 4711"


def test_an_answer_is_charged_stored_and_explains_itself(
    example: Example, open_curator: Callable[..., Curator], adjacency: Any
) -> None:
    curator = open_curator(adjacency=adjacency)
    answer = curator.ask(example.query)
    assert answer.charged_nano == example.query.cost
    assert curator.spent == pytest.approx(float(example.query.epsilon))
    text = str(answer)
    for part in ("expected error", "noise", "charged", "remaining", "protected", "not protected"):
        assert part in text
    assert answer.guarantee.relation.protects() in text
    assert "<table" in answer._repr_html_()
    assert json.dumps(answer.to_dict())


def test_the_same_question_again_is_free_and_the_same(
    example: Example, open_curator: Callable[..., Curator]
) -> None:
    first = open_curator().ask(example.query)
    curator = open_curator()
    again = curator.ask(example.query, analyst="somebody else")
    assert (again.charged, again.number) == (0, first.number)
    assert again.receipt == first.receipt
    assert again.to_dict()["value"] == first.to_dict()["value"]
    assert [answer.number for answer in curator.answers()] == [first.number]
    # What only whoever asked knows is kept nowhere, and added for them.
    stored = curator.answer(first.number or 0).labelled(example.query)
    assert stored.to_dict()["value"] == first.to_dict()["value"]


def test_a_repeat_is_a_new_draw_at_a_new_charge(
    example: Example, open_curator: Callable[..., Curator]
) -> None:
    curator = open_curator()
    first, fresh = curator.ask(example.query), curator.ask(example.query, repeat=1)
    assert fresh.charged_nano == example.query.cost
    assert fresh.number != first.number
    assert curator.spent == pytest.approx(2 * float(example.query.epsilon))


def test_more_than_remains_is_refused_and_nothing_is_spent(
    example: Example, open_curator: Callable[..., Curator]
) -> None:
    curator = open_curator(budget="0.000000001")
    with pytest.raises(BudgetExceeded, match="remain"):
        curator.ask(example.query)
    assert curator.spent == 0
    assert curator.statement().questions == 0


def test_a_question_is_planned_or_says_why_not(
    example: Example, open_curator: Callable[..., Curator], adjacency: Any
) -> None:
    curator = open_curator(adjacency=adjacency)
    if curator.preview(example.query).expectation.measure is None:
        with pytest.raises(Refused, match="has no number to plan for: "):
            curator.plan(example.query)
        return
    plan = curator.plan(example.query)
    assert plan.measure.number == curator.preview(example.query).to_dict()["expected"]["measure"]["number"]
    wanted = plan.measure.number
    if plan.measure.falls:
        assert curator.plan(example.query, for_error=wanted).epsilon <= example.query.epsilon
    assert json.dumps(plan.to_dict())
    assert "<svg" in plan._repr_html_()
    assert curator.spent == 0


def test_a_rehearsal_goes_the_whole_way_and_costs_nothing(
    example: Example, open_curator: Callable[..., Curator], adjacency: Any
) -> None:
    # The table holds nothing, so whatever a rehearsal shows came from elsewhere.
    curator = open_curator(records={name: [] for name in example.records}, adjacency=adjacency)
    answer, again = (curator.rehearse(example.query, rows=200, seed=1) for _ in range(2))
    for shown in (str(answer), answer._repr_html_(), json.dumps(answer.to_dict())):
        assert "INVENTED ROWS" in shown or '"invented": true' in shown
    assert answer.to_dict()["value"] == again.to_dict()["value"]
    assert (answer.charged, answer.number, curator.spent) == (0, None, 0)
    assert curator.answers() == []
    assert curator.statement().questions == 0


def _broken(part: str) -> Callable[..., Any]:
    def fail(*arguments: Any) -> Any:
        raise ValueError(VALUE_IN_A_ROW)

    def stages(self: Query, bound: Any) -> tuple[Stage, ...]:
        first, *rest = _ORIGINAL[type(self)](self, bound)
        return (dataclasses.replace(first, **{part: fail}), *rest)

    return stages


_ORIGINAL: dict[type[Query], Any] = {}


@pytest.mark.parametrize("part", ["summarise", "release"])
def test_a_failure_keeps_the_charge_and_says_nothing_of_the_rows(
    kind: type[Query],
    example: Example,
    open_curator: Callable[..., Curator],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    part: str,
) -> None:
    _ORIGINAL[kind] = kind.stages
    monkeypatch.setattr(kind, "stages", _broken(part))
    curator = open_curator()
    with caplog.at_level(logging.DEBUG), pytest.raises(AnswerFailed) as failure:
        curator.ask(example.query)
    assert curator.spent == pytest.approx(float(example.query.epsilon))
    error = failure.value
    assert error.__cause__ is None
    assert error.__context__ is None
    entries = json.dumps([entry.to_dict() for entry in curator.accountant.ledger.entries("example")])
    assert VALUE_IN_A_ROW not in str(error) + caplog.text + entries
    assert "ValueError" in caplog.text
    monkeypatch.undo()
    with pytest.raises(AnswerFailed) as again:
        curator.ask(example.query)  # final: a second try under one charge would be a second draw
    assert str(again.value) == str(error)
    assert curator.spent == pytest.approx(float(example.query.epsilon))


def _tables(example: Example) -> dict[str, dict[str, list[Any]]]:
    """Return tables that differ in one record, in all records, or have none."""
    records = {name: list(values) for name, values in example.records.items()}
    length = len(next(iter(records.values())))
    return {
        "as it is": records,
        "one removed": {name: values[1:] for name, values in records.items()},
        "one added": {name: [*values, values[0]] for name, values in records.items()},
        "one all null": {name: [None, *values[1:]] for name, values in records.items()},
        "turned round": {name: values[::-1] for name, values in records.items()},
        "all null": {name: [None] * length for name in records},
        "empty": {name: [] for name in records},
    }


def test_logs_errors_and_the_ledgers_trace_are_equal_on_neighbouring_tables(
    example: Example,
    open_curator: Callable[..., Curator],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    traces = {}
    for number, (name, records) in enumerate(_tables(example).items()):
        caplog.clear()
        with caplog.at_level(logging.DEBUG):
            # One secret for all: digests under several would differ by chance alone.
            curator = open_curator(f"ledger{number}", records, secret=tmp_path / "example.secret")
            outcome = [repr(curator.dataset), str(curator.dataset.check())]
            answer = curator.ask(example.query)
        entries = [entry.to_dict() for entry in curator.accountant.ledger.entries("example")]
        # What an answer's bytes are depends on its noise; times and hashes are of the moment.
        for entry in entries:
            for moment in ("time", "hash"):
                entry.pop(moment)
            for drawn in ("digest", "size"):
                entry["data"].pop(drawn, None)
        log = [
            (line.name, line.levelname, line.getMessage())
            for line in caplog.records
            if "anonymaly" in line.name
        ]
        traces[name] = (outcome, entries, log, answer.charged, answer.remaining, str(answer.expectation))
    for name, trace in traces.items():
        assert trace == traces["as it is"], f"the table with {name} left another trace"


def test_what_the_ledger_keeps_of_a_person_is_a_digest(
    kind: type[Query], example: Example, open_curator: Callable[..., Curator]
) -> None:
    curator = open_curator()
    curator.ask(example.query)
    (kept,) = (item.record["query"] for item in curator.accountant.ledger.reservations("example"))
    for name in kind.personal_fields:
        assert isinstance(kept[name], str)
        assert len(kept[name]) == 64
    # A field that was added later is written down where it is used.
    assert set(kept) == set(example.query.to_dict()) - kind.wording_fields
