# SPDX-License-Identifier: Apache-2.0
"""Odd records, step by step: a released model scores records of one's own, and each may be asked about.

It is what ``find`` does at once: a model, the oddest records and why, and for each the question in which
group it stands out. Here every question has its own preview. The records are read, scored and forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonymaly.declare.declaration import Declaration
from anonymaly.errors import AnonymalyError
from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.looking import find_answer
from anonymaly.server.problems import Problem, of_error, unknown
from anonymaly.server.services import view
from anonymaly.server.submitting import answer_of

if TYPE_CHECKING:
    from anonymaly.questions.score.value import Model


def scoring_page(visit: Visit) -> Shown:
    """Ask for the records that a model is to score."""
    _, model, table = _model(visit)
    return Shown("scoring.html", _data(visit, model, table, ""))


def score_records(visit: Visit) -> Shown:
    """Score records, and show the oddest: it costs nothing, the model was paid for."""
    # Imported when a model is used: a web process starts without what it needs.
    from anonymaly.server.console.odd_records import oddest  # noqa: PLC0415

    declared, model, table = _model(visit)
    text = visit.form.lines("records")
    try:
        with visit.services.at_once.of(visit.caller.person):
            found = oddest(model, declared, text)
    except Problem as problem:
        return Shown("scoring.html", _data(visit, model, table, text, problem=problem), problem.status)
    except AnonymalyError as error:
        wrong = of_error(error)
        return Shown("scoring.html", _data(visit, model, table, text, problem=wrong), wrong.status)
    return Shown("scoring.html", _data(visit, model, table, text, found=found))


def _model(visit: Visit) -> tuple[Declaration, Model, str]:
    from anonymaly.server.console.answer_words import read_stored  # noqa: PLC0415

    seen = find_answer(visit.services, visit.caller, visit.places["job"])
    told = answer_of(seen)
    if told["question"] != "score":
        raise unknown()
    table = str(seen.job.table_name)
    declared = view(visit.services, visit.caller, table).table.declaration
    answer = read_stored(visit.services, seen, told)
    if answer is None:
        raise unknown()
    return declared, answer.value, table


def _data(
    visit: Visit,
    model: Model,
    table: str,
    text: str,
    *,
    found: dict[str, Any] | None = None,
    problem: Problem | None = None,
) -> dict[str, Any]:
    return {
        "job": visit.places["job"],
        "table": table,
        "columns": list(model.columns),
        "records": text,
        "found": found,
        "problem": None if problem is None else problem.to_dict(),
    }


PAGES = (
    ConsolePage("GET", "/answers/{job}/score", scoring_page),
    ConsolePage("POST", "/answers/{job}/score", score_records),
)
