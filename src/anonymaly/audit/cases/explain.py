# SPDX-License-Identifier: Apache-2.0
"""What ``explain`` claims, written from its GUARANTEE.md and not from its code, and its planted faults."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, product
from typing import Any, Literal, get_args

import numpy as np

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Outcomes, Sensitivity, absolute_difference
from anonymaly.audit.cases.choice import choice_law
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.neighbours import Pair
from anonymaly.audit.replay import equal
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.declare.rules import SameContexts
from anonymaly.detectors import DETECTORS
from anonymaly.detectors.local_outlier_factor import LocalOutlierFactor
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.explain.binding import ExplainBinding
from anonymaly.questions.explain.mechanism import SummarisedContexts, release_context
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.explain.summary import Summary
from anonymaly.questions.explain.value import Context

AuditedSearch = Literal["exact", "uniform", "random_walk", "depth_first", "breadth_first"]
Row = tuple[str, str, int]
Law = dict[str, float]
Known = Callable[[str, Collection[str], Mapping[str, int]], set[str]]  # what may be visited after the first
Release = Callable[[Summary, ExplainBinding, Noise], Context | None]

NOTHING = "nothing"  # the one constant outcome
DETECTOR = "grubbs"
VALUES: Mapping[str, tuple[str, ...]] = {"job": ("Nurse", "Clerk", "Doctor"), "city": ("Oslo", "Turin")}
HIGHEST = 100
COLUMNS: Mapping[str, Domain] = {
    **{name: Categories(values) for name, values in VALUES.items()},
    "pay": Interval(0, HIGHEST, step=1),
}
RECORD_PAY = 90
RECORD = {"job": "Nurse", "city": "Oslo", "pay": RECORD_PAY}
# So few that the law can be written down, and that missing every valid start is seen.
SAMPLES, STARTS, TRIES = 2, 2, 4
MANY_TRIES = 40  # of a search that has nothing but blind draws: with few it hardly ever has a choice


def _rows(job: str, city: str, pays: Sequence[int]) -> tuple[dict[str, Any], ...]:
    return tuple({"job": job, "city": city, "pay": pay} for pay in pays)


LOW, HIGH = (9, 10, 12, 13), (84, 88, 96)
# The record stands out among nurses of both cities, and among nurses and clerks of Oslo, not in all four
# cells: two valid contexts, neither in the other. Doctors are declared, and there is none.
RECORDS: Database = (
    RECORD,
    *_rows("Clerk", "Oslo", LOW),
    *_rows("Clerk", "Turin", HIGH),
    *_rows("Nurse", "Turin", LOW),
)
# With these it stands out in no context with doctors, which halves the valid contexts.
DOCTORS: Database = _rows("Doctor", "Oslo", HIGH)


@dataclass(frozen=True, eq=False)
class _Seen:
    """A summary that can be compared: its arrays one by one."""

    summary: Summary

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Seen):
            return NotImplemented
        return equal(dataclasses.asdict(self.summary), dataclasses.asdict(other.summary))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class ExplainCase(Case):
    """A case whose answers are written as the context's bits, and whose pairs have a valid context."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the stages with answers as text, which samples can be counted and sorted by."""
        return tuple(map(_written, super().stages(bound)))

    def pairs(self, *, seed: int, rounds: int) -> Iterator[Pair]:
        """Yield some pairs that generated ones may miss, then all those that have a valid context.

        Without one the answer is constant and draws no noise, which a replay takes for a fault; that the
        loss is 0 then needs no measuring.
        """
        assert self.valid_contexts is not None  # noqa: S101 - always given below
        for pair in chain(_special_pairs(self.adjacency), super().pairs(seed=seed, rounds=rounds)):
            valid = self.valid_contexts(None, pair.first)
            if valid and valid == self.valid_contexts(None, pair.second):
                yield pair


def explain_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    search: AuditedSearch = "exact",
    kind: type[Explain] = Explain,
) -> Case:
    """Return ``explain`` as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    search : {"exact", "uniform", "random_walk", "depth_first", "breadth_first"}
        The search.
    kind : type
        The question's type: ``Explain``, or a broken variant of it.

    Examples
    --------
    >>> case = explain_case(epsilon="1")
    >>> {bits: round(chance, 3) for bits, chance in case.outcomes(case.worst_pair[1]).items()}
    {'10011': 0.184, '11010': 0.816}
    """
    query = kind(
        record=RECORD,
        metric="pay",
        attributes=list(VALUES),
        detector=DETECTOR,
        search=search,
        samples=SAMPLES,
        starts=STARTS,
        tries=MANY_TRIES if search == "uniform" else TRIES,
        rule="groups",
        epsilon=epsilon,
    )
    draws, spread = _draws(search), _spread(adjacency)
    rate = float(to_fraction(query.cost) / Fraction(draws * spread))

    def outcomes(records: Database) -> Outcomes:
        """Judge every context by hand and draw among the valid ones: Lemmas 3 to 7."""
        utilities = _valid(records)
        return LAWS[search](utilities, rate) if utilities else {NOTHING: 1.0}

    return ExplainCase(
        name=f"explain, {search}, records, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        # The rest of the summary decides which contexts are valid, which neighbours have in common.
        sensitivity={"context": Sensitivity(spread, _change_of_counts)},
        worst_pair=_worst_pair(search, adjacency),
        # One draw between two contexts loses all of ε (Lemma 2); what begins blindly does so in no answer, or
        # in a rare one.
        tight=search == "exact",
        outcomes=outcomes,
        adjacency=adjacency,
        rules={"groups": SameContexts()},
        valid_contexts=_valid_contexts,
    )


def _draws(search: AuditedSearch) -> int:
    """Return how often utility is drawn by: where it steers, for a start, one more visit, and at the end."""
    return SAMPLES + 1 if search in STEERED else 1


def _spread(adjacency: Adjacency) -> int:
    """Return how far apart one person moves two utilities: Lemma 1, with a row for a person."""
    return 1 if adjacency == "add_remove" else 2


def _written(stage: Stage) -> Stage:
    def release(seen: Any, released: Released, noise: Any) -> str:
        context: Context | None = stage.release(seen.summary, released, noise)
        return NOTHING if context is None else context.bits

    return dataclasses.replace(
        stage, summarise=lambda table, released: _Seen(stage.summarise(table, released)), release=release
    )


def _change_of_counts(first: _Seen, second: _Seen) -> float:
    return absolute_difference(first.summary.counts.others, second.summary.counts.others)


def _worst_pair(search: AuditedSearch, adjacency: Adjacency) -> tuple[Database, Database]:
    clerk, doctor = _rows("Clerk", "Oslo", [11]), _rows("Doctor", "Turin", [11])
    if search in ("exact", "uniform"):
        # From a tie of two contexts to a lead of the clerks', by one record, or by two where another leaves.
        table = (*DOCTORS, *RECORDS)
        return table, (*(table if adjacency == "add_remove" else table[:-1]), *clerk)
    if search == "random_walk":
        # From a tie of two contexts that are neighbours to a lead of one of them.
        return RECORDS, (*(RECORDS if adjacency == "add_remove" else RECORDS[:-1]), *doctor)
    # From a tie of three of four contexts, which have neighbours, to a lead of one that was not the first.
    table = (*RECORDS, *doctor)
    return (*table, *clerk), (*table, *(clerk if adjacency == "add_remove" else ()), *doctor)


def _special_pairs(adjacency: Adjacency) -> Iterator[Pair]:
    absent, not_a_number = ({"job": "Nurse", "city": "Turin", "pay": pay} for pay in (None, math.nan))
    yield Pair("NaN for null", (*RECORDS, absent), (*RECORDS, not_a_number), same=True)
    doctor = _rows("Doctor", "Turin", [11])
    if adjacency == "add_remove":
        yield Pair("first record of a value added", RECORDS, (*RECORDS, *doctor))
        yield Pair("last record of a value removed", (*RECORDS, *doctor), RECORDS)
    else:
        yield Pair("replaced by the first record of a value", RECORDS, (*RECORDS[:-1], *doctor))


def _read(record: Mapping[str, Any]) -> Row | None:
    """Return a record on the declared grid, or None if it is in no context."""
    job, city, pay = (record.get(name) for name in COLUMNS)
    if job not in VALUES["job"] or city not in VALUES["city"] or pay is None or math.isnan(pay):
        return None
    return job, city, math.floor(min(max(pay, 0), HIGHEST) + 0.5)


def _valid(records: Database) -> dict[str, int]:
    """Return every valid context's bits and population, by filtering rows and asking the plain detector."""
    rows = [row for row in map(_read, records) if row is not None]
    asked = _read(RECORD)
    found = {}
    for bits in map("".join, product("01", repeat=sum(map(len, VALUES.values())))):
        chosen = iter(bits)
        jobs, cities = ([value for value in values if next(chosen) == "1"] for values in VALUES.values())
        inside = [row for row in rows if row[0] in jobs and row[1] in cities]
        if asked in inside and DETECTORS[DETECTOR].is_outlier(
            np.array([row[2] for row in inside], np.int64), inside.index(asked)
        ):
            found[bits] = len(inside)
    return found


def _valid_contexts(question: Any, records: Database) -> Collection[str]:
    return frozenset(_valid(records))


CONTEXTS = math.prod(2 ** (len(values) - 1) for values in VALUES.values())


def _uniform(utilities: Mapping[str, int], rate: float) -> Law:
    """Return the law of blind draws until two valid contexts are found, and of the draw between them."""
    found: dict[frozenset[str], float] = {frozenset(): 1.0}
    for _ in range(MANY_TRIES):
        after: dict[frozenset[str], float] = {}
        for held, chance in found.items():
            fresh = [] if len(held) == SAMPLES else [bits for bits in utilities if bits not in held]
            after[held] = after.get(held, 0.0) + chance * (1 - len(fresh) / CONTEXTS)
            for bits in fresh:
                after[held | {bits}] = after.get(held | {bits}, 0.0) + chance / CONTEXTS
        found = after
    return _last([(set(held), chance) for held, chance in found.items()], utilities, rate)


def _random_walk(utilities: Mapping[str, int], rate: float) -> Law:
    """Return the law of a blind start, a blind step to a valid neighbour, and the draw between the two."""
    missed = (1 - len(utilities) / CONTEXTS) ** TRIES
    met: list[tuple[set[str], float]] = [(set(), missed)]
    for first in utilities:
        near = [bits for bits in utilities if _differing(bits, first) == 1]
        chance = (1 - missed) / len(utilities)
        met += [({first, second}, chance / len(near)) for second in near] or [({first}, chance)]
    return _last(met, utilities, rate)


def _steered(known: Known, utilities: Mapping[str, int], rate: float) -> Law:
    """Return the law of two blind starts, two visits chosen by utility, and the last draw between them."""
    missed = (1 - len(utilities) / CONTEXTS) ** TRIES
    # Another than the first start is met unless all further draws miss the others.
    alone = (1 - (len(utilities) - 1) / CONTEXTS) ** TRIES
    visits: list[tuple[set[str], float]] = [(set(), missed)]
    for first in utilities:
        others = [bits for bits in utilities if bits != first]
        begun = [((first,), alone), *(((first, other), (1 - alone) / len(others)) for other in others)]
        for starts, chance in begun:
            begins = (1 - missed) / len(utilities) * chance
            visits += [
                (visited, begins * share) for visited, share in _visits(known, starts, utilities, rate)
            ]
    return _last(visits, utilities, rate)


def _visits(
    known: Known, starts: Sequence[str], utilities: Mapping[str, int], rate: float
) -> Iterator[tuple[set[str], float]]:
    """Yield what may be visited: one of the starts, and one of those that are known then."""
    for first, chance in choice_law({bits: utilities[bits] for bits in starts}, rate).items():
        near = known(first, starts, utilities)
        if not near:
            yield {first}, chance
            continue
        for second, share in choice_law({bits: utilities[bits] for bits in near}, rate).items():
            yield {first, second}, chance * share


def _breadth_first(first: str, starts: Collection[str], utilities: Mapping[str, int]) -> set[str]:
    """Return the valid neighbours and the other starts."""
    return _depth_first(first, (), utilities) | set(starts) - {first}


def _depth_first(first: str, starts: Collection[str], utilities: Mapping[str, int]) -> set[str]:
    """Return the valid neighbours, and the other starts where there is none."""
    near = {bits for bits in utilities if _differing(bits, first) == 1}
    return near or set(starts) - {first}


def _last(visited: Iterable[tuple[set[str], float]], utilities: Mapping[str, int], rate: float) -> Law:
    """Return the law of the draw at the end, from what was met with which chance."""
    law: Law = {}
    for met, chance in visited:
        drawn = choice_law({bits: utilities[bits] for bits in met}, rate) if met else {NOTHING: 1.0}
        for answer, share in drawn.items():
            law[answer] = law.get(answer, 0.0) + chance * share
    return {answer: chance for answer, chance in law.items() if chance}


def _differing(first: str, second: str) -> int:
    return sum(one != other for one, other in zip(first, second, strict=True))


STEERED: Mapping[str, Known] = {"depth_first": _depth_first, "breadth_first": _breadth_first}
LAWS: Mapping[str, Callable[[Mapping[str, int], float], Law]] = {
    "exact": choice_law,
    "uniform": _uniform,
    "random_walk": _random_walk,
    **{search: partial(_steered, known) for search, known in STEERED.items()},
}


# ---- planted faults --------------------------------------------------------------------------------------

SMALL = 6  # the populations of the worst pair's contexts are on both sides of it


def _released(release: Release, **options: Any) -> Case:
    """Return the case of an explain that releases in another way; its claims stay those of the real one."""

    class BrokenExplain(Explain):
        def stages(self, bound: Any) -> tuple[Stage, ...]:
            return tuple(
                dataclasses.replace(
                    stage, release=lambda summary, released, noise: release(summary, bound, noise)
                )
                for stage in super().stages(bound)
            )

    return explain_case(**{"epsilon": "1", **options, "kind": BrokenExplain})


def _twice_the_rate(summary: Summary, bound: ExplainBinding, noise: Noise) -> Context | None:
    return release_context(summary, dataclasses.replace(bound, rate=2 * bound.rate), noise)


def _steered_start(summary: Summary, bound: ExplainBinding, noise: Noise) -> Context | None:
    """Begin at the best valid context instead of blind ones."""
    contexts = SummarisedContexts(summary, bound)
    every = np.arange(bound.space.size, dtype=np.int64)
    valid = every[contexts.valid(every)]
    if not len(valid):
        return None
    best = int(valid[np.argmax(contexts.utilities()[valid])])
    settings = dataclasses.replace(bound.settings, start=best, starts=1)
    return release_context(summary, dataclasses.replace(bound, settings=settings), noise)


def _domain_from_data(summary: Summary, bound: ExplainBinding, noise: Noise) -> Context | None:
    """Choose among contexts of values that occur, instead of all that are declared."""
    counts = summary.counts.others.reshape(bound.space.sizes)
    occurring = []
    for axis, own in enumerate(bound.space.own):
        seen = np.moveaxis(counts, axis, 0).reshape(counts.shape[axis], -1).any(axis=1)
        occurring.append(1 << own | sum(1 << int(value) for value in np.flatnonzero(seen)))
    contexts = SummarisedContexts(summary, bound)
    every = np.arange(bound.space.size, dtype=np.int64)
    known = np.array(
        [
            all(mask & ~seen == 0 for mask, seen in zip(bound.space.masks(index), occurring, strict=True))
            for index in range(bound.space.size)
        ]
    )
    candidates, valid = every[known], contexts.valid(every)[known]
    if not (summary.counts.present and valid.any()):
        return None
    chosen = candidates[noise.choose(contexts.utilities()[known], bound.rate, valid=valid)]
    return Context.of(bound.attributes, bound.space.masks(int(chosen)))


def _withheld_when_small(summary: Summary, bound: ExplainBinding, noise: Noise) -> Context | None:
    """Keep back a group of few records, as if that were safer: it gives its exact population away."""
    context = release_context(summary, bound, noise)
    if context is None:
        return None
    population = SummarisedContexts(summary, bound).utilities()[bound.space.index_of_bits(context.bits)]
    return context if population >= SMALL else None


def _reused() -> Case:
    kept: list[Context | None] = []

    def release(summary: Summary, bound: ExplainBinding, noise: Noise) -> Context | None:
        if not kept:
            kept.append(release_context(summary, bound, noise))
        return kept[0]

    return _released(release)


def _fixed_seed(summary: Summary, bound: ExplainBinding, noise: Noise) -> Context | None:
    return release_context(summary, bound, Noise.seeded(7))


def _up_to(most: int) -> Release:
    """Refuse more records than sums of 64 bits hold: after the charge, where one row more shows."""

    def release(summary: Summary, bound: ExplainBinding, noise: Noise) -> Context | None:
        if int(summary.counts.others.sum()) > most:
            raise ValueError("too many records")
        return release_context(summary, bound, noise)

    return release


def _limited() -> Case:
    """Return the case of a limit that the larger table of the worst pair is above, and the smaller is not."""
    fewer = min(len(table) for table in explain_case(epsilon="1").worst_pair)
    return _released(_up_to(fewer - 1))


class _AnyNumber(LocalOutlierFactor):
    """Takes 2.5 neighbours, and fails where there is a record whose neighbours it shall count."""

    def __post_init__(self) -> None:
        pass


class _AndAHalf(float):
    """A number that is no whole one, and whose double is: so many values can be read."""

    def __rmul__(self, other: float) -> int:  # type: ignore[misc]  # of a float, on purpose
        return int(other * float(self))


def neighbours_case(k: Any = 2, kind: type[LocalOutlierFactor] = LocalOutlierFactor) -> Case:
    """Return the case of a record that stands out nowhere: whether it is there, at all, must not show.

    All pays are equal, and the factor of a value whose neighbours are all equal to it is 1.
    """

    class LooseExplain(Explain):
        def bind(self, declaration: Declaration) -> Binding:
            bound = super().bind(declaration)
            assert isinstance(bound, ExplainBinding)  # noqa: S101 - what bind returns
            return dataclasses.replace(bound, detector=kind(k=k))

    case = explain_case(epsilon="1", kind=LooseExplain)
    crowd = _rows("Clerk", "Oslo", [RECORD_PAY] * 4)
    return dataclasses.replace(
        case,
        query=case.query.model_copy(update={"detector": "lof", "parameters": (("k", 2), ("threshold", 1.5))}),
        worst_pair=((*crowd, RECORD), crowd),
        rules={"groups": SameContexts(detectors={"lof": {"k": [k]}})},
        valid_contexts=lambda question, records: (),
    )


def _listed(search: AuditedSearch, adjacency: Adjacency) -> ListedCase:
    build = partial(explain_case, adjacency=adjacency, search=search)
    if search == "exact":
        return ListedCase(build, samples=13_000, thorough_samples=400_000, thorough_fit_samples=50_000)
    # So much that every draw has the rate 1: half the noise then makes the largest difference.
    whole = str(_draws(search) * _spread(adjacency))
    return ListedCase(
        build,
        samples=1_000,
        thorough_samples=20_000,
        fit_samples=1_500,
        thorough_fit_samples=50_000,
        epsilon=whole,
        thorough_epsilon=whole,
    )


EXPLAIN_CASES: tuple[ListedCase, ...] = (
    *(
        _listed(search, adjacency)
        for adjacency, search in product(get_args(Adjacency), get_args(AuditedSearch))
    ),
    # A detector with a parameter: whether the record is there shows neither in the ledger nor in the log.
    ListedCase(lambda epsilon: neighbours_case(), layers=("ledger",)),
)
EXPLAIN_MUTANTS: tuple[Mutant, ...] = (
    Mutant("rate × 2", "bound", lambda: _released(_twice_the_rate), samples=1_000),
    # Twice the rate is just what add/remove would have bought.
    Mutant(
        "replace charged like add/remove",
        "bound",
        lambda: _released(_twice_the_rate, adjacency="replace"),
        samples=1_000,
    ),
    # The loss of these two has no bound: few samples show it.
    Mutant(
        "start steered by utility",
        "bound",
        lambda: _released(_steered_start, search="breadth_first"),
        samples=300,
    ),
    Mutant("domain from data", "replay", lambda: _released(_domain_from_data)),
    Mutant("withheld when small", "bound", lambda: _released(_withheld_when_small), samples=300),
    Mutant("noise reused for a second answer", "replay", _reused),
    Mutant("fixed seed: given noise not used", "replay", lambda: _released(_fixed_seed)),
    Mutant("a limit on rows that is met after the charge", "replay", _limited),
    Mutant(
        "a parameter that fails after the charge",
        "ledger",
        lambda: neighbours_case(_AndAHalf(2.5), _AnyNumber),
    ),
)
