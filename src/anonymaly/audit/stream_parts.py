# SPDX-License-Identifier: Apache-2.0
"""Attacks on the parts of a stream, no question of a curator: checks by layer, and broken variants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from anonymaly.audit.report import AuditReport, Finding, Layer

Checks = Mapping[Layer, Callable[[], Iterator[Finding]]]


class StreamParts(ABC):
    """The parts that can break a promise, and how each layer attacks them."""

    title: ClassVar[str]
    """What a report calls them."""

    @property
    @abstractmethod
    def checks(self) -> Checks:
        """The attack of each layer."""

    def audit(self, layers: Iterable[Layer] | None = None) -> AuditReport:
        """Attack the parts.

        Parameters
        ----------
        layers : list of str, optional
            Which layers to run; all, if not given.
        """
        found = [finding for layer in (layers or self.checks) for finding in self.checks[layer]()]
        return AuditReport(self.title, tuple(found))


@dataclass(frozen=True)
class StreamMutant:
    """StreamParts of which one is broken, and the layer that must notice.

    Examples
    --------
    >>> from anonymaly.audit.cases.stream import STREAM_MUTANTS
    >>> [mutant.name for mutant in STREAM_MUTANTS if mutant.layer == "bound"][0]
    'widths as they are written, not as they are held'
    """

    name: str
    layer: Layer
    case: StreamParts

    def is_rejected(self) -> bool:
        """Say whether its layer rejects it."""
        return self.case.audit([self.layer]).rejected_by(self.layer)
