# SPDX-License-Identifier: Apache-2.0
"""What ``share-sample`` claims of whole persons, written from GUARANTEE.md, and broken variants."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, permutations
from typing import TYPE_CHECKING, Any, get_args

import ibis
import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.ask.table import Table
from anonymaly.audit.case import Case, Outcomes, Sensitivity
from anonymaly.audit.cases.policies import COLUMNS, RECORDS, RULES, worst_pair
from anonymaly.audit.cases.share_sample import (
    FEW,
    SIZES,
    Release,
    broken_sample,
    growth,
    letter,
    records_of,
    sensitive,
    shows_nobody,
)
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.publication import Publication
from anonymaly.declare.readings import non_sensitive
from anonymaly.declare.rules import Policy
from anonymaly.engine.columns import NON_SENSITIVE, PERSON, PLACE
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.share_sample.mechanism import kept_probability, release_sample
from anonymaly.questions.share_sample.query import ShareSample
from anonymaly.questions.share_sample.summary import BEGINS

if TYPE_CHECKING:
    import ibis.expr.types as ir

DECLARED = 2  # rows of a person; the sample cuts nobody off, and the worst pair has more
COMING = 3
Unit = tuple[str, ...]


@dataclass(frozen=True)
class _Seen:
    """The persons that a release starts from, in an order of their own: only who they are matters."""

    units: tuple[Unit, ...]

    @classmethod
    def read(cls, records: pa.Table) -> _Seen:
        units: list[list[str]] = []
        for record in records.to_pylist():
            units += [[]] if record[BEGINS] else []
            units[-1].append(letter(record["ward"]))
        return cls(tuple(sorted(tuple(sorted(unit)) for unit in units)))

    def stream(self) -> pa.RecordBatchReader:
        wards = [None if ward == "-" else ward for unit in self.units for ward in unit]
        begins = [place == 0 for unit in self.units for place in range(len(unit))]
        return pa.table(
            {"ward": pa.array(wards, pa.string()), BEGINS: pa.array(begins, pa.bool_())}
        ).to_reader()


class _PersonsCase(Case):
    """The case, with samples written as labels and letters, which can be counted."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        (stage,) = super().stages(bound)

        def summarise(table: ir.Table, released: Released) -> _Seen:
            return _Seen.read(stage.summarise(table, released).read_all())

        def release(seen: _Seen, released: Released, noise: Any) -> str:
            sample = stage.release(seen.stream(), released, noise)
            shown = [(record["person"], letter(record["ward"])) for record in records_of(sample).to_pylist()]
            return "".join(f"{label}{ward}" for label, ward in shown)

        return (Stage(stage.name, summarise, release),)


def persons_case(
    *, epsilon: Number, adjacency: Adjacency = "add_remove", kind: type[ShareSample] = ShareSample
) -> Case:
    """Return ``share-sample`` of a table that declares persons, as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    kind : type
        The question's type: ``ShareSample``, or a broken variant of it.

    Examples
    --------
    >>> case = persons_case(epsilon="1")
    >>> law = case.outcomes(case.worst_pair[1])
    >>> {text: round(chance, 3) for text, chance in law.items() if len(text) < 7}
    {'': 0.135, '1B': 0.233, '1A1A1A': 0.233}
    """
    query = kind(policy="adults", columns=["ward"], epsilon=epsilon)
    kept = -math.expm1(-float(to_fraction(query.cost)))

    def outcomes(records: Database) -> Outcomes:
        """Keep each harmless person with 1 − e^-ε; all labels and orders are alike: Lemmas S3 and S4."""
        units = _harmless(records)
        law: dict[str, float] = {}
        for chosen in chain.from_iterable(combinations(units, size) for size in range(len(units) + 1)):
            chance = kept ** len(chosen) * (1 - kept) ** (len(units) - len(chosen))
            texts = Counter(_texts(chosen))
            for text, times in texts.items():
                law[text] = law.get(text, 0.0) + chance * times / texts.total()
        return law

    return _PersonsCase(
        name=f"share-sample, whole persons, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        sensitivity={"sample": Sensitivity(1, _growth)},
        worst_pair=worst_pair(adjacency, COMING),
        direction="forward",
        outcomes=outcomes,
        adjacency=adjacency,
        person="name",
        max_rows=DECLARED,
        rules=RULES,
        data_arguments=SIZES,
    )


def _harmless(records: Database) -> list[Unit]:
    """Return the wards of each person none of whose rows is sensitive; a row without a name is a person."""
    units: dict[Any, list[Mapping[str, Any]]] = {}
    for place, row in enumerate(records):
        name = row.get("name")
        units.setdefault(("row", place) if name is None else name, []).append(row)
    return [
        tuple(letter(row["ward"]) for row in unit) for unit in units.values() if not any(map(sensitive, unit))
    ]


def _texts(chosen: Sequence[Unit]) -> Iterator[str]:
    """Yield what is released for each way to label persons and to put all of their rows in order."""
    rows = [(person, ward) for person, unit in enumerate(chosen) for ward in unit]
    for labels in permutations(range(1, len(chosen) + 1)):
        for order in permutations(rows):
            yield "".join(f"{labels[person]}{ward}" for person, ward in order)


def _growth(first: _Seen, second: _Seen) -> float:
    return growth(first.units, second.units)


def _released(release: Release) -> Case:
    return persons_case(epsilon="1", kind=broken_sample(release))


def _persons(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    return release_sample(records, rate, noise, label="person")


def _coin_for_each_row(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Throw a coin for each row with what one coin for the person may spend."""
    table = records.read_all()
    kept = noise.bernoulli(kept_probability(rate), len(table))
    person = np.cumsum(table.column(BEGINS).to_numpy())[kept]
    order = noise.permutation(len(person))
    places = np.searchsorted(np.unique(person), person)
    labels = noise.permutation(len(np.unique(person)))[places] + 1
    chosen = table.select(["ward"]).take(pa.array(np.flatnonzero(kept)))
    labelled = chosen.add_column(0, "person", pa.array(labels)).take(pa.array(order))
    return Table.of(labelled.schema, [labelled])


class _Straight(Noise):
    """Puts nothing in order that was numbered in the table's."""

    def permutation(self, size: int) -> Any:
        """Return the order as it is, of all but the first time: the rows' own."""
        first, self.ordered = not getattr(self, "ordered", False), True
        return super().permutation(size) if first else np.arange(size)


def _labels_in_order(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    return _persons(records, rate, _Straight(noise._fresh_key, reproducible=noise.reproducible))


def _at_least_one(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Draw again as long as nothing is kept, so that nobody is disappointed."""
    table = records.read_all()
    while True:
        sample = _persons(table.to_reader(), rate, noise)
        if len(sample) or not len(table):
            return sample


def _doubled(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    return _persons(records, 2 * rate, noise)


def _alone(policy: Policy | Publication | None, rows: ir.Table, dataset: Dataset) -> ir.BooleanValue:
    """Judge each row by itself; without a policy none is harmless."""
    return ibis.literal(False) if policy is None else non_sensitive(policy, rows, dataset.declaration.columns)


class _RowByRow(Dataset):
    """Judges each row of a person by itself, and forgets that another one is sensitive."""

    def whole(self, policy: Policy | Publication | None) -> ir.Table:
        view = super().whole(policy)
        return view.mutate(**{NON_SENSITIVE: _alone(policy, view, self)})


class _CutOff(Dataset):
    """Judges persons by the rows that other questions read."""

    def whole(self, policy: Policy | Publication | None) -> ir.Table:
        view = super().whole(policy)
        read = view.filter(view[PERSON].isnull() | (view[PLACE] < DECLARED))
        own = read.mutate(**{NON_SENSITIVE: _alone(policy, read, self)})
        return own.mutate(**{NON_SENSITIVE: own[NON_SENSITIVE].all().over(ibis.window(group_by=PERSON))})


def _of_dataset(kind: type[Dataset]) -> Case:
    # Dee's last row by content is the one that is out of bounds, and is beyond what other questions read.
    dee = [{"age": age, "ward": "A", "consent": True, "name": "Dee"} for age in (40, 50)]
    return dataclasses.replace(persons_case(epsilon="1"), dataset_type=kind, records=(*RECORDS, *dee))


SHARE_PERSONS_CASES: tuple[ListedCase, ...] = tuple(
    ListedCase(
        partial(persons_case, adjacency=adjacency),
        samples=4_500,
        thorough_samples=40_000,
        fit_samples=1_000,
        thorough_fit_samples=20_000,
    )
    for adjacency in get_args(Adjacency)
)
SHARE_PERSONS_MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a coin for each row, at a person's charge",
        "bound",
        lambda: _released(_coin_for_each_row),
        samples=400,
    ),
    Mutant("persons kept as if ε were twice as large", "bound", lambda: _released(_doubled), samples=400),
    Mutant(
        "persons drawn again when nobody is kept",
        "bound",
        lambda: shows_nobody(_released(_at_least_one)),
        samples=400,
    ),
    Mutant("labels in the table's order", "fit", lambda: _released(_labels_in_order), FEW),
    Mutant("a person's sensitive row forgotten", "replay", lambda: _of_dataset(_RowByRow)),
    Mutant("a sensitive row beyond max_rows forgotten", "replay", lambda: _of_dataset(_CutOff)),
)
