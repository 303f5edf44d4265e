# SPDX-License-Identifier: Apache-2.0
"""Under which of an account's declarations a question may have been charged before.

A question depends on the columns and rules that it uses. So it is the same question under every declaration
in which these are the same, and what was charged under one of them is not charged again under another. (Which
rows of a person are read, where there are more than ``max_rows``, follows from all columns. A new column may
lead to others, and the question is still the same.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anonymaly.ask.binding import Binding
from anonymaly.ledger.declarations import Declared
from anonymaly.promise import Everyone


def fingerprints(bound: Binding, repeat: int, declared: Sequence[Declared]) -> Iterator[str]:
    """Yield what a question is known by under each declaration that makes it the same, the newest first.

    Parameters
    ----------
    bound : Binding
        The question, bound to the last of ``declared``.
    repeat : int
        Which draw it is.
    declared : sequence of Declared
        All declarations of the account, oldest first; none before it is opened.
    """
    yield bound.fingerprint(repeat, declared[-1] if declared else None)
    for item in reversed(declared[:-1]):
        if is_same(bound, item):
            yield bound.fingerprint(repeat, item)


def is_same(bound: Binding, earlier: Declared) -> bool:
    """Say whether all that a question uses was declared before as it is now."""
    used, now = bound.used, bound.declaration
    if used is None:
        return False
    any_rule = earlier.rules == "any"
    if any_rule != now.any_rule and (used.rules or not isinstance(bound.relation, Everyone)):
        return False  # the same text may name a rule in one of them, and be one in the other
    columns, rules = now.to_dict()["columns"], now.rules_to_dict()
    were = {} if earlier.rules == "any" else earlier.rules
    return all(earlier.declaration["columns"].get(name) == columns[name] for name in used.columns) and all(
        name in were and rules != "any" and were[name] == rules[name] for name in used.rules
    )
