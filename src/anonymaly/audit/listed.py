# SPDX-License-Identifier: Apache-2.0
"""What is audited of one question: its cases, with as many answers as each needs, and its planted faults."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from anonymaly.audit.case import Case
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import LAYERS, Layer
from anonymaly.core.epsilon import to_nano, to_text

TWICE = 2  # noise of half the scale is what twice the charge would buy


@dataclass(frozen=True)
class ListedCase:
    """A case that ``anonymaly audit`` runs, and how.

    Parameters
    ----------
    build : callable
        From ``epsilon`` to the case.
    samples, thorough_samples : int
        How many answers confirm the bound in the quick and in the thorough form. Answers that take long are
        fewer: as many as show 0.85 of ε = 2, and 0.93 of ε = 0.5.
    fit_samples, thorough_fit_samples : int
        How many answers are fitted to the exact law, where there is one.
    epsilon, thorough_epsilon : str
        What is asked with.
    layers : tuple
        The layers that apply; not all can sample a question of several stages.

    Examples
    --------
    >>> from anonymaly.audit.cases.count import count_case
    >>> ListedCase(count_case).case(thorough=True).name
    'count, records, add_remove, ε = 0.5'
    """

    build: Callable[..., Case]
    samples: int = 7_000
    thorough_samples: int = 1_000_000
    fit_samples: int = 2_000
    thorough_fit_samples: int = 100_000
    epsilon: str = "2"
    thorough_epsilon: str = "0.5"
    layers: tuple[Layer, ...] = LAYERS

    def case(self, *, thorough: bool = False) -> Case:
        """Return the case of a form."""
        return self.build(epsilon=self.thorough_epsilon if thorough else self.epsilon)

    def overspent(self, *, thorough: bool = False) -> Case:
        """Return the case with half the noise: a question that spends twice what it claims."""
        case = self.case(thorough=thorough)
        double = to_text(to_nano(case.query.epsilon) * TWICE)
        return dataclasses.replace(
            case,
            name=f"{case.name}, noise scale × 0.5",
            query=self.build(epsilon=double).query,
            claims=to_text(to_nano(case.query.epsilon)),
        )


@dataclass(frozen=True)
class Audited:
    """All that is audited of one question.

    Parameters
    ----------
    cases : tuple of ListedCase
        Every method, search and form, in both adjacencies.
    mutants : tuple of Mutant
        Faults that a layer must see.
    """

    cases: tuple[ListedCase, ...]
    mutants: tuple[Mutant, ...]
