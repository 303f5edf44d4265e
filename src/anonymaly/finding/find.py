# SPDX-License-Identifier: Apache-2.0
"""`find`: which of an asker's records are odd, and why; all of its ε goes through ``Curator.ask``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, overload

from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.curator import Curator
from anonymaly.ask.remote import RemoteCurator
from anonymaly.core.epsilon import Number
from anonymaly.errors import AnonymalyError, AnswerFailed
from anonymaly.finding.asking import Asking
from anonymaly.finding.explaining import RecordQuestion
from anonymaly.finding.found import OddRecords
from anonymaly.finding.odd_record import Explained, OddRecord, named_by
from anonymaly.finding.plan import FindPlan
from anonymaly.finding.prepare import EXPLAIN, TOP, Prepared, prepare
from anonymaly.promise import Guarantee, compose
from anonymaly.questions.score.missing import Missing
from anonymaly.questions.score.value import Model


@overload
def find(
    curator: Curator | RemoteCurator,
    frame: Any,
    *,
    epsilon: Number,
    top: int = ...,
    explain: int = ...,
    columns: Sequence[str] | None = ...,
    missing: Missing = ...,
    analyst: str | None = ...,
    preview: Literal[False] = ...,
) -> OddRecords: ...
@overload
def find(
    curator: Curator | RemoteCurator,
    frame: Any,
    *,
    epsilon: Number,
    top: int = ...,
    explain: int = ...,
    columns: Sequence[str] | None = ...,
    missing: Missing = ...,
    analyst: str | None = ...,
    preview: Literal[True],
) -> FindPlan: ...
def find(
    curator: Curator | RemoteCurator,
    frame: Any,
    *,
    epsilon: Number,
    top: int = TOP,
    explain: int = EXPLAIN,
    columns: Sequence[str] | None = None,
    missing: Missing = "skip",
    analyst: str | None = None,
    preview: bool = False,
) -> OddRecords | FindPlan:
    """Find the oddest of some records, compared with a table, and say why they are.

    One released model scores all records, and says which columns and pairs make a score; for the oddest few a
    question of its own says in which group the record stands out. Everyone in the table is protected, and the
    promise is the sum of the named shares. If the budget does not hold all of it, nothing is asked.

    Parameters
    ----------
    curator : Curator or RemoteCurator
        The account that pays; of a server's table, your own limit.
    frame
        The records to judge: a pandas, polars or Arrow frame, a list of records, or columns by name. Records
        that are written as the table's file is, with decimal commas or other spellings: `read_alike`.
    epsilon : number
        What all of it together may cost. The model has two parts of it and each explanation one; a model of
        these columns that is stored already, of at least that ε, is used instead, and costs nothing.
    top : int
        How many of the oddest to return.
    explain : int
        How many of these to explain; 0 for none.
    columns : sequence of str, optional
        The columns that records are compared by: by default all that can be.
    missing : {"skip", "refuse", "value"}
        What to do about values that a record does not have, as for ``Model.score``.
    analyst : str, optional
        Who asks: a label in the ledger, the owner by default. On a server the key says it.
    preview : bool
        Return the plan: what would be asked, what it would cost, and what is odd in how records are written.
        Nothing is spent.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> people = pandas.DataFrame({"pay": [30, 31, 32, 33] * 500, "job": ["A", "B", "C", "C"] * 500})
    >>> table = am.Dataset(people, name="pay", columns={"pay": am.Interval(0, 100),
    ...                                                 "job": am.Categories(["A", "B", "C"])})
    >>> curator = am.Curator(table, budget=5, ledger=folder / "pay.ledger")
    >>> found = am.find(curator, [{"pay": 31, "job": "B"}, {"pay": 95, "job": "A"}], epsilon=5, top=1)
    >>> found.records, found.cost
    ([{'pay': 95, 'job': 'A'}], '3')
    >>> print(found.explanations[0].groups[0])
    among all records
    """
    prepared = prepare(
        curator,
        frame,
        epsilon=epsilon,
        top=top,
        explain=explain,
        columns=columns,
        missing=missing,
        analyst=analyst,
    )
    return prepared.plan if preview else run(prepared)


def run(prepared: Prepared) -> OddRecords:
    """Ask the planned questions, one after another; refuse all of them if the budget does not hold all."""
    prepared.refuse_beyond_budget()
    return carry_out(prepared)


def carry_out(prepared: Prepared) -> OddRecords:
    """Ask the planned questions of a find that was begun: what was asked is known by whoever asks."""
    asking, answer = prepared.asking, prepared.stored
    if answer is None:
        answer = asking.ask(prepared.score, prepared.repeat)
    model: Model = answer.value
    every = prepared.odd(model)
    promises: dict[int, Guarantee] = {answer.number or 0: answer.guarantee}
    explained = []
    for choice in prepared.choices(every):
        told, promised = _ask(asking, choice, prepared.shares.explanation)
        explained.append(told)
        if promised is not None:  # the same record twice is one answer, with one promise
            promises[told.number or -len(explained)] = promised
    reasons = every.told()
    rows = [reason.row for reason in reasons]
    odd = tuple(
        OddRecord(
            row + 1,
            record,
            reason,
            explained[place] if place < len(explained) else None,
            named_by(record, prepared.labels),
        )
        for place, (row, record, reason) in enumerate(
            zip(rows, prepared.own.rows(rows), reasons, strict=True)
        )
    )
    return OddRecords(
        plan=prepared.plan,
        odd=odd,
        reasons=reasons,
        model_number=answer.number,
        model_charged_nano=answer.charged_nano,
        guarantee=compose(*promises.values()),
        remaining_nano=asking.remaining(),
    )


def _ask(asking: Asking, choice: RecordQuestion, share: int) -> tuple[Explained, Guarantee | None]:
    """Ask about one record; what was charged before a failure stays, and so does what was found."""
    if choice.query is None:
        return Explained(None, share, missing=f"{choice.why_not}; its share stays unspent"), None
    before: Preview | None = None
    try:
        attempt = asking.attempt(choice.query)
        before = attempt.preview
        answer: Answer = asking.ask(choice.query, attempt.repeat)
    except AnonymalyError as problem:
        # A failed answer is charged all the same, once; its words are the same whatever the rows are.
        said = f"{type(problem).__name__}: {problem}"
        lost = Explained(None, share, missing=said, note=choice.note, failed=True)
        if before is None or not isinstance(problem, AnswerFailed):
            return lost, None
        return replace(lost, charged_nano=before.cost_nano), before.guarantee
    told = Explained(answer.value, share, answer.charged_nano, answer.number, note=choice.note)
    return told, answer.guarantee
