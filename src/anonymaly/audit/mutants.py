# SPDX-License-Identifier: Apache-2.0
"""Broken variants that the audit must reject: a tester that rejects none of them tests nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anonymaly.audit.case import Case
from anonymaly.audit.report import AuditReport, Layer, audit

ALARM = 1e-7  # a mutant must be far worse than chance, and a long list of them must raise no false alarm


@dataclass(frozen=True)
class Mutant:
    """A broken variant of a question, and the layer that must notice.

    Parameters
    ----------
    name : str
        What is broken.
    layer : {"replay", "ledger", "fit", "bound"}
        Which layer must reject it.
    build : callable
        Makes the case anew, so that a variant that remembers something starts without a memory.
    fit_samples : int
        How many answers the layer ``fit`` takes, where that is the one.
    samples : int
        How many answers the layer ``bound`` takes, where that is the one.

    Examples
    --------
    >>> from anonymaly.audit.cases.count import COUNT_MUTANTS
    >>> next(mutant.layer for mutant in COUNT_MUTANTS if mutant.name == "exception on empty")
    'replay'
    """

    name: str
    layer: Layer
    build: Callable[[], Case]
    fit_samples: int = 100_000
    samples: int = 4_000

    def audit(self, *, seed: int = 0, samples: int | None = None) -> AuditReport:
        """Run the layer that must reject it, without asking for power: its fault alone must give it away."""
        return audit(
            self.build(),
            seed=seed,
            layers=[self.layer],
            samples=self.samples if samples is None else samples,
            fit_samples=self.fit_samples,
            alarm=ALARM,
            power=None,
            thorough=False,
        )

    def is_rejected(self, *, seed: int = 0, samples: int | None = None) -> bool:
        """Say whether its layer rejects it."""
        return self.audit(seed=seed, samples=samples).rejected_by(self.layer)
