# SPDX-License-Identifier: Apache-2.0
"""All audits, in a quick and in a thorough form: every case by every layer, and the planted faults."""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

from anonymaly.ask.catalogue import foreign
from anonymaly.audit.cases.stream import StreamCase
from anonymaly.audit.cases.stream_counting import CountingCase
from anonymaly.audit.cases.stream_giving import GivingCase
from anonymaly.audit.cases.stream_pooled import PooledCase
from anonymaly.audit.faults import IN_A_DATABASE, SYSTEM, PlantedFault, planted_faults
from anonymaly.audit.findings import AuditForm, AuditLine, AuditRun, Chances, FaultLine
from anonymaly.audit.fit import ACCEPTED
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import ALARM as MUTANT_ALARM
from anonymaly.audit.questions import AUDITED, audited
from anonymaly.audit.rate import RateStep, audit_rate
from anonymaly.audit.report import AuditReport, Finding, audit
from anonymaly.audit.stream_parts import StreamParts
from anonymaly.audit.system.fault import Check, LackingHere, Problems, found_as_it_is
from anonymaly.core.progress import listening, tell
from anonymaly.core.suggestions import guess
from anonymaly.core.threads import worker_threads
from anonymaly.errors import InputError

TOTAL_ALARM = 1e-6  # of all bounds and fits of a run together
# What is seen of ε on a tight pair, times the factor, is above ε: noise so much too small is caught.
QUICK = AuditForm("quick", power=0.85, factor="1.25", at="ε = 2", rounds=0, most_pairs=6)
THOROUGH = AuditForm("thorough", power=0.93, factor="1.1", at="ε >= 0.5", rounds=3, most_pairs=None)
STREAM, SHARED = "stream", "all questions"
STREAMS: Mapping[str, StreamParts] = {
    STREAM: StreamCase(),
    "counting": CountingCase(),
    "pooled": PooledCase(),
    "giving": GivingCase(),
}
NEEDS_POSTGRES = "needs an empty PostgreSQL database"
Step = Callable[[], "AuditLine | FaultLine"]
Task = list[Step]  # what one process does in a row


def audit_all(
    question: str | None = None,
    *,
    thorough: bool = False,
    seed: int = 0,
    workers: int | None = None,
    postgres: Callable[[], str] | None = None,
) -> AuditRun:
    """Audit every question, or one, and plant faults to see whether the audit sees them.

    Parameters
    ----------
    question : str, optional
        A question's name, "stream", or "all questions" for what all of them share; everything without it.
    thorough : bool
        Whether to take as many samples as show noise that is too small by 1.1, and to plant every fault.
    seed : int
        Makes the audit repeatable.
    workers : int, optional
        How many processes share the work; as many as there are cores without it. 1 does it in this process.
    postgres : callable, optional
        Returns the address of an empty PostgreSQL database, another one at each call. Without it the faults
        that need one are listed and not planted.

    Examples
    --------
    >>> audit_all("cuont")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    anonymaly.errors.InputError: question: there is no 'cuont'. Did you mean count? ...
    """
    began = time.perf_counter()
    tasks, chances = _plan(question, thorough, seed)
    done = list(_carried_out(tasks, (question, thorough, seed), workers or worker_threads()))
    names = _wanted(question)
    done.sort(key=lambda item: names.index(item.about))
    faults = [item for item in done if isinstance(item, FaultLine)]
    lines = [item for item in done if isinstance(item, AuditLine)]
    if postgres is not None:
        # Their databases are this process's own.
        given = {(item.about, item.name): item for item in planted_faults(postgres=postgres)}
        faults = [
            _planted(given[item.about, item.name], run=True) if item.why == NEEDS_POSTGRES else item
            for item in faults
        ]
        databases = {step.args[1]: step for step in _in_a_database(postgres)}
        lines = [databases[item.report.name]() if item.why == NEEDS_POSTGRES else item for item in lines]
    return AuditRun(
        THOROUGH if thorough else QUICK,
        tuple(lines),
        tuple(faults),
        chances,
        time.perf_counter() - began,
    )


def _plan(question: str | None, thorough: bool, seed: int) -> tuple[list[Task], Chances]:
    """Return all tasks, and how they share the false alarms."""
    form, names = THOROUGH if thorough else QUICK, _wanted(question)
    cases = [(name, item) for name in names if name not in (STREAM, SHARED) for item in audited(name).cases]
    chances = _chances([item for _, item in cases], thorough)
    faults = [fault for fault in _faults(names) if fault.about in names]
    chosen = faults if thorough or question is not None else _one_of_each(faults)
    checks = list(_shared(names))
    layers = [layer for layer, _ in checks]
    planted: dict[str, list[Step]] = {layer: [] for layer in layers}
    others: list[Task] = []
    for fault in faults:
        step = partial(_planted, fault, run=fault in chosen)
        if fault.about == SHARED and fault.layer in planted:
            # In the process of its layer's own check, which is then known to find nothing without it.
            planted[fault.layer].append(step)
        else:
            others.append([step])
    # The longest first, so that no process is left alone with one at the end.
    tasks: list[Task] = [[check, *planted[layer]] for layer, check in checks]
    for name, item in cases:
        tasks.append([partial(_told, name, "case", partial(_case, name, item, form, chances, seed))])
    return tasks + others, chances


def _carried_out(
    tasks: list[Task], plan: tuple[str | None, bool, int], workers: int
) -> Iterator[AuditLine | FaultLine]:
    """Yield what every step found, in their order."""
    done, total = 0, sum(map(len, tasks))
    tell("checks", 0, total)
    if workers == 1:
        for step in itertools.chain(*tasks):
            with listening(_nobody):
                found = _timed(step)
            done += 1
            tell("checks", done, total)
            yield found
        return
    # Each process plans for itself and is told numbers: steps hold functions, which cannot be sent. A fault
    # is planted in one process alone, and none has threads of an engine from before it began.
    with get_context("spawn").Pool(workers, _begin, plan) as pool:  # ends its processes, however it is left
        for several in pool.imap(_task, range(len(tasks))):
            done += len(several)
            tell("checks", done, total)
            yield from several


_TASKS: list[Task] = []  # of this process


def _begin(question: str | None, thorough: bool, seed: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began this one ends it
    _TASKS[:] = _plan(question, thorough, seed)[0]


def _task(number: int) -> list[AuditLine | FaultLine]:
    return [_timed(step) for step in _TASKS[number]]


def _timed(step: Step) -> AuditLine | FaultLine:
    began = time.perf_counter()
    return replace(step(), seconds=time.perf_counter() - began)


def _nobody(unit: str, done: int, total: int) -> None:
    """Hear nothing of what a question itself reports of its work."""


def _wanted(question: str | None) -> list[str]:
    every = [*AUDITED, STREAM, SHARED]
    if question is None:
        return every
    if question not in every and question not in foreign():
        known = [*every, *foreign()]
        raise InputError(
            f"there is no {question!r}",
            field="question",
            next_step=f"{guess(question, known)}Audited are: {', '.join(known)}.",
        )
    return [question]


def _chances(cases: list[ListedCase], thorough: bool) -> Chances:
    """Share the false alarms of a run among all that may give one; exact layers give none."""
    bounds = sum("bound" in item.layers for item in cases)
    with_a_law = [item.case(thorough=thorough) for item in cases if "fit" in item.layers]
    fits = sum(2 for case in with_a_law if (case.law or case.outcomes) is not None)
    return Chances(TOTAL_ALARM, bounds, fits, ACCEPTED, MUTANT_ALARM)


def _case(question: str, listed: ListedCase, form: AuditForm, chances: Chances, seed: int) -> AuditLine:
    thorough = form is THOROUGH
    case = listed.case(thorough=thorough)
    samples = listed.thorough_samples if thorough else listed.samples
    fitted = listed.thorough_fit_samples if thorough else listed.fit_samples
    report = audit(
        case,
        seed=seed,
        layers=listed.layers,
        rounds=form.rounds,
        most_pairs=form.most_pairs,
        samples=samples,
        fit_samples=fitted,
        alarm=chances.of_a_bound + 2 * ACCEPTED,
        power=form.power,
    )
    if not case.tight and "bound" in listed.layers:
        report = AuditReport(report.name, (*report.findings, _half_the_noise(listed, thorough, seed)))
    return AuditLine(question, report, case.claimed, case.tight)


def _half_the_noise(listed: ListedCase, thorough: bool, seed: int) -> Finding:
    """Check that the same question with half its noise would be rejected on this pair by its samples."""
    case = listed.overspent(thorough=thorough)
    report = audit(
        case,
        seed=seed + 1,
        # Against the law, where it is known, fewer answers tell.
        layers=["bound"] if (case.law or case.outcomes) is None else ["fit"],
        rounds=0,
        samples=listed.thorough_samples if thorough else listed.samples,
        fit_samples=listed.thorough_fit_samples if thorough else listed.fit_samples,
        alarm=MUTANT_ALARM,
        power=None,
    )
    by = [f"{item.layer}, {item.check}" for item in report.findings if not item.passed]
    words = f"rejected by {', '.join(by)}" if by else "not rejected"
    return Finding("bound", "half the noise", bool(by), f"with half the noise it is {words}", power=True)


def _shared(names: list[str]) -> Iterator[tuple[str, Step]]:
    """Yield what is no question's case, with the name of its layer."""
    if STREAM in names:
        for name, parts in STREAMS.items():
            yield name, partial(_told, STREAM, name, partial(_parts, parts))
    if SHARED in names:
        yield "rate", partial(_told, SHARED, "rate", _rates)
        for faults, check in SYSTEM:
            layer = faults[0].layer
            yield layer, partial(_told, SHARED, layer, partial(_system, layer, check))
        yield from ((step.args[1], step) for step in _in_a_database(None))


def _in_a_database(postgres: Callable[[], str] | None) -> Iterator[partial[AuditLine]]:
    """Yield the layers that need a PostgreSQL database; without one they say so."""
    for faults, check in IN_A_DATABASE:
        name = f"{faults[0].layer} in PostgreSQL"

        def found(check: Callable[[str], Problems] = check) -> Problems:
            if postgres is None:
                raise LackingHere(NEEDS_POSTGRES)
            yield from check(postgres())

        yield partial(_told, SHARED, name, partial(_system, name, found))


def _told(about: str, name: str, step: Callable[[], AuditLine]) -> AuditLine:
    """Take an error of whatever is audited for a finding: it must not end the run, nor pass for nothing."""
    try:
        return step()
    except LackingHere as problem:
        return AuditLine(about, AuditReport(name, ()), why=str(problem))
    except Exception as problem:
        words = f"failed with {type(problem).__name__}: {problem}"
        return AuditLine(about, AuditReport(name, (Finding(name, "as it is", False, words),)))


def _parts(parts: StreamParts) -> AuditLine:
    return AuditLine(STREAM, parts.audit())


def _rates() -> AuditLine:
    problems = audit_rate(RateStep("as it is"))
    words = "; ".join(problems[:3]) or "no violation found; every charge that was tried buys no more than it"
    return AuditLine(SHARED, AuditReport("rate", (Finding("rate", "charge and rate", not problems, words),)))


def _system(layer: str, check: Check) -> AuditLine:
    problems = found_as_it_is(check)
    words = "; ".join(problems[:3]) or "no violation found"
    return AuditLine(SHARED, AuditReport(layer, (Finding(layer, "as it is", not problems, words),)))


def _faults(names: list[str]) -> Iterator[PlantedFault]:
    yield from planted_faults()
    for name in names:
        if name not in AUDITED and name not in (STREAM, SHARED):
            for mutant in audited(name).mutants:
                yield PlantedFault(name, mutant.name, mutant.layer, mutant.is_rejected)


def _one_of_each(faults: list[PlantedFault]) -> list[PlantedFault]:
    """Return the first fault of every layer of every question."""
    first: dict[tuple[str, str], PlantedFault] = {}
    for fault in faults:
        if fault.is_rejected is not None:
            first.setdefault((fault.about, fault.layer), fault)
    return list(first.values())


def _planted(fault: PlantedFault, *, run: bool) -> FaultLine:
    if fault.is_rejected is None:
        return FaultLine(fault.about, fault.name, fault.layer, None, NEEDS_POSTGRES)
    if not run:
        return FaultLine(fault.about, fault.name, fault.layer, None, "planted in the thorough form")
    try:
        return FaultLine(fault.about, fault.name, fault.layer, fault.is_rejected())
    except LackingHere as problem:
        return FaultLine(fault.about, fault.name, fault.layer, None, str(problem))
    except Exception as problem:  # it no longer fits into what it shall break, and so tests nothing
        why = f"failed with {type(problem).__name__} instead of being seen"
        return FaultLine(fault.about, fault.name, fault.layer, False, why)
