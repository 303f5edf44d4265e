# SPDX-License-Identifier: Apache-2.0
"""The terms of a grant: what `reserve` holds an analyst to besides a limit.

Terms without ``"terms": 1`` are kept as they are and mean nothing to the ledger, as all did once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from anonymaly.core.epsilon import LARGEST_TOTAL, read_amount, to_text
from anonymaly.errors import InputError
from anonymaly.ledger.inputs import label, mapping, whole
from anonymaly.ledger.periods import EVERY, Period

VERSION = 1
FIELDS = ("terms", "total", "period", "question_limit", "until", "questions", "rules", "overcommit")
ANY = "any"
RENEWAL = "renewal"  # by whom a period is renewed
UNNAMED = "*"  # a rule that is written in the question, where the owner allows any
LARGEST_COUNT = 2**53  # whole in every JSON reader


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed with an analyst, in nano-ε; what is None is not limited.

    Attributes
    ----------
    total : int, optional
        What all questions together may cost, over all periods.
    period : Period, optional
        What those of each period may cost.
    question_limit : int, optional
        What one question may cost.
    until : datetime, optional
        When the grant ends.
    questions : frozenset of str, optional
        The questions that may be asked.
    rules : Mapping
        The rules that may be cited, and how many questions may be asked under each; None for any number.
    any_rule : bool
        Whether every other rule may be cited, too.
    overcommit : bool
        Whether the analyst may meet an empty table, or a rule that is used up, before their own limits: they
        share what was promised to nobody. Others always find what they were promised.

    Examples
    --------
    >>> terms = Terms.read({"terms": 1, "total": 2_000_000_000, "questions": ["count"]})
    >>> terms.words()
    ['up to ε = 2 in all', 'questions: count', 'no question that needs a rule']
    >>> Terms.read({"questions": ["count"]}) is None
    True
    """

    total: int | None = None
    period: Period | None = None
    question_limit: int | None = None
    until: datetime | None = None
    questions: frozenset[str] | None = None
    rules: Mapping[str, int | None] = field(default_factory=dict)
    any_rule: bool = False
    overcommit: bool = False

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Terms | None:
        """Read terms from plain data; None if they are not of this kind. An error names the field."""
        # Anything but a number was written before terms had a meaning: grants refuse it now.
        if not isinstance(data.get("terms"), int) or isinstance(data["terms"], bool):
            return None
        _refuse_unless(
            data["terms"] == VERSION,
            f"are of a version that is not known, not {VERSION}",
            "terms",
            f'Give "terms": {VERSION}.',
        )
        unknown = sorted(data.keys() - set(FIELDS))
        _refuse_unless(
            not unknown, f"have no field {', '.join(unknown)}", "terms", f"Fields: {', '.join(FIELDS)}."
        )
        rules, any_rule = _rules(data.get("rules", {}))
        overcommit = data.get("overcommit", False)
        _refuse_unless(
            isinstance(overcommit, bool), "must be true or false", "terms.overcommit", "Leave it out for no."
        )
        until = data.get("until")
        return cls(
            total=_money(data, "total", least=0),
            period=_period(data["period"]) if data.get("period") is not None else None,
            question_limit=_money(data, "question_limit", least=1),
            until=None if until is None else _moment(until),
            questions=_names(data.get("questions")),
            rules=rules,
            any_rule=any_rule,
            overcommit=overcommit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as plain data; what is not limited is left out."""
        rules = dict(self.rules) | ({ANY: True} if self.any_rule else {})
        found = {
            "total": self.total,
            "period": None if self.period is None else self.period.to_dict(),
            "question_limit": self.question_limit,
            "until": None if self.until is None else self.until.isoformat(),
            "questions": None if self.questions is None else sorted(self.questions),
            "rules": rules or None,
            "overcommit": self.overcommit or None,
        }
        return {"terms": VERSION} | {name: item for name, item in found.items() if item is not None}

    def begun(self, beginning: date | None) -> Terms:
        """Return the same terms in the period that began on a day."""
        return self if self.period is None else replace(self, period=replace(self.period, begun=beginning))

    def limit(self, spent: int) -> int | None:
        """Return what may be spent up to the end of a period that begins with so much spent; None for all."""
        ends = [self.total, None if self.period is None else spent + self.period.epsilon]
        return min((end for end in ends if end is not None), default=None)

    def may_cite(self, rule: str) -> bool:
        """Say whether a question may rest on a rule."""
        return self.any_rule or rule in self.rules

    def words(self) -> list[str]:
        """Say the terms, one in each line."""
        lines = []
        if self.total is not None:
            lines.append(f"up to ε = {to_text(self.total)} in all")
        if self.period is not None:
            lines.append(
                f"up to ε = {to_text(self.period.epsilon)} each {self.period.every} from "
                f"{self.period.start.isoformat()} on (UTC)"
            )
        if self.question_limit is not None:
            lines.append(f"up to ε = {to_text(self.question_limit)} for one question")
        if self.until is not None:
            lines.append(f"until {self.until.isoformat()}")
        if self.questions is not None:
            lines.append(f"questions: {', '.join(sorted(self.questions)) or 'none'}")
        cited = [name if most is None else f"{name} ({most:,})" for name, most in sorted(self.rules.items())]
        if cited or self.any_rule:
            lines.append(f"rules: {', '.join([*cited, *(['any'] if self.any_rule else [])])}")
        else:
            lines.append("no question that needs a rule")
        if self.overcommit:
            lines.append("out of what was promised to nobody: the table may run out before")
        return lines


def words_of(told: Mapping[str, Any]) -> list[str]:
    """Say terms that a server tells, with ε as decimal text.

    Examples
    --------
    >>> words_of({"terms": 1, "total": "0.5"})
    ['up to ε = 0.5 in all', 'no question that needs a rule']
    """
    amounts: dict[str, Any] = {
        name: read_amount(told[name]) for name in ("total", "question_limit") if name in told
    }
    period = told.get("period")
    if period is not None:
        amounts["period"] = {**period, "epsilon": read_amount(period["epsilon"])}
    agreed = Terms.read({**told, **amounts})
    return [] if agreed is None else agreed.words()


def refuse_reserved(terms: Mapping[str, Any], by: str) -> None:
    """Refuse what only the ledger itself writes into terms; what they mean is read in the transaction."""
    read = Terms.read(terms)
    if read is None:
        _refuse_unless(
            "terms" not in terms, f"must be the number {VERSION}", "terms", f'Give "terms": {VERSION}.'
        )
        return
    _refuse_unless(
        by != RENEWAL, f"must not be {RENEWAL!r}, by whom periods are renewed", "by", "Say who grants it."
    )
    _refuse_unless(
        read.period is None or read.period.begun is None,
        "is written by the ledger",
        "terms.period.begun",
        "Leave it out.",
    )


def _refuse_unless(condition: bool, problem: str, at: str, next_step: str) -> None:
    if not condition:
        raise InputError(problem, field=at, next_step=next_step)


def _money(data: Mapping[str, Any], name: str, *, least: int) -> int | None:
    value = data.get(name)
    return None if value is None else whole(value, field=f"terms.{name}", least=least, most=LARGEST_TOTAL)


def _period(data: Any) -> Period:
    given = mapping(data, field="terms.period")
    known = {"epsilon", "every", "from", "begun"}
    _refuse_unless(
        {"epsilon", "every", "from"} <= given.keys() <= known,
        "must have epsilon, every and from, and nothing else",
        "terms.period",
        'Give, for instance, {"epsilon": 100000000, "every": "month", "from": "2026-01-01"}.',
    )
    _refuse_unless(
        given["every"] in EVERY,
        "is not known",
        "terms.period.every",
        f"Give one of {', '.join(EVERY)}.",
    )
    return Period(
        epsilon=whole(given["epsilon"], field="terms.period.epsilon", least=1, most=LARGEST_TOTAL),
        every=given["every"],
        start=_day(given["from"], "terms.period.from"),
        begun=_day(given["begun"], "terms.period.begun") if "begun" in given else None,
    )


def _day(value: Any, at: str) -> date:
    try:
        found = date.fromisoformat(value)
    except (TypeError, ValueError):
        found = None
    # Far from the ends of the calendar, where no next period can be computed.
    if found is None or not 1970 <= found.year <= 9000:
        raise InputError("must be a day", field=at, next_step="Write it as 2026-01-31.")
    return found


def _moment(value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        found = None
    if found is None or not 1970 <= found.year <= 9000:
        raise InputError(
            "must be a moment", field="terms.until", next_step="Write it as 2026-12-31T18:00:00+00:00."
        )
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).astimezone(UTC)


def _names(value: Any) -> frozenset[str] | None:
    if value is None:
        return None
    _refuse_unless(
        isinstance(value, list | tuple), "must be a list", "terms.questions", 'Give names, as in ["count"].'
    )
    return frozenset(label(name, field="terms.questions") for name in value)


def _rules(value: Any) -> tuple[Mapping[str, int | None], bool]:
    """Return how many questions each rule is allotted, and whether any other may be cited, too."""
    given = {} if value is None else mapping(value, field="terms.rules")
    any_rule = given.get(ANY) is True
    named = {name: most for name, most in given.items() if not (name == ANY and most is True)}
    for name, most in named.items():
        label(name, field="terms.rules")
        if most is not None:
            whole(most, field=f"terms.rules.{name}", least=0, most=LARGEST_COUNT)
    return named, any_rule
