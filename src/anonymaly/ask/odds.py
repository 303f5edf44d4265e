# SPDX-License-Identifier: Apache-2.0
"""What ε means in plain words and odds, of promises that protect everyone.

Let an answer, or all answers together, be ε-differentially private, and let somebody know every row but
Anna's. By Bayes their odds between two tables, after an answer, are those before it times the ratio of the
answer's probabilities on the two, which is between e^-ε and e^ε because the tables are neighbours. ∎

"Knows every other row" is needed: whoever holds that Anna comes only together with nine relatives compares
tables ten persons apart, between which the ratio may be e^(10ε). Promises that protect fewer people bound
fewer ratios, a one-sided one only in one direction, so nothing is said of them here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.core.rate import Adjacency

MOST = 6  # e^6 is 403: beyond it, odds are no comfort to anybody
STILL = (
    "what the answers say about people in general may tell something of Anna, too, and would without her rows"
)


@dataclass(frozen=True)
class Odds:
    """What one ε allows somebody to learn of one person, Anna.

    Examples
    --------
    >>> print(Odds(1_000_000_000))
    ε = 1: whoever knows every other row and gives odds of 1 : 1 that Anna's rows are in the table gives,
    after the answers, at most 2.72 : 1 and at least 1 : 2.72; a guess is right in at most 73.2 of 100 cases
    >>> Odds(100_000_000).factor
    1.11
    """

    nano: int
    adjacency: Adjacency = "add_remove"
    persons: bool = True  # whether a person, and not a row, is what is protected

    @property
    def factor(self) -> float:
        """e^ε, rounded up to three digits, so that what is said with it stays true."""
        return _up(math.exp(self.nano / 1e9)) if self.nano <= 700 * 10**9 else math.inf

    @property
    def best_guess(self) -> float:
        """The largest probability of a right guess between two equally likely cases, rounded up."""
        return min(1.0, _up(1 / (1 + math.exp(-self.nano / 1e9))))

    def to_dict(self) -> dict[str, Any]:
        """Return the odds as plain data."""
        return {
            "epsilon": to_text(self.nano),
            "odds_at_most": self.factor if math.isfinite(self.factor) else None,
            "best_guess": self.best_guess,
            "says": str(self),
        }

    def __str__(self) -> str:
        rows = "rows" if self.persons else "one row"
        believes = (
            f"that Anna's {rows} {'are' if self.persons else 'is'} in the table"
            if self.adjacency == "add_remove"
            else f"to two things that Anna's {rows} may say"
        )
        who = f"ε = {to_text(self.nano)}: whoever knows every other row and gives odds of 1 : 1 {believes}"
        if self.nano > MOST * 10**9:
            return f"{who} may be all but certain after the answers: such an ε bounds next to nothing"
        return (
            f"{who} gives, after the answers, at most {self.factor:,g} : 1 and at least "
            f"1 : {self.factor:,g}; a guess is right in at most {100 * self.best_guess:.3g} of 100 cases"
        )


@dataclass(frozen=True)
class BudgetInWords:
    """What a whole budget means, and what the parts of it that are spent and left mean."""

    limit_nano: int
    spent_nano: int = 0
    adjacency: Adjacency = "add_remove"
    persons: bool = True

    @property
    def parts(self) -> Mapping[str, Odds]:
        """The odds for the whole budget, and for what is spent if anything is."""
        spent = {"spent": self.spent_nano} if self.spent_nano else {}
        return {
            name: Odds(nano, self.adjacency, self.persons)
            for name, nano in {"budget": self.limit_nano, **spent}.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            **{name: odds.to_dict() for name, odds in self.parts.items()},
            "adjacency": self.adjacency,
            "holds": HOLDS,
            "still": STILL,
        }

    def __str__(self) -> str:
        lines = [f"all answers that the budget can pay for together: {self.parts['budget']}"]
        if self.spent_nano:
            lines.append(f"those given so far: {self.parts['spent']}")
        if self.adjacency == "replace":
            lines.append("that Anna is in the table is not hidden in this account, only what her rows say")
        if not self.persons:
            lines.append(
                "a person with several rows is protected one row at a time: declare person and max_rows"
            )
        return "\n".join([*lines, HOLDS, STILL])


HOLDS = "this holds if every answer protects everyone; an answer under a rule protects those whom it names"


def _up(number: float) -> float:
    """Round up to three digits."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 2)
    # From the text of the product, so that 2.72 does not come out as 2.7200000000000002.
    return float(f"{math.ceil(number / unit) * unit:.3g}")
