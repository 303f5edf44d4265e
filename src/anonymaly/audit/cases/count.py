# SPDX-License-Identifier: Apache-2.0
"""What ``count`` claims, written from its GUARANTEE.md and not from its code, and broken variants.

Among them are faults in the parts that every question shares: the view, the ledger and the noise.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, get_args

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Mass, Sensitivity
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.engine.statements import collect
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.count.binding import CountBinding
from anonymaly.questions.count.query import Count

if TYPE_CHECKING:
    import ibis.expr.types as ir

logger = logging.getLogger(__name__)

Release = Callable[[Any, Fraction, Noise], Any]
Change = Callable[[Stage, Any], Stage]

WHERE = "age >= 60 and ward == 'A'"
COLUMNS: Mapping[str, Domain] = {"age": Interval(0, 120), "ward": Categories(["A", "B"])}
RECORDS = (
    {"age": 71, "ward": "A", "name": "Ada"},
    {"age": 64, "ward": "A", "name": "Ada"},
    {"age": 58, "ward": "A", "name": "Bob"},
    {"age": 80, "ward": "B", "name": "Cem"},
    {"age": 33, "ward": "A", "name": "Dee"},
    {"age": 62, "ward": "A", "name": "Eve"},
    {"age": None, "ward": "B", "name": None},
)


def count_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    max_rows: int | None = None,
    kind: type[Count] = Count,
) -> Case:
    """Return ``count`` as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    max_rows : int, optional
        Protect persons of up to this many rows; single rows without it.
    kind : type
        The question's type: ``Count``, or a broken variant of it.

    Examples
    --------
    >>> count_case(epsilon="0.5", max_rows=3).relation
    Everyone(type='everyone', adjacency='add_remove', rows=3)
    """
    rows = max_rows or 1
    person = None if max_rows is None else "name"
    query = kind(where=WHERE, epsilon=epsilon)

    def law(records: Database) -> Mass:
        """Count by hand, and add two-sided geometric noise of rate ε/m: the mechanism of GUARANTEE.md."""
        centre, rate = _count(records), float(to_fraction(query.cost) / Fraction(rows))
        return lambda value: math.tanh(rate / 2) * math.exp(-rate * abs(value - centre))

    unit = f"persons with up to {rows} rows" if person else "records"
    return Case(
        name=f"count, {unit}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        # Lemma 1: the same in both adjacencies.
        sensitivity={"count": Sensitivity(rows)},
        # Lemma 2 says that it is attained. From nobody at all, where careless questions go wrong besides.
        worst_pair=(_matching(rows), () if adjacency == "add_remove" else _not_matching()),
        law=law,
        adjacency=adjacency,
        person=person,
        max_rows=max_rows,
    )


def _matching(rows: int) -> tuple[dict[str, Any], ...]:
    return tuple({"age": 60 + place, "ward": "A", "name": "Ida"} for place in range(rows))


def _not_matching() -> tuple[dict[str, Any], ...]:
    return ({"age": 20, "ward": "B", "name": "Jo"},)


def _count(records: Database) -> int:
    return sum(1 for row in records if row["age"] is not None and row["age"] >= 60 and row["ward"] == "A")


def _changed(change: Change, **options: Any) -> Case:
    """Return the case of a count whose one stage is changed; its claims stay those of the real question."""

    class BrokenCount(Count):
        def stages(self, bound: Binding) -> tuple[Stage, ...]:
            return tuple(change(stage, bound) for stage in super().stages(bound))

    return count_case(**{"epsilon": "0.5", **options, "kind": BrokenCount})


def _released(release: Release, **options: Any) -> Case:
    """Return the case of a count that releases in another way: from a count, a rate, and noise."""

    def change(stage: Stage, bound: CountBinding) -> Stage:
        return dataclasses.replace(
            stage, release=lambda count, released, noise: release(count, bound.rate, noise)
        )

    return _changed(change, **options)


def _summarised(summarise: Callable[[Any, ir.Table, Released], Any], **options: Any) -> Case:
    """Return the case of a count that summarises in another way, given the real summarise."""

    def change(stage: Stage, bound: CountBinding) -> Stage:
        real = stage.summarise
        return dataclasses.replace(stage, summarise=lambda table, released: summarise(real, table, released))

    return _changed(change, **options)


def _scaled(factor: Fraction) -> Case:
    return _released(lambda count, rate, noise: count + noise.two_sided_geometric(rate / factor))


def _sensitivity_one() -> Case:
    return _released(lambda count, rate, noise: count + noise.two_sided_geometric(rate * 3), max_rows=3)


def _float_laplace(count: int, rate: Fraction, noise: Noise) -> float:
    uniform = (noise.uniform(2**53) + 0.5) / 2**53 - 0.5
    return count - math.copysign(math.log1p(-2 * abs(uniform)), uniform) / float(rate)


def _reused() -> Case:
    kept: dict[Fraction, int] = {}

    def release(count: int, rate: Fraction, noise: Noise) -> int:
        if rate not in kept:
            kept[rate] = noise.two_sided_geometric(rate)
        return count + kept[rate]

    return _released(release)


def _fixed_seed(count: int, rate: Fraction, noise: Noise) -> int:
    return count + Noise.seeded(7).two_sided_geometric(rate)


def _own_source(count: int, rate: Fraction, noise: Noise) -> int:
    return count + noise.two_sided_geometric(rate) + Noise.system().two_sided_geometric(rate)


def _filter_from_data(real: Any, table: ir.Table, released: Released) -> Any:
    oldest = collect(table.age.max().name("age")).column("age")[0].as_py()
    return real(table.filter(table.age > (oldest or 0) - 20), released)


def _bounds_from_data() -> Case:
    """Noise for the width of the data instead of the declared one."""

    def change(stage: Stage, bound: CountBinding) -> Stage:
        def summarise(table: ir.Table, released: Released) -> tuple[int, int]:
            wards = collect(table.ward.nunique().name("wards")).column("wards")[0].as_py()
            return stage.summarise(table, released), max(wards, 1)

        def release(summary: tuple[int, int], released: Released, noise: Noise) -> int:
            return summary[0] + noise.two_sided_geometric(bound.rate / summary[1])

        return dataclasses.replace(stage, summarise=summarise, release=release)

    case = _changed(change)
    # The summary is a pair now; that it holds the count is not what this mutant is about.
    return dataclasses.replace(case, sensitivity={})


def _zero_when_empty(count: int, rate: Fraction, noise: Noise) -> int:
    drawn = noise.two_sided_geometric(rate)
    return count + drawn if count else 0


def _early_exit(count: int, rate: Fraction, noise: Noise) -> int:
    return count + noise.two_sided_geometric(rate) if count else 0


def _exception_on_empty(real: Any, table: ir.Table, released: Released) -> Any:
    count = real(table, released)
    if collect(table.count().name("rows")).column("rows")[0].as_py() == 0:
        raise ValueError
    return count


def _error_from_row(real: Any, table: ir.Table, released: Released) -> Any:
    beyond = collect((table.age > 120).any().name("beyond")).column("beyond")[0].as_py()
    if beyond:
        raise OverflowError
    return real(table, released)


def _cached_before_noise() -> Case:
    kept: dict[str, Any] = {}

    def summarise(real: Any, table: ir.Table, released: Released) -> Any:
        if "count" not in kept:
            kept["count"] = real(table, released)
        return kept["count"]

    return _summarised(summarise)


def _logged(real: Any, table: ir.Table, released: Released) -> Any:
    count = real(table, released)
    logger.debug("counted %d", count)
    return count


def _charged_once(count: int, rate: Fraction, noise: Noise) -> list[int]:
    """Return two answers, each with the noise of the whole charge."""
    return [count + noise.two_sided_geometric(rate) for _ in range(2)]


class _Untruncated(Dataset):
    """A dataset that forgets to cut off the rows beyond ``max_rows``."""

    @property
    def table(self) -> ir.Table:
        forgetful = Dataset(self._source.table(), name=self.name, columns=self.declaration.columns)
        return forgetful.table


class _WithNaN(Dataset):
    """A dataset that hands NaN on to the engine, where it is larger than every number."""

    @property
    def table(self) -> ir.Table:
        raw = self._source.table()
        # Computed anew: DuckDB hands filters on plain columns to Arrow, to which no NaN is above a number.
        return raw.select(age=raw.age + 0, ward=raw.ward)


def _of_dataset(kind: type[Dataset], **options: Any) -> Case:
    return dataclasses.replace(count_case(epsilon="0.5", **options), dataset_type=kind)


MANY = 50_000  # answers, of which each takes microseconds

COUNT_CASES: tuple[ListedCase, ...] = tuple(
    ListedCase(partial(count_case, adjacency=adjacency, max_rows=rows), samples=20_000, fit_samples=10_000)
    for adjacency, rows in product(get_args(Adjacency), (None, 3))
)
COUNT_MUTANTS: tuple[Mutant, ...] = (
    Mutant("noise scale × 0.9", "fit", lambda: _scaled(Fraction(9, 10))),
    Mutant("noise scale × 1.1", "fit", lambda: _scaled(Fraction(11, 10))),
    Mutant("noise scale × 0.5", "bound", lambda: _scaled(Fraction(1, 2)), samples=MANY),
    Mutant("sensitivity 1 for 3 rows", "bound", _sensitivity_one, samples=MANY),
    Mutant("max_rows ignored", "replay", lambda: _of_dataset(_Untruncated, max_rows=3)),
    Mutant("float Laplace", "fit", lambda: _released(_float_laplace)),
    Mutant(
        "rounded after adding",
        "fit",
        lambda: _released(lambda count, rate, noise: round(_float_laplace(count, rate, noise))),
    ),
    Mutant("noise reused for a second answer", "replay", _reused),
    Mutant("fixed seed", "bound", lambda: _released(_fixed_seed), samples=MANY),
    Mutant("fixed seed: given noise not used", "replay", lambda: _released(_fixed_seed)),
    Mutant("noise from elsewhere", "replay", lambda: _released(_own_source)),
    Mutant("filter from data", "replay", lambda: _summarised(_filter_from_data)),
    Mutant("bounds from data", "replay", _bounds_from_data),
    Mutant("exact zero when empty", "bound", lambda: _released(_zero_when_empty), samples=MANY),
    Mutant("early exit", "replay", lambda: _released(_early_exit)),
    Mutant("exception on empty", "replay", lambda: _summarised(_exception_on_empty)),
    Mutant("exception on empty, in the ledger", "ledger", lambda: _summarised(_exception_on_empty)),
    Mutant("row-dependent error", "replay", lambda: _summarised(_error_from_row)),
    Mutant("cache before noise", "replay", _cached_before_noise),
    Mutant("count in a log line", "replay", lambda: _summarised(_logged)),
    Mutant(
        "order of rows matters",
        "replay",
        lambda: _summarised(lambda real, table, released: real(table.limit(3), released)),
    ),
    Mutant("NaN passes", "replay", lambda: _of_dataset(_WithNaN)),
    Mutant("charged once for two answers", "bound", lambda: _released(_charged_once), samples=MANY),
)
