# SPDX-License-Identifier: Apache-2.0
"""One-sided privacy (Kotsogiannis et al. 2020): whoever a declared policy is not true of is protected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from anonymaly.core.rate import Adjacency
from anonymaly.declare.rules import Policy, Rule
from anonymaly.promise.change import Background, Row, Unit
from anonymaly.promise.relation import Rows, RuleName, Stepwise


class SensitiveUnderPolicy(Stepwise):
    """One-sided privacy: a sensitive record may be taken away, and any record may be added.

    The pairs are ordered: {(D, D−s): s sensitive} ∪ {(D, D+r): any r}. An answer may show that a
    non-sensitive record is there. That one is absent, which would give sensitive ones away, it shows only
    up to the factor e^ε. The replace form holds the pairs (D, D−s+r). A person is sensitive if any of their
    rows is, and is protected however many rows they have.

    Examples
    --------
    >>> from anonymaly.declare.domain import Interval
    >>> adults = SensitiveUnderPolicy("adults", Policy("age >= 18"))
    >>> child, adult, columns = {"age": 8}, {"age": 30}, {"age": Interval(0, 120)}
    >>> adults.relates([child], [], columns=columns), adults.relates([adult], [], columns=columns)
    (True, False)
    >>> adults.relates([], [adult], columns=columns)
    True
    """

    type: Literal["sensitive_under_policy"] = "sensitive_under_policy"
    rule: RuleName | None
    """The name under which the owner declared the policy; None if it is not declared."""
    policy: Policy
    """Who is not sensitive."""
    adjacency: Adjacency = "add_remove"
    """Whether one unit comes or goes (add_remove), or is replaced by another (replace)."""
    rows: Rows | None = None
    """The most rows of a person that are read; without it, every row is protected by itself."""

    if TYPE_CHECKING:

        def __init__(
            self,
            rule: str | None,
            policy: Policy,
            adjacency: Adjacency = "add_remove",
            rows: int | None = None,
            *,
            type: str = "sensitive_under_policy",
        ) -> None: ...

    @property
    def holds_additions(self) -> bool:
        """All of them, where records come and go."""
        return self.adjacency == "add_remove"

    @property
    def of_single_records(self) -> bool:
        """Whoever else is there has no say."""
        return True

    def covers(self, unit: Unit, holder: tuple[Row, ...], removed: bool, facts: Background) -> bool:
        """Cover every addition, and the removal of what is sensitive."""
        columns = facts.declared()
        return not removed or any(self.policy.sensitive(row.record, columns) for row in unit.rows)

    def protects(self) -> str:
        """Say in plain words who is protected."""
        what = "" if self.adjacency == "add_remove" else "what the data say of "
        condition = f"{self._text()} is not true, or a column that it names holds no declared value"
        if self.rows is None:
            return f"{what}every record that is sensitive under {self._rule()}: {condition}"
        # How many rows are read differs: a sample reads all of them, a histogram ``rows``.
        who = f"every person who is sensitive under {self._rule()}, however many rows they have"
        return f"{what}{who}: for at least one of all their rows {condition}"

    def leaves_out(self, *, absence_hidden: bool = True) -> str:
        """Say in plain words who is not.

        With answers under relations in which not everyone may be added, ``absence_hidden`` is False: the
        pair (D, D+r) is in this relation, but not in what all of them have in common.
        """
        which = "" if self.rows is None else ", for all of their rows"
        condition = f"{self._text()} is true, and all columns that it names hold declared values{which}"
        shown = (
            f"{self.noun}s that are not sensitive: {condition}; an answer may show what the data say of them"
        )
        if self.adjacency == "replace":
            return shown
        if absence_hidden:
            return f"{shown}, though that one is absent only up to the factor e^ε"
        return f"{shown}, and, through the other questions, that one of them is absent"

    def difference(self, factor: str) -> str:
        """Say which half is bounded."""
        if self.adjacency == "replace":
            change = f"when one protected {self.noun} is replaced by any other {self.noun}"
            return f"falls by a factor of at most {factor} {change}"
        change = f"when one protected {self.noun} is added or removed"
        falls = f"falls by no more when any other {self.noun} is added"
        return f"changes by a factor of at most {factor} {change}, and {falls}"

    def _text(self) -> str:
        return f"`{self.policy.text}`"

    def _rule(self) -> str:
        return f"rule {self.rule!r}" if self.rule is not None else "an undeclared policy"

    def permitted(self, rules: Mapping[str, Rule]) -> bool:
        """Permit the policy that the owner declared under this name, and no other."""
        return self.rule is not None and rules.get(self.rule) == self.policy

    def needs(self) -> tuple[str, Rule]:
        """Return the policy itself."""
        return self.rule or "open", self.policy

    def in_replace_form(self) -> SensitiveUnderPolicy:
        """Add the new one, then take the sensitive one away."""
        return SensitiveUnderPolicy(self.rule, self.policy, "replace", self.rows)

    def for_persons(self, rows: int) -> SensitiveUnderPolicy:
        """Refuse: a sensitive person may have rows that are not sensitive by themselves."""
        raise self.cannot_become(
            "about persons",
            "a person is sensitive if any row is, and their other rows may be removed by no step of this one",
            "Judge whole persons before the mechanism runs, and state its promise with rows directly.",
        )
