# SPDX-License-Identifier: Apache-2.0
"""What ``share-ngrams`` claims, written from GUARANTEE.md rather than from code, and broken variants."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Outcomes, Sensitivity
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.recording import DATA_ARGUMENTS
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Flag, Interval
from anonymaly.declare.publication import Publication
from anonymaly.declare.readings import non_sensitive
from anonymaly.declare.rules import Policy
from anonymaly.engine import lookup
from anonymaly.engine.columns import NON_SENSITIVE
from anonymaly.engine.view import is_kept, numbered
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.share_ngrams.mechanism import release_one_sided
from anonymaly.questions.share_ngrams.query import ShareNgrams
from anonymaly.questions.share_ngrams.summary import SequenceCounts
from anonymaly.questions.share_ngrams.value import ReleasedNgrams

if TYPE_CHECKING:
    import ibis.expr.types as ir

WARDS, LENGTH, MOST, ROWS = ("A", "B"), 2, 2, 2
CAP = 3  # counts above it are looked at as one
COLUMNS: Mapping[str, Domain] = {
    # Ward first: of rows that are cut off by content, those of B go first.
    "ward": Categories(WARDS),
    "day": Interval(0, 30),
    "consent": Flag(),
}
RULES = {"agreed": Policy("consent")}
# How many draws there are depends on how many sequences somebody has, as it must.
SIZES = MappingProxyType({**DATA_ARGUMENTS, "one_sided_geometric": frozenset({"size"})})
Counts = Mapping[int, int]


def _row(name: str | None, day: Any, ward: Any, consent: Any = True) -> dict[str, Any]:
    return {"name": name, "day": day, "ward": ward, "consent": consent}


def _way(name: str, wards: str, consent: Any = True) -> Database:
    return tuple(_row(name, day, ward, consent) for day, ward in enumerate(wards))


RECORDS: Database = (
    *_way("Ada", "ABBA"),
    # Of one moment; and of a person of whose rows one is sensitive.
    _row("Bob", 3, "B"),
    _row("Bob", 3, "A"),
    _row("Cem", 1, "A"),
    _row("Cem", 2, "B", consent=None),
    _row("Dee", 1, "A"),
    _row("Dee", 2, "Z"),
    _row(None, 1, "B"),
    _row("Eva", None, "A"),
)
# Under a policy another is there all along, so that neither answer is certain.
STAYS, COMES, HIDDEN = _way("Lou", "ABA"), _way("Kit", "ABA"), _way("Ida", "B", consent=False)


class _NgramsCase(Case):
    """The case, with counts by sequence, and answers written as texts that can be counted."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        (stage,) = super().stages(bound)

        def summarise(table: ir.Table, released: Released) -> Counts:
            counts: SequenceCounts = stage.summarise(table, released)
            return dict(zip(counts.cells.tolist(), counts.persons.tolist(), strict=True))

        def release(seen: Counts, released: Released, noise: Any) -> str:
            cells, persons = (np.array(list(items), np.int64) for items in (seen.keys(), seen.values()))
            value: ReleasedNgrams = stage.release(SequenceCounts(cells, persons), released, noise)
            return _text(dict(zip(value.cells.tolist(), value.counts.tolist(), strict=True)), WATCHED)

        return (Stage(stage.name, summarise, release),)


def ngrams_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    policy: str | None = None,
    kind: type[ShareNgrams] = ShareNgrams,
) -> Case:
    """Return ``share-ngrams`` as an audit sees it: sequences of up to two of two wards, two of a person.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    policy : str, optional
        Whose sequences count; without it, those of everyone.
    kind : type
        The question's type: ``ShareNgrams``, or a broken variant of it.

    Examples
    --------
    >>> case = ngrams_case(epsilon="1", policy="agreed")
    >>> {text: round(chance, 3) for text, chance in case.outcomes(case.worst_pair[0]).items()}
    {'- -': 0.368, '- 1': 0.239, '1 -': 0.239, '1 1': 0.155}
    """
    query = kind(
        place=["ward"],
        order="day",
        length=LENGTH,
        per_person=MOST,
        policy=policy,
        threshold=1,
        epsilon=epsilon,
    )
    moves = MOST if policy or adjacency == "add_remove" else 2 * MOST
    rate = float(to_fraction(query.cost)) / moves

    def outcomes(records: Database) -> Outcomes:
        """Count by hand, and draw each watched count by itself: Lemmas 2 and 3."""
        counts = _counts(records, policy)
        law = _one_sided if policy else _two_sided
        laws = [law(counts.get(cell, 0), rate) for cell in WATCHED]
        return {
            " ".join(texts): math.prod(part[text] for part, text in zip(laws, texts, strict=True))
            for texts in product(*laws)
        }

    stays: Database = STAYS if policy else ()
    goes: Database = () if adjacency == "add_remove" else HIDDEN
    return _NgramsCase(
        name=f"share-ngrams, {policy or 'everyone'}, persons, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        sensitivity={"ngrams": Sensitivity(moves, _growth) if policy else Sensitivity(moves)},
        worst_pair=((*stays, *goes), (*stays, *COMES)),
        # A replaced person moves counts of two, and of the one who goes none is watched.
        tight=policy is not None or adjacency == "add_remove",
        direction="forward" if policy else "both",
        outcomes=outcomes,
        adjacency=adjacency,
        person="name",
        max_rows=ROWS,
        rules=RULES,
        data_arguments=SIZES,
    )


def _mixed(cell: int) -> int:
    """Return the public order of sequences, in plain integers."""
    prime, low = 2**31 - 1, cell % 2**31
    mixed = (cell // 2**31 * 741_103_597 + low * 887_987_685 + 538_113_041) % prime
    mixed = (mixed**2 + 262_147_003) % prime
    mixed = (mixed * 1_019_834_119 + low) % prime
    return (mixed**2 + 99_194_853) % prime


def _chosen(rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return which sequences of a person count: T(u) of GUARANTEE.md."""
    known = [row for row in rows if row["day"] is not None and math.isfinite(row["day"])]
    places = [WARDS.index(row["ward"]) if row["ward"] in WARDS else -1 for row in known]
    way = [place for _, place in sorted(zip((row["day"] for row in known), places, strict=True))]
    cells = {place for place in way if place >= 0}
    for first, second in pairwise(way):
        if first >= 0 and second >= 0:
            cells.add(len(WARDS) + first * len(WARDS) + second)
    return sorted(cells, key=lambda cell: (_mixed(cell), cell))[:MOST]


def _counts(records: Database, policy: str | None) -> Counts:
    persons: dict[Any, list[Mapping[str, Any]]] = {}
    for place, row in enumerate(records):
        persons.setdefault(("row", place) if row.get("name") is None else row["name"], []).append(row)
    counted = [
        rows for rows in persons.values() if policy is None or not any(_sensitive(row) for row in rows)
    ]
    return Counter(cell for rows in counted for cell in _chosen(rows))


def _sensitive(row: Mapping[str, Any]) -> bool:
    return row["consent"] is not True or row["ward"] not in (None, *WARDS)


WATCHED = tuple(_chosen(COMES))


def _text(published: Counts, watched: Sequence[int]) -> str:
    return " ".join(str(min(published[cell], CAP)) if cell in published else "-" for cell in watched)


def _one_sided(count: int, rate: float) -> dict[str, float]:
    """Return what a count is published as under a policy, from 1 on: Lemma 2."""
    law = {"-": math.exp(-rate * count)}
    for left in range(1, count + 1):
        text = str(min(left, CAP))
        law[text] = law.get(text, 0.0) - math.expm1(-rate) * math.exp(-rate * (count - left))
    return law


def _two_sided(count: int, rate: float) -> dict[str, float]:
    """Return what a count is published as for everyone, from 1 on: Lemma 3."""

    def at_least(value: int) -> float:
        tail = math.exp(-rate * abs(value - count)) / (1 + math.exp(-rate))
        return tail if value >= count else 1 - tail * math.exp(-rate)

    law = {"-": 1 - at_least(1), str(CAP): at_least(CAP)}
    return law | {str(value): at_least(value) - at_least(value + 1) for value in range(1, CAP)}


def _growth(first: Counts, second: Counts) -> float:
    """Return how many counts came; infinite if one fell, which a one-sided promise must not show."""
    before, after = Counter(first), Counter(second)
    return math.inf if before - after else (after - before).total()


def _changed(change: Callable[[Stage, Any], Stage], **options: Any) -> Case:
    """Return the case of a question with another stage; its claims stay those of the real one."""

    class BrokenNgrams(ShareNgrams):
        def stages(self, bound: Any) -> tuple[Stage, ...]:
            (stage,) = super().stages(bound)
            return (change(stage, bound),)

    return ngrams_case(**{"epsilon": "1", **options, "kind": BrokenNgrams})


def _every_sequence(stage: Stage, bound: Any) -> Stage:
    """Count all sequences of a person."""
    (loose,) = ShareNgrams.stages(bound.query, dataclasses.replace(bound, per_person=10**6))
    return dataclasses.replace(stage, summarise=loose.summarise)


def _whole_rate(stage: Stage, bound: Any) -> Stage:
    """Forget that a person has several sequences."""
    (fast,) = ShareNgrams.stages(bound.query, dataclasses.replace(bound, rate=MOST * bound.rate))
    return dataclasses.replace(stage, release=fast.release)


def _only_occupied(stage: Stage, bound: Any) -> Stage:
    """Noise the sequences that somebody has, and publish none of the others."""

    def release(counts: SequenceCounts, released: Released, noise: Noise) -> ReleasedNgrams:
        noisy = noise.add_two_sided_geometric(counts.persons, bound.rate)
        kept = noisy >= bound.threshold
        return ReleasedNgrams(bound.place, LENGTH, bound.threshold, counts.cells[kept], noisy[kept])

    return dataclasses.replace(stage, release=release)


def _one_sided_for_everyone(stage: Stage, bound: Any) -> Stage:
    def release(counts: SequenceCounts, released: Released, noise: Noise) -> ReleasedNgrams:
        cells, noisy = release_one_sided(counts, bound.threshold, bound.rate, noise)
        return ReleasedNgrams(bound.place, LENGTH, bound.threshold, cells, noisy)

    return dataclasses.replace(stage, release=release)


class _RowsCutOff(Dataset):
    """Cuts rows off, as for other questions, so that rows become neighbours that are none."""

    def whole(self, policy: Policy | Publication | None) -> ir.Table:
        view = super().whole(policy)
        placed = numbered(view, self.declaration.kinds, lookup.of(view))
        return placed.filter(is_kept(placed, self.declaration.rows)).select(*view.columns)


class _RowByRow(Dataset):
    """Judges each row of a person by itself, and forgets the sensitive one."""

    def whole(self, policy: Policy | Publication | None) -> ir.Table:
        view = super().whole(None)
        if policy is None:
            return view
        return view.mutate(**{NON_SENSITIVE: non_sensitive(policy, view, self.declaration.columns)})


def _of_dataset(kind: type[Dataset], **options: Any) -> Case:
    return dataclasses.replace(ngrams_case(epsilon="4", **options), dataset_type=kind)


SHARE_NGRAMS_CASES: tuple[ListedCase, ...] = tuple(
    ListedCase(
        partial(ngrams_case, adjacency=adjacency, policy=policy),
        samples=6_500,
        thorough_samples=40_000,
        fit_samples=1_000,
        thorough_fit_samples=20_000,
    )
    for adjacency, policy in product(get_args(Adjacency), (None, "agreed"))
)
SHARE_NGRAMS_MUTANTS: tuple[Mutant, ...] = (
    Mutant("all sequences of a person count", "replay", lambda: _changed(_every_sequence)),
    Mutant(
        "all sequences of a harmless person count",
        "replay",
        lambda: _changed(_every_sequence, policy="agreed"),
    ),
    Mutant("rows cut off in place of sequences", "fit", lambda: _of_dataset(_RowsCutOff), 400),
    Mutant("a person judged row by row", "replay", lambda: _of_dataset(_RowByRow, policy="agreed")),
    Mutant("sequences that nobody has stay away", "bound", lambda: _changed(_only_occupied), samples=400),
    Mutant("one-sided noise for everyone", "bound", lambda: _changed(_one_sided_for_everyone), samples=400),
    Mutant("noise as if a person had one sequence", "fit", lambda: _changed(_whole_rate, epsilon="2"), 2_000),
)
