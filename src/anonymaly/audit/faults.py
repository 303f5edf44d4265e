# SPDX-License-Identifier: Apache-2.0
"""The table of planted faults: what is broken, and which layer of the audit must see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from anonymaly.audit.cases.stream import STREAM_MUTANTS
from anonymaly.audit.cases.stream_counting import COUNTING_MUTANTS
from anonymaly.audit.cases.stream_giving import GIVING_MUTANTS
from anonymaly.audit.cases.stream_pooled import POOLED_MUTANTS
from anonymaly.audit.questions import AUDITED
from anonymaly.audit.rate import RATE_FAULTS, RateStep, audit_rate
from anonymaly.audit.system.digests import DIGESTS_FAULTS, digests_problems
from anonymaly.audit.system.entropy import ENTROPY_FAULTS, entropy_problems
from anonymaly.audit.system.fault import Check, Problems, SystemFault
from anonymaly.audit.system.locks import LOCK_FAULTS, lock_problems
from anonymaly.audit.system.numbered_faults import NUMBERED_FAULTS, numbered_problems
from anonymaly.audit.system.opening import OPENING_FAULTS, opening_problems
from anonymaly.audit.system.parts import PARTS_FAULTS, parts_problems
from anonymaly.audit.system.power import POWER_FAULTS, power_problems
from anonymaly.audit.system.reading import READING_FAULTS, reading_problems
from anonymaly.audit.system.rules import RULES_FAULTS, rules_problems
from anonymaly.audit.system.statement import STATEMENT_FAULTS, statement_problems
from anonymaly.audit.system.verify import (
    DATABASE_FAULTS,
    VERIFY_FAULTS,
    database_problems,
    verify_problems,
)

SYSTEM: tuple[tuple[tuple[SystemFault, ...], Check], ...] = (
    (ENTROPY_FAULTS, entropy_problems),
    (OPENING_FAULTS, opening_problems),
    (READING_FAULTS, reading_problems),
    (POWER_FAULTS, power_problems),
    (NUMBERED_FAULTS, numbered_problems),
    (DIGESTS_FAULTS, digests_problems),
    (PARTS_FAULTS, parts_problems),
    (RULES_FAULTS, rules_problems),
    (STATEMENT_FAULTS, statement_problems),
    (VERIFY_FAULTS, verify_problems),
)
# What is given is the address of an empty PostgreSQL database.
IN_A_DATABASE: tuple[tuple[tuple[SystemFault, ...], Callable[[str], Problems]], ...] = (
    (LOCK_FAULTS, lock_problems),
    (DATABASE_FAULTS, database_problems),
)


@dataclass(frozen=True)
class PlantedFault:
    """A line of the table.

    Parameters
    ----------
    about : str
        The question that is broken, "stream", or "all questions" for what they share.
    name : str
        What is broken.
    layer : str
        Which layer of the audit must reject it.
    is_rejected : callable or None
        Plants it, runs the layer, and says whether it was rejected. None where that needs a PostgreSQL
        database and none was given.
    """

    about: str
    name: str
    layer: str
    is_rejected: Callable[[], bool] | None


def planted_faults(*, postgres: Callable[[], str] | None = None) -> tuple[PlantedFault, ...]:
    """Return every planted fault.

    Parameters
    ----------
    postgres : callable, optional
        Returns the address of an empty PostgreSQL database, another one at each call.

    Examples
    --------
    >>> for fault in planted_faults():
    ...     if fault.layer == "locks":
    ...         print(f"{fault.about}: {fault.name}")
    all questions: PostgreSQL's head not locked
    all questions: a counter read before the writing begins
    """
    return tuple(_lines(postgres))


def _lines(postgres: Callable[[], str] | None) -> Iterator[PlantedFault]:
    for question, audited in AUDITED.items():
        for mutant in audited.mutants:
            yield PlantedFault(question, mutant.name, mutant.layer, mutant.is_rejected)
    streams = (*STREAM_MUTANTS, *COUNTING_MUTANTS, *POOLED_MUTANTS, *GIVING_MUTANTS)
    for stream in streams:
        yield PlantedFault("stream", stream.name, stream.layer, stream.is_rejected)
    shared = "all questions"
    for step in RATE_FAULTS:
        yield PlantedFault(shared, step.name, "rate", partial(_is_wrong, step))
    for faults, check in SYSTEM:
        for fault in faults:
            yield PlantedFault(shared, fault.name, fault.layer, partial(fault.is_rejected, check))
    for faults, in_database in IN_A_DATABASE:
        for fault in faults:
            rejection = None if postgres is None else partial(_is_rejected_at, fault, in_database, postgres)
            yield PlantedFault(shared, fault.name, fault.layer, rejection)


def _is_wrong(step: RateStep) -> bool:
    return bool(audit_rate(step))


def _is_rejected_at(
    fault: SystemFault, check: Callable[[str], Problems], postgres: Callable[[], str]
) -> bool:
    return fault.is_rejected(lambda: check(postgres()))
