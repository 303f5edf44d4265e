# SPDX-License-Identifier: Apache-2.0
"""What ``share-sample`` claims, written from GUARANTEE.md rather than from code, and broken variants."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from io import BytesIO
from itertools import chain, combinations, permutations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.ask.table import Table
from anonymaly.audit.case import Case, Outcomes, Sensitivity
from anonymaly.audit.cases.policies import ADULT, COLUMNS, OTHER, RECORDS, RULES, UNDECLARED, worst_pair
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.recording import DATA_ARGUMENTS
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.publication import Publication
from anonymaly.declare.readings import matches, non_sensitive
from anonymaly.declare.rules import Policy
from anonymaly.engine.columns import NON_SENSITIVE
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.share_sample.mechanism import kept_probability, release_sample
from anonymaly.questions.share_sample.query import ShareSample

if TYPE_CHECKING:
    import ibis.expr.types as ir

# How many coins are flipped, and how many records put in order, depends on what is there, as it must.
SIZES = MappingProxyType(
    {**DATA_ARGUMENTS, "bernoulli": frozenset({"size"}), "permutation": frozenset({"size"})}
)
Release = Callable[[pa.RecordBatchReader, Fraction, Noise], Table]


@dataclass(frozen=True)
class _Seen:
    """The records that a release starts from, in an order of their own: only which they are matters."""

    wards: tuple[str, ...]
    records: pa.Table = dataclasses.field(compare=False)


class _SampleCase(Case):
    """The case, with samples written as their wards' letters, which can be counted."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        (stage,) = super().stages(bound)

        def summarise(table: ir.Table, released: Released) -> _Seen:
            records = stage.summarise(table, released).read_all().sort_by("ward").combine_chunks()
            return _Seen(_letters(records), records)

        def release(seen: _Seen, released: Released, noise: Any) -> str:
            sample = stage.release(seen.records.to_reader(), released, noise)
            return "".join(_letters(records_of(sample)))

        return (Stage(stage.name, summarise, release),)


def sample_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    kind: type[ShareSample] = ShareSample,
) -> Case:
    """Return ``share-sample`` of a table without persons, as an audit sees it.

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
    >>> case = sample_case(epsilon="1")
    >>> {text: round(chance, 3) for text, chance in case.outcomes(case.worst_pair[1]).items()}
    {'': 0.135, 'B': 0.233, 'A': 0.233, 'BA': 0.2, 'AB': 0.2}
    """
    query = kind(policy="adults", columns=["ward"], epsilon=epsilon)
    kept = -math.expm1(-float(to_fraction(query.cost)))

    def outcomes(records: Database) -> Outcomes:
        """Judge by hand, and keep each record with 1 − e^-ε; every order is equally likely: Lemmas S1, S2."""
        wards = [letter(row["ward"]) for row in records if not sensitive(row)]
        law: dict[str, float] = {}
        subsets = chain.from_iterable(combinations(wards, size) for size in range(len(wards) + 1))
        for chosen in subsets:
            chance = kept ** len(chosen) * (1 - kept) ** (len(wards) - len(chosen))
            orders = Counter("".join(order) for order in permutations(chosen))
            for text, times in orders.items():
                law[text] = law.get(text, 0.0) + chance * times / math.factorial(len(chosen))
        return law

    return _SampleCase(
        name=f"share-sample, records, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        sensitivity={"sample": Sensitivity(1, _growth)},
        worst_pair=worst_pair(adjacency, 1),
        direction="forward",
        outcomes=outcomes,
        adjacency=adjacency,
        rules=RULES,
        data_arguments=SIZES,
    )


def records_of(sample: Table) -> pa.Table:
    """Return a sample's records, without threads, which take longer to start than a few records to read."""
    file = BytesIO()
    sample.copy_to(file)
    return pq.ParquetFile(file).read(use_threads=False)


def sensitive(row: Mapping[str, Any]) -> bool:
    """Judge a record by hand."""
    age = row["age"]
    known = age is not None and not math.isnan(age) and 0 <= age <= 120
    # A ward is published: one that nobody declared makes its record sensitive (Lemma P4).
    return not (known and age >= 18 and row["consent"] is True) or row["ward"] not in (None, "A", "B", "C")


def letter(ward: str | None) -> str:
    """Return what a ward is written as."""
    return "-" if ward is None else ward[0]


def _letters(records: pa.Table) -> tuple[str, ...]:
    return tuple(map(letter, records.column("ward").to_pylist()))


def growth(before: Iterable[Any], after: Iterable[Any]) -> float:
    """Return how many came; infinite if one went, or changed, which a one-sided promise must not show."""
    first, second = Counter(before), Counter(after)
    return math.inf if first - second else (second - first).total()


def _growth(first: _Seen, second: _Seen) -> float:
    return growth(first.wards, second.wards)


def _released(release: Release) -> Case:
    return sample_case(epsilon="1", kind=broken_sample(release))


def broken_sample(release: Release) -> type[ShareSample]:
    """Return a sample that is released in another way; its claims stay those of the real one."""

    class BrokenSample(ShareSample):
        def stages(self, bound: Any) -> tuple[Stage, ...]:
            (stage,) = super().stages(bound)
            changed = dataclasses.replace(
                stage, release=lambda records, released, noise: release(records, bound.rate, noise)
            )
            return (changed,)

    return BrokenSample


def _suppress(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Release all that is not sensitive: access control, and the Suppress of personalised privacy."""
    table = records.read_all()
    return Table.of(records.schema, [table.take(pa.array(noise.permutation(len(table))))])


def _in_order(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Leave records in the table's order."""
    table = records.read_all()
    kept = noise.bernoulli(kept_probability(rate), len(table))
    return Table.of(records.schema, [table.take(pa.array(np.flatnonzero(kept)))])


def _at_least_one(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Draw again as long as nothing is kept, so that nobody is disappointed."""
    table = records.read_all()
    while True:
        sample = release_sample(table.to_reader(), rate, noise)
        if len(sample) or not len(table):
            return sample


def _doubled(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    return release_sample(records, 2 * rate, noise)


class _NullPasses(Dataset):
    """Takes what is unknown for harmless."""

    def judged(self, policy: Policy | Publication) -> ir.Table:
        view = self.table
        verdict = matches(_named(policy).predicate(self.declaration.columns), view).fill_null(True)
        return view.mutate(**{NON_SENSITIVE: verdict})


class _Clamped(Dataset):
    """Moves values into their domain before it judges them."""

    def judged(self, policy: Policy | Publication) -> ir.Table:
        view = self.table.mutate(age=self.table.age.clip(0, 120))
        return view.mutate(**{NON_SENSITIVE: non_sensitive(policy, view, self.declaration.columns)})


class _ByThePolicyAlone(Dataset):
    """Looks for undeclared values in the columns that the policy names, and in no other that is published."""

    def judged(self, policy: Policy | Publication) -> ir.Table:
        return super().judged(_named(policy))


def _named(policy: Policy | Publication) -> Policy:
    return policy.policy if isinstance(policy, Publication) else policy


def _of_dataset(kind: type[Dataset]) -> Case:
    return dataclasses.replace(sample_case(epsilon="1"), dataset_type=kind)


def undeclared_case(kind: type[Dataset] = Dataset) -> Case:
    """Return the case of a record in a ward that nobody declared: whether it is there must not show."""
    pair = (OTHER,), (OTHER, UNDECLARED)
    return dataclasses.replace(_of_dataset(kind), worst_pair=pair, tight=False)


def shows_nobody(case: Case) -> Case:
    """Return a case with the pair that a sample which is never empty tells apart: nobody, and somebody."""
    return dataclasses.replace(case, worst_pair=((), (ADULT,)))


FEW = 200  # draws, each of which writes a file, show an answer that the law does not know

SHARE_SAMPLE_CASES: tuple[ListedCase, ...] = tuple(
    ListedCase(
        partial(sample_case, adjacency=adjacency),
        samples=4_500,
        thorough_samples=40_000,
        fit_samples=1_000,
        thorough_fit_samples=20_000,
    )
    for adjacency in get_args(Adjacency)
)
SHARE_SAMPLE_MUTANTS: tuple[Mutant, ...] = (
    Mutant("Suppress (exclusion attack)", "bound", lambda: _released(_suppress), samples=400),
    Mutant("kept as if ε were twice as large", "bound", lambda: _released(_doubled), samples=400),
    Mutant("drawn again when empty", "bound", lambda: shows_nobody(_released(_at_least_one)), samples=400),
    Mutant("records in the table's order", "fit", lambda: _released(_in_order), FEW),
    Mutant("undeclared values published", "fit", lambda: undeclared_case(_ByThePolicyAlone), FEW),
    Mutant("null passes", "replay", lambda: _of_dataset(_NullPasses)),
    Mutant("judged after clamping", "replay", lambda: _of_dataset(_Clamped)),
)
