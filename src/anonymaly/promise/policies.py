# SPDX-License-Identifier: Apache-2.0
"""The algebra of policies, as promises: relaxing one, combining several, and the strictest one."""

from __future__ import annotations

from collections.abc import Mapping

from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Domain
from anonymaly.declare.rules import Policy
from anonymaly.declare.sensitivity import is_anyone_sensitive, is_relaxation
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


def who_is_protected(relation: Relation, columns: Mapping[str, Domain] | None) -> str:
    """Say in plain words who is protected, and that it is nobody if the declared columns show that.

    Examples
    --------
    >>> adults, minors = (SensitiveUnderPolicy(None, Policy(text)) for text in ("age >= 18", "age < 18"))
    >>> from anonymaly.declare.domain import Interval
    >>> who_is_protected(minimum_relaxation(adults, minors), {"age": Interval(0, 120)})
    'nobody with a declared age: no such record is sensitive under all of `age < 18`, `age >= 18`'
    """
    if columns is None or not protects_nobody(relation, columns):
        return relation.protects()
    policies = _policies(relation)
    names = sorted({name for policy in policies for name in policy.predicate(columns).columns()})
    texts = ", ".join(sorted({f"`{policy.text}`" for policy in policies}))
    who = f"nobody with a declared {', '.join(names)}"
    return f"{who}: no such {relation.noun} is sensitive under all of {texts}"


def protects_nobody(relation: Relation, columns: Mapping[str, Domain]) -> bool:
    """Say whether no record with declared values is sensitive under all policies of a relation.

    Records with a null or an undeclared value may still be. It is False where there are too many kinds of
    records to try. A person with several rows can be sensitive under two policies by two rows, so of persons
    it is True only if one policy alone protects nobody. Where a policy names what is not among the columns,
    because it was declared before an amendment, it is False.
    """
    policies = _policies(relation)
    if not all(_is_readable(policy, columns) for policy in policies):
        return False
    together = [policies] if relation.rows is None else [[policy] for policy in policies]
    return bool(policies) and any(is_anyone_sensitive(some, columns) is False for some in together)


def _is_readable(policy: Policy, columns: Mapping[str, Domain]) -> bool:
    try:
        policy.predicate(columns)
    except InputError:
        return False
    return True


def _policies(relation: Relation) -> list[Policy]:
    return [part.policy for part in relation.atoms() if isinstance(part, SensitiveUnderPolicy)]


def all_sensitive(adjacency: Adjacency = "add_remove", rows: int | None = None) -> Everyone:
    """Return the promise under the policy that calls everyone sensitive: differential privacy.

    Examples
    --------
    >>> all_sensitive().protects()
    'every record: whether they are in the data, and what the data say of them'
    """
    return Everyone(adjacency, rows)
