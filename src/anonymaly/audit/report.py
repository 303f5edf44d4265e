# SPDX-License-Identifier: Apache-2.0
"""All layers on one question, as plain data and plain words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy.typing as npt

from anonymaly.audit.bound import exact_loss, loss_bound, rarest_seen
from anonymaly.audit.case import Case
from anonymaly.audit.fit import ACCEPTED, fit_integers, fit_outcomes
from anonymaly.audit.ledger_trace import compare_ledgers
from anonymaly.audit.neighbours import Pair
from anonymaly.audit.replay import Replay, Run, replay
from anonymaly.audit.sampling import sample
from anonymaly.promise import Database

Layer = Literal["replay", "ledger", "fit", "bound"]
LAYERS: tuple[Layer, ...] = ("replay", "ledger", "fit", "bound")
ROUNDING = 1e-9  # laws in floats may miss ε by a few units of their last place
POWER = 0.85  # of ε must be seen where all of it is known to be lost


@dataclass(frozen=True)
class Finding:
    """What one check of one layer found.

    ``power`` findings are about the audit: they fail when it could not have seen a violation.
    """

    layer: str
    check: str
    passed: bool
    words: str
    power: bool = False
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "layer": self.layer,
            "check": self.check,
            "passed": self.passed,
            "words": self.words,
            "about": "audit" if self.power else "question",
            "numbers": dict(self.numbers),
        }


@dataclass(frozen=True)
class AuditReport:
    """All findings about one question."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no violation was found and the audit was able to find one."""
        return all(finding.passed for finding in self.findings)

    def rejected_by(self, layer: str) -> bool:
        """Say whether a layer found a violation; an audit without power has found none."""
        return any(not item.passed and not item.power for item in self.findings if item.layer == layer)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"name": self.name, "passed": self.passed, "findings": findings}

    def __str__(self) -> str:
        lines = [
            f"  {'ok  ' if item.passed else 'FAIL'}  {item.layer}: {item.check}: {item.words}"
            for item in self.findings
        ]
        return "\n".join([self.name, *lines])


def audit(
    case: Case,
    *,
    seed: int = 0,
    layers: Iterable[Layer] = LAYERS,
    rounds: int = 3,
    most_pairs: int | None = None,
    samples: int = 1_000_000,
    fit_samples: int = 100_000,
    alarm: float = 1e-6,
    power: float | None = POWER,
    thorough: bool = True,
) -> AuditReport:
    """Try to break a question's promise, and say what was found.

    Parameters
    ----------
    case : Case
        The question.
    seed : int
        Makes the audit repeatable.
    layers : iterable of {"replay", "ledger", "fit", "bound"}
        Which testers to run.
    rounds : int
        How many invented tables the replay layer changes, besides the case's own and the empty one.
    most_pairs : int, optional
        How many pairs are replayed at most: the first, which is the worst, and others of all kinds.
    samples, fit_samples : int
        How many answers confirm the bound on each table, and how many are fitted: some of the same.
    alarm : float
        The chance that a question that keeps its promise is rejected, all layers together. Answers are used
        twice, but the chances of two errors add up whether or not they depend on each other.
    power : float or None
        Which part of ε the bound must see on a tight pair; None asks for nothing, as with few samples.
    thorough : bool
        Whether to replay all pairs, rather than up to the first that shows a violation.

    Examples
    --------
    >>> from anonymaly.audit.cases.count import count_case
    >>> print(audit(count_case(epsilon="1"), layers=["fit"], fit_samples=1000))  # doctest: +ELLIPSIS
    count, records, add_remove, ε = 1
      ok    fit: law on the first table: no misfit found; ...
      ok    fit: law on the second table: no misfit found; ...
    """
    wanted = tuple(layers)
    findings: list[Finding] = []
    if "replay" in wanted:
        pairs = _some(case.pairs(seed=seed, rounds=rounds), most_pairs)
        # Some of the pairs need not reach what all of them reach.
        reached = power is not None and most_pairs is None
        findings += _replay(case, pairs, seed, reached=reached, thorough=thorough)
    if "ledger" in wanted:
        findings.append(_ledger(case))
    fits = "fit" in wanted and (case.law or case.outcomes) is not None
    confirmed = samples + samples // 4 if "bound" in wanted else 0
    drawn = _Answers(case, seed, max(confirmed, fit_samples if fits else 0))
    if fits:
        findings += _fit(case, drawn, fit_samples)
    if "bound" in wanted and case.outcomes is not None:
        findings += _exact(case, seed, rounds)
    if "bound" in wanted:
        # The two fits may be wrong once in a milliard each; the bound has what is left.
        findings += _bound(case, drawn, confirmed, alarm - 2 * ACCEPTED, power)
    return AuditReport(case.name, tuple(findings))


@dataclass(frozen=True)
class _Answers:
    """Answers on the two tables of the worst pair, drawn when they are first asked for."""

    case: Case
    seed: int
    most: int

    @cached_property
    def of(self) -> tuple[npt.NDArray[Any] | str, ...]:
        """The answers on either table, or what the question failed with."""
        return tuple(
            _sampled(self.case, records, self.most, 4 * self.seed + place)
            for place, records in enumerate(self.case.worst_pair)
        )


def _some(pairs: Iterator[Pair], most: int | None) -> Iterator[Pair]:
    """Yield the first pair, and others evenly from all the rest: they are listed by what was changed."""
    found = [] if most is None else list(pairs)
    if most is None or len(found) <= most:
        yield from found or pairs
        return
    step = (len(found) - 1) / (most - 1)
    yield from (found[round(place * step)] for place in range(most))


def _replay(case: Case, pairs: Iterable[Pair], seed: int, *, reached: bool, thorough: bool) -> list[Finding]:
    replays: list[Replay] = []
    known: dict[int, Run] = {}  # tables are shared between pairs, and live as long as the replays do
    for pair in pairs:
        replays.append(replay(case, pair, seed=seed, first=known.get(id(pair.first))))
        known[id(pair.first)] = replays[-1].first
        if not (thorough or replays[-1].clean):
            break
    broken = [
        f"{item.pair.kind} ({len(item.pair.first)} → {len(item.pair.second)} rows): {problem}"
        for item in replays
        for problem in item.problems
    ]
    failed = [item for item in replays if item.first.failure is not None]
    words = "; ".join(broken[:5]) or f"no violation found; {len(replays)} pairs of tables were replayed"
    findings = [
        Finding("replay", "same but for the summary", not broken, words, numbers={"pairs": len(replays)})
    ]
    if failed:
        words = f"failed on {len(failed)} tables, first with {failed[0].first.failure}"
        findings.append(Finding("replay", "answers every table", False, words))
    if case.tight and reached and not failed:
        findings += [_reach(case, replays, stage) for stage in case.sensitivity]
    return findings


def _reach(case: Case, replays: list[Replay], stage: str) -> Finding:
    """Check that the pairs exercise a stage: a summary that never changes was never tested."""
    largest = max(
        (
            item.distance(case, stage) / case.sensitivity[stage].limit(item.first.released_before(stage))
            for item in replays
        ),
        default=0.0,
    )
    words = f"the pairs reach {largest:.3g} of the declared sensitivity"
    return Finding(
        "replay", f"reach of stage {stage}", largest >= 1, words, power=True, numbers={"reach": largest}
    )


def _ledger(case: Case) -> Finding:
    first, second = case.worst_pair
    pairs = (Pair("the worst pair", first, second), Pair("the worst pair, turned round", second, first))
    differences = [text for pair in pairs for text in compare_ledgers(case, pair)]
    words = "; ".join(differences[:3]) or "no violation found; ledger and log are the same on the worst pair"
    return Finding("ledger", "same but for chance", not differences, words)


def _fit(case: Case, drawn: _Answers, samples: int) -> list[Finding]:
    findings = []
    for side, answers, records in zip(("first", "second"), drawn.of, case.worst_pair, strict=True):
        if isinstance(answers, str):
            return [Finding("fit", f"law on the {side} table", False, answers)]
        fitted = answers[:samples]
        if case.outcomes is not None:
            fit = fit_outcomes(fitted.tolist(), case.outcomes(records))
        else:
            assert case.law is not None  # noqa: S101 - checked by the caller
            fit = fit_integers(fitted, case.law(records))
        findings.append(
            Finding("fit", f"law on the {side} table", fit.fits, str(fit), numbers={"p_value": fit.p_value})
        )
    return findings


def _exact(case: Case, seed: int, rounds: int) -> list[Finding]:
    """Compute the loss on every pair, from laws that are known exactly."""
    assert case.outcomes is not None  # noqa: S101 - checked by the caller
    claimed, worst, count = case.claimed, 0.0, 0
    for pair in case.pairs(seed=seed, rounds=rounds):
        first, second = case.outcomes(pair.first), case.outcomes(pair.second)
        worst = max(worst, exact_loss(first, second))
        if case.direction == "both":
            worst = max(worst, exact_loss(second, first))
        count += 1
    passed = worst <= claimed * (1 + ROUNDING)
    found = "no violation found" if passed else "violation found"
    words = f"{found}; of ε = {claimed:g} exactly {worst:.4g} is lost on {count} pairs of tables"
    return [Finding("bound", "exact loss", passed, words, numbers={"claimed": claimed, "exact": worst})]


def _bound(case: Case, drawn: _Answers, count: int, alarm: float, power: float | None) -> list[Finding]:
    claimed = case.claimed
    first, second = drawn.of
    if isinstance(first, str) or isinstance(second, str):
        return [Finding("bound", "loss", False, first if isinstance(first, str) else str(second))]
    bound = loss_bound(first[:count], second[:count], alarm=alarm, direction=case.direction)
    numbers = {"claimed": claimed, "at_least": bound.epsilon}
    rarest = rarest_seen(bound.samples, claimed, alarm=alarm, direction=case.direction)
    if rarest is not None:
        numbers["one_in"] = rarest
    findings = [
        Finding("bound", "loss", not bound.violates(claimed), bound.finding(claimed), numbers=numbers)
    ]
    if case.tight and power is not None:
        seen = bound.epsilon / claimed
        words = f"{seen:.1%} of ε was seen, and {power:.0%} must be"
        findings.append(Finding("bound", "power", seen >= power, words, power=True, numbers={"seen": seen}))
    return findings


def _sampled(case: Case, records: Database, count: int, seed: int) -> npt.NDArray[Any] | str:
    """Return answers, or what the question failed with: a report outlives the question it is about."""
    try:
        return sample(case, records, count, seed=seed)
    except Exception as problem:
        return f"failed with {type(problem).__name__} instead of answering"
