# SPDX-License-Identifier: Apache-2.0
"""The algebra of policies, as promises: relaxing one, combining several, and the strictest one."""

from __future__ import annotations

from collections.abc import Mapping

from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Domain
from anonymaly.declare.rules import Policy
from anonymaly.declare.sensitivity import is_relaxation
from anonymaly.errors import InputError
from anonymaly.promise.everyone import Everyone
from anonymaly.promise.intersection import intersect
from anonymaly.promise.relation import Relation
from anonymaly.promise.sensitive_under_policy import SensitiveUnderPolicy


def relax(
    relation: Relation, rule: str | None, policy: Policy, *, columns: Mapping[str, Domain]
) -> SensitiveUnderPolicy:
    """Return the promise under a policy that calls fewer records sensitive: it holds at the same ε.

    Parameters
    ----------
    relation : Everyone or SensitiveUnderPolicy
        What is promised.
    rule : str or None
        The name under which the owner declared the weaker policy.
    policy : Policy
        The weaker policy.
    columns : mapping
        The declared columns, over which the two are compared.

    Examples
    --------
    >>> from anonymaly.declare.domain import Interval
    >>> adults, ages = SensitiveUnderPolicy("adults", Policy("age >= 18")), {"age": Interval(0, 120)}
    >>> relax(adults, "over 16", Policy("age >= 16"), columns=ages).policy.text
    'age >= 16'
    """
    relaxed = SensitiveUnderPolicy(rule, policy, relation.adjacency, relation.rows)
    if isinstance(relation, Everyone):
        return relaxed
    if not isinstance(relation, SensitiveUnderPolicy):
        raise InputError(
            f"a {type(relation).__name__} promise has no policy to relax",
            field="relation",
            next_step="Relax a promise about everyone, or about those sensitive under a policy.",
        )
    if not is_relaxation(policy, relation.policy, columns):
        raise InputError(
            f"`{policy.text}` is not known to be true wherever `{relation.policy.text}` is",
            field="policy",
            next_step="Only a policy that calls fewer records sensitive follows from this promise.",
        )
    return relaxed


def minimum_relaxation(*relations: Relation) -> Relation:
    """Return what several promises have in common: who is sensitive under all policies stays protected.

    It is the strictest promise that follows from each of them, and the one that their answers keep together.

    Examples
    --------
    >>> adults, agreed = (SensitiveUnderPolicy(None, Policy(text)) for text in ("age >= 18", "consent"))
    >>> [part.policy.text for part in minimum_relaxation(adults, agreed).atoms()]
    ['age >= 18', 'consent']
    """
    # As relations, not as the text "one or the other": if only a column of the other policy is unknown, that
    # text would call the record sensitive, and so promise more than the two do.
    return intersect(*relations)


def all_sensitive(adjacency: Adjacency = "add_remove", rows: int | None = None) -> Everyone:
    """Return the promise under the policy that calls everyone sensitive: differential privacy.

    Examples
    --------
    >>> all_sensitive().protects()
    'every record: whether they are in the data, and what the data say of them'
    """
    return Everyone(adjacency, rows)
