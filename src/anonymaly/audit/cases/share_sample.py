# SPDX-License-Identifier: Apache-2.0
"""What ``share-sample`` and ``share-histogram`` claim, written from GUARANTEE.md rather than from code."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, permutations
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Outcomes, Sensitivity
from anonymaly.audit.recording import DATA_ARGUMENTS
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.declare.dataset import Adjacency
from anonymaly.declare.domain import Categories, Domain, Flag, Interval
from anonymaly.declare.rules import Policy
from anonymaly.promise import Database
from anonymaly.questions.share_histogram.query import ShareHistogram
from anonymaly.questions.share_histogram.summary import Cells
from anonymaly.questions.share_sample.query import ShareSample

POLICY = "age >= 18 and consent"
COLUMNS: Mapping[str, Domain] = {
    "age": Interval(0, 120),
    "ward": Categories(["A", "B", "C"]),
    "consent": Flag(),
}
RULES = {"adults": Policy(POLICY)}


def _row(age: Any, ward: Any, consent: Any, name: str | None = None) -> dict[str, Any]:
    return {"age": age, "ward": ward, "consent": consent, "name": name}


RECORDS: Database = (
    _row(71, "A", True, "Ada"),
    _row(16, "A", True, "Ada"),
    _row(80, "B", True, "Bob"),
    _row(None, "C", True, "Cem"),
    _row(150, "A", True, "Dee"),
)
CHILD, ADULT, OTHER = _row(8, "B", True, "Ida"), _row(30, "A", True, "Jo"), _row(50, "B", True, "Kit")
# How many coins are flipped, and how many records put in order, depends on what is there, as it must.
SIZES = MappingProxyType(
    {**DATA_ARGUMENTS, "bernoulli": frozenset({"size"}), "permutation": frozenset({"size"})}
)


@dataclass(frozen=True)
class ShareCase(Case):
    """A case whose stages are written so that answers can be counted and summaries compared."""

    written: Callable[[Stage], Stage] = dataclasses.field(default=lambda stage: stage)

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the stages as they are written for the audit."""
        return tuple(map(self.written, super().stages(bound)))


def sample_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    max_rows: int | None = None,
    kind: type[ShareSample] = ShareSample,
) -> Case:
    """Return ``share-sample`` as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    max_rows : int, optional
        Protect persons of up to so many rows; rows without it.
    kind : type
        The question's type: ``ShareSample``, or a broken variant of it.

    Examples
    --------
    >>> case = sample_case(epsilon="1")
    >>> {text: round(chance, 3) for text, chance in case.outcomes(case.worst_pair[1]).items()}
    {'': 0.135, 'B': 0.233, 'A': 0.233, 'BA': 0.2, 'AB': 0.2}
    """
    rows = max_rows or 1
    person = None if max_rows is None else "name"
    query = kind(policy="adults", columns=["ward"], epsilon=epsilon)
    kept = -math.expm1(-float(to_fraction(query.cost)) / rows)

    def outcomes(records: Database) -> Outcomes:
        """Judge by hand, and keep each record with 1 − e^-ε; every order is equally likely: Lemmas S1, S2."""
        wards = _wards(records, person)
        law: dict[str, float] = {}
        subsets = chain.from_iterable(combinations(wards, size) for size in range(len(wards) + 1))
        for chosen in subsets:
            chance = kept ** len(chosen) * (1 - kept) ** (len(wards) - len(chosen))
            orders = Counter("".join(order) for order in permutations(chosen))
            for text, times in orders.items():
                law[text] = law.get(text, 0.0) + chance * times / math.factorial(len(chosen))
        return law

    unit = f"persons with up to {rows} rows" if person else "records"
    first, second = _worst_pair(adjacency, rows)
    return ShareCase(
        name=f"share-sample, {unit}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        sensitivity={"sample": Sensitivity(rows, _growth)},
        worst_pair=(first, second),
        direction="forward",
        outcomes=outcomes,
        adjacency=adjacency,
        person=person,
        max_rows=max_rows,
        rules=RULES,
        data_arguments=SIZES,
        written=_written_sample,
    )


def histogram_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    method: str = "hybrid",
    kind: type[ShareHistogram] = ShareHistogram,
) -> Case:
    """Return ``share-histogram`` as an audit sees it, by ward.

    Examples
    --------
    >>> len(histogram_case(epsilon="1", adjacency="replace").worst_pair[0])
    2
    """
    query = kind(by=["ward"], policy="adults", method=method, epsilon=epsilon)
    return ShareCase(
        name=f"share-histogram, {method}, records, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        # In the replace form a record leaves one cell and another comes to a cell.
        sensitivity={"histogram": Sensitivity(1 if adjacency == "add_remove" else 2, _moved)},
        worst_pair=_worst_pair(adjacency, 1),
        # What is smoothed after noise was added shows less of it.
        tight=False,
        direction="forward",
        adjacency=adjacency,
        rules=RULES,
        written=_written_histogram,
    )


def _worst_pair(adjacency: Adjacency, rows: int) -> tuple[Database, Database]:
    """Return a pair between which as many harmless records as possible come, from nobody or a child."""
    # Another adult is there all along, so that neither answer is certain.
    before = (OTHER,) if adjacency == "add_remove" else (OTHER, CHILD)
    return before, (OTHER, *[ADULT] * rows)


def _sensitive(row: Mapping[str, Any]) -> bool:
    age = row["age"]
    known = age is not None and not math.isnan(age) and 0 <= age <= 120
    return not (known and age >= 18 and row["consent"] is True)


def _wards(records: Database, person: str | None) -> list[str]:
    """Return the wards of those that are not sensitive; a person is if any of their rows is."""
    owner = [None if person is None else row.get(person) for row in records]
    bad = {name for name, row in zip(owner, records, strict=True) if name is not None and _sensitive(row)}
    return [
        _letter(row["ward"])
        for name, row in zip(owner, records, strict=True)
        if name not in bad and not _sensitive(row)
    ]


def _letter(ward: str | None) -> str:
    return "-" if ward is None else ward[0]


@dataclass(frozen=True)
class _Seen:
    """The records that a release starts from, in an order of their own: only which they are matters."""

    wards: tuple[str, ...]
    records: pa.Table = dataclasses.field(compare=False)


def _written_sample(stage: Stage) -> Stage:
    def summarise(table: Any, released: Released) -> _Seen:
        records = stage.summarise(table, released).read_all().sort_by("ward").combine_chunks()
        return _Seen(_letters(records), records)

    def release(seen: _Seen, released: Released, noise: Any) -> str:
        sample = stage.release(seen.records.to_reader(), released, noise)
        return "".join(_letters(sample.to_arrow()))

    return dataclasses.replace(stage, summarise=summarise, release=release)


def _letters(records: pa.Table) -> tuple[str, ...]:
    return tuple(map(_letter, records.column("ward").to_pylist()))


def _growth(first: _Seen, second: _Seen) -> float:
    """Return how many records came; infinite if one went, which a one-sided promise must not show."""
    before, after = Counter(first.wards), Counter(second.wards)
    return math.inf if before - after else (after - before).total()


def _written_histogram(stage: Stage) -> Stage:
    def summarise(table: Any, released: Released) -> dict[str, Any]:
        cells: Cells = stage.summarise(table, released)
        return {"every": cells.every, "non_sensitive": cells.non_sensitive}

    def release(seen: Mapping[str, Any], released: Released, noise: Any) -> list[float]:
        estimates: list[float] = stage.release(Cells(**seen), released, noise).estimates.tolist()
        return estimates

    return dataclasses.replace(stage, summarise=summarise, release=release)


def _moved(first: Mapping[str, Any], second: Mapping[str, Any]) -> float:
    """Return by how much all counts moved; infinite if a non-sensitive one fell."""
    if (second["non_sensitive"] < first["non_sensitive"]).any():
        return math.inf
    return float(np.abs(second["every"] - first["every"]).sum())
