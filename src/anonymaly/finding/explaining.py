# SPDX-License-Identifier: Apache-2.0
"""Which `Explain` to ask about an odd record: from the record, its reasons and the declaration alone.

Reasons follow from a released model, so nothing here depends on a row that was not paid for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Interval
from anonymaly.errors import InputError
from anonymaly.finding.cuts import cut, moved_within, own_value
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.score.reasons import Reason

MOST_ATTRIBUTES = 8  # each doubles the groups, and with them grows the margin that a record needs


@dataclass(frozen=True)
class RecordQuestion:
    """A question about one record, or why there is none; ``note`` says what was changed to ask it."""

    query: Explain | None
    why_not: str | None = None
    note: str | None = None


def choose(
    record: Mapping[str, Any], reason: Reason, declaration: Declaration, epsilon: int
) -> RecordQuestion:
    """Return the question about a record: in which group does it stand out in its oddest number?

    Parameters
    ----------
    record
        The record, by column.
    reason
        All of its parts: the metric is the number with the largest one.
    declaration
        What is public about the table.
    epsilon
        The share of the charge, in billionths of ε.
    """
    metric = _metric(record, reason, declaration)
    if metric is None:
        return RecordQuestion(None, "no number with declared bounds is among what is odd about it")
    attributes = _attributes(record, metric, reason, declaration)
    if not attributes:
        return RecordQuestion(
            None, f"it has no value in any column beside {metric} that groups could be made of"
        )
    try:
        return _question(record, metric, attributes, declaration, epsilon)
    except InputError as problem:  # the model is paid for by now, and what it shows is not lost
        return RecordQuestion(None, f"it cannot be asked about ({problem})")


def probe(record: Mapping[str, Any], declaration: Declaration, epsilon: int) -> None:
    """Refuse, before anything is charged, a share of ε that no question about such a record could use."""
    nothing = Reason(row=0, score=0.0, unusual=None, parts=())
    for metric, domain in declaration.columns.items():
        attributes = _attributes(record, metric, nothing, declaration)
        if (
            isinstance(domain, Interval)
            and moved_within(record.get(metric), domain) is not None
            and attributes
        ):
            _question(record, metric, attributes, declaration, epsilon)
            return


def _metric(record: Mapping[str, Any], reason: Reason, declaration: Declaration) -> str | None:
    """Return the number with the largest part; of a pair of numbers, the one that is odder by itself."""
    domains = declaration.columns
    alone = {part.columns[0]: part.part for part in reason.parts if len(part.columns) == 1}
    for part in sorted(reason.parts, key=lambda part: -part.part):
        usable = [
            name
            for name in part.columns
            if isinstance(domain := domains[name], Interval)
            and moved_within(record.get(name), domain) is not None
        ]
        # Random directions are about all numbers at once, and name none.
        if usable and len(part.columns) <= 2:
            return max(usable, key=lambda name: alone.get(name, 0.0))
    return None


def _attributes(
    record: Mapping[str, Any], metric: str, reason: Reason, declaration: Declaration
) -> list[tuple[str, Any, Any]]:
    """Return names, cuts and own values of the columns that groups are made of, the oddest first."""
    weights: dict[str, float] = {}
    for part in reason.parts:
        for name in part.columns if len(part.columns) <= 2 else ():
            weights[name] = max(weights.get(name, 0.0), part.part)
    found = []
    for name, domain in declaration.columns.items():
        item, value = cut(name, domain), own_value(record.get(name), domain)
        if name in (metric, declaration.person, declaration.key) or item is None or value is None:
            continue
        found.append((name, item, value))
    return sorted(found, key=lambda item: -weights.get(item[0], 0.0))[:MOST_ATTRIBUTES]


def _question(
    record: Mapping[str, Any],
    metric: str,
    attributes: Sequence[tuple[str, Any, Any]],
    declaration: Declaration,
    epsilon: int,
) -> RecordQuestion:
    """Return the question with as many attributes as can be looked at."""
    domain = declaration.columns[metric]
    if not isinstance(domain, Interval):
        raise AssertionError("a metric without bounds")
    given = record[metric]
    asked = moved_within(given, domain)
    note = (
        f"{metric} {given} is outside the declared {domain.describe()}; it was asked about as {asked}"
        if asked != given
        else None
    )
    # In the order of the declaration, so that the same groups are the same question.
    places = {name: place for place, name in enumerate(declaration.columns)}
    for count in range(len(attributes), 0, -1):
        chosen = sorted(attributes[:count], key=lambda item: places[item[0]])
        query = Explain(
            record={**{name: value for name, _, value in chosen}, metric: asked},
            metric=metric,
            attributes=[item for _, item, _ in chosen],
            epsilon=to_text(epsilon),
        )
        try:
            query.bind(declaration)
        except InputError as problem:
            if problem.field != "attributes" or count == 1:
                raise
            continue
        return RecordQuestion(query, note=note)
    raise AssertionError("no attributes")
