# SPDX-License-Identifier: Apache-2.0
"""What an amendment of rules, or of columns, means for whom rules protect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Domain, Interval, Timestamps, read_domain
from anonymaly.declare.rules import AnomalyModel, Policy, Rule, SameContexts, read_rule
from anonymaly.declare.sensitivity import is_relaxation
from anonymaly.promise import Relation, SensitiveRecords, SensitiveUnderPolicy

KEEP = "whoever it protected it protects still"
FROM_NOW_ON = "from now on answers that cite it leave unprotected"
Columns = Mapping[str, Domain]


def effects(before: Mapping[str, Any], rules: Mapping[str, Any] | str, now: Declaration) -> Iterator[str]:
    """Yield a sentence for each rule that is not what it was.

    Parameters
    ----------
    before, rules : mapping
        The declaration and the rules so far, as the ledger keeps them.
    now : Declaration
        The declaration that takes their place.
    """
    if (rules == "any") != now.any_rule:
        yield (
            'rules loosened to "any": from now on whoever asks chooses whom an answer protects'
            if now.any_rule
            else "rules narrowed from any to those that are named: an answer protects everyone, or whom one "
            "of them protects"
        )
        return
    if isinstance(rules, str):
        return
    columns = {name: read_domain(item, field=name) for name, item in before["columns"].items()}
    yield from _published(columns, now)
    for name in sorted(rules.keys() | now.rules.keys()):
        new = now.rules.get(name)
        if new is None:
            yield f"rule {name} removed: no answer leaves anybody unprotected by it from now on"
        elif name not in rules:
            yield f"rule {name} new: {FROM_NOW_ON}: {_left_out(name, new, now)}"
        else:
            old = read_rule(rules[name], field=name)
            if old != new or any(columns[item] != now.columns[item] for item in _looks_at(new, now.columns)):
                yield f"rule {name} {_changed(name, old, columns, new, now)}"


def _published(columns: Columns, now: Declaration) -> Iterator[str]:
    """Say of which columns other values may be published from now on: undeclared ones never are."""
    if not any(isinstance(rule, Policy) for rule in now.rules.values()):
        return
    for name in sorted(columns.keys() & now.columns.keys()):
        old, new = columns[name], now.columns[name]
        if old != new and not _holds_no_more(old, new):
            yield (
                f"column {name} changed: from now on records may be published with values that were "
                "undeclared, or read otherwise, and made them sensitive until now"
            )


def _holds_no_more(old: Domain, new: Domain) -> bool:
    """Say whether a domain is known to hold nothing that another did not; both read values alike."""
    if type(old) is not type(new) or old.reading != new.reading:
        return False
    match old, new:
        case Categories(), Categories():
            return set(new.values) <= set(old.values)
        case Interval(), Interval():
            return old.low <= new.low and new.high <= old.high
        case Timestamps(), Timestamps():
            return old.start <= new.start and new.end <= old.end
    return old == new


def _changed(name: str, old: Rule, columns: Columns, new: Rule, now: Declaration) -> str:
    """Say of a rule whether it protects all whom it protected, and if not, whom no longer."""
    moved = sorted(
        item
        for item in {*_looks_at(old, columns), *_looks_at(new, now.columns)}
        if columns.get(item) != now.columns.get(item)
    )
    if not moved and _is_narrower(old, new, now):
        return f"narrowed: {KEEP}"
    if isinstance(old, Policy) and isinstance(new, Policy):
        who = f"whoever `{new.text}` is true of, also those of whom `{old.text}` was not true or not known"
    else:
        who = _left_out(name, new, now)
    looser = not moved and _is_narrower(new, old, now)
    how = "loosened" if looser else f"changed{' with ' if moved else ''}{', '.join(moved)}"
    return f"{how}: {FROM_NOW_ON}: {who}"


def _is_narrower(old: Rule, new: Rule, now: Declaration) -> bool:
    """Say whether a rule is known to protect all whom another did; the columns they look at are the same."""
    match old, new:
        case Policy(), Policy():
            return is_relaxation(old, new, now.columns) is True
        case AnomalyModel(), AnomalyModel():
            # Fewer needed within a larger radius: whoever had enough records near has enough still.
            alike = all(getattr(old, name) == getattr(new, name) for name in ("columns", "metric", "scaled"))
            were, are = (_relation(None, rule, now) for rule in (old, new))
            return alike and are.threshold <= were.threshold and new.radius >= old.radius
        case SameContexts(), SameContexts():
            return (
                all(_is_part(getattr(new, name), getattr(old, name)) for name in ("metrics", "attributes"))
                and _allows_no_more(old, new)
                and new.least_epsilon >= old.least_epsilon
                and new.questions <= old.questions
                and (old.start or not new.start)
                and set(new.bins) <= set(old.bins)
            )
    return False


def _is_part(some: tuple[str, ...] | None, of: tuple[str, ...] | None) -> bool:
    """Say whether a limit permits no more than another; None permits all."""
    return of is None or (some is not None and set(some) <= set(of))


def _allows_no_more(old: SameContexts, new: SameContexts) -> bool:
    """Say whether all detectors and values of parameters that a rule allows were allowed before."""
    # Imports numpy, which nothing else here needs.
    from anonymaly.detectors import DETECTORS  # noqa: PLC0415

    names = [[name for name, _ in rule.detectors] if rule.detectors else [*DETECTORS] for rule in (old, new)]
    defaults = {name: DETECTORS[name].parameters if name in DETECTORS else {} for name in names[1]}
    values = {
        name: [rule.values_of(name, parameters) for rule in (old, new)]
        for name, parameters in defaults.items()
    }
    return set(names[1]) <= set(names[0]) and all(
        set(now[parameter]) <= set(was[parameter]) for was, now in values.values() for parameter in now
    )


def _looks_at(rule: Rule, columns: Columns) -> set[str]:
    match rule:
        case Policy():
            return set(rule.predicate(columns).columns())
        case AnomalyModel():
            return set(rule.columns)
    return {*(rule.metrics or ()), *(rule.attributes or ()), *(cut.column for cut in rule.bins)}


def _relation(name: str | None, rule: AnomalyModel, now: Declaration) -> SensitiveRecords:
    return SensitiveRecords(name, rule, now.adjacency, now.unit_rows)


def _left_out(name: str, rule: Rule, now: Declaration) -> str:
    """Say whom answers under a rule do not protect."""
    if isinstance(rule, SameContexts):
        return (
            "any record that an asker can guess, and whoever changes which contexts are valid "
            f"({rule.describe()}); {rule.WARNING}"
        )
    relation: Relation = (
        SensitiveUnderPolicy(name, rule, now.adjacency, now.unit_rows)
        if isinstance(rule, Policy)
        else _relation(name, rule, now)
    )
    return relation.does_not_protect()
