# SPDX-License-Identifier: Apache-2.0
"""What ``lookahead`` claims, written from its GUARANTEE.md and not from its code; and broken variants."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Mass, Sensitivity
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Categories, Domain
from anonymaly.declare.rules import AnomalyModel
from anonymaly.engine.statements import collect
from anonymaly.promise import Database
from anonymaly.questions.lookahead.query import Lookahead

if TYPE_CHECKING:
    import ibis.expr.types as ir

BETA, K = 4, 2
COLUMNS: Mapping[str, Domain] = {"ward": Categories(["A", "B"])}


def _rows(a: int, b: int = 0) -> Database:
    return ({"ward": "A"},) * a + ({"ward": "B"},) * b


@dataclass(frozen=True)
class LookaheadCase(Case):
    """A case whose answer is the first count, in which the two tables differ."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the stages with one number as the answer."""
        return tuple(map(_first_count, super().stages(bound)))


def lookahead_case(
    *, epsilon: Number, adjacency: Adjacency = "add_remove", kind: type[Lookahead] = Lookahead
) -> Case:
    """Return ``lookahead`` as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    kind : type
        The question's type: ``Lookahead``, or a broken variant of it.

    Examples
    --------
    >>> lookahead_case(epsilon="1").relation.threshold
    3
    """
    query = kind(columns=["ward"], model="rare", epsilon=epsilon)
    steps = 2 if adjacency == "replace" else 1
    rate = float(to_fraction(query.cost) / steps)

    def law(records: Database) -> Mass:
        """Count by hand; noise where the count, or that of a neighbour, can be a protected record's."""
        count = sum(row["ward"] == "A" for row in records)
        if count < BETA - K:
            return lambda value: float(value == count)
        return lambda value: math.tanh(rate / 2) * math.exp(-rate * abs(value - count))

    fewest = BETA + 1 - K  # at which a record is protected
    other = _rows(fewest - 1) if adjacency == "add_remove" else _rows(fewest - 1, fewest)
    return LookaheadCase(
        name=f"lookahead, records, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=_rows(fewest + 1, fewest),
        sensitivity={"counts": Sensitivity(steps)},
        worst_pair=(_rows(fewest, 0 if adjacency == "add_remove" else fewest - 1), other),
        # A replacement changes two counts by one each, and the answer here is one of them.
        tight=adjacency == "add_remove",
        law=law,
        adjacency=adjacency,
        rules={"rare": AnomalyModel(["ward"], radius=0, beta=BETA, k=K)},
    )


def _first_count(stage: Stage) -> Stage:
    def release(counts: Any, released: Released, noise: Any) -> int:
        return int(stage.release(counts, released, noise).counts[0])

    return dataclasses.replace(stage, release=release)


def _broken(**changes: Any) -> Case:
    """Return the case of a lookahead that releases by other numbers; its claims stay the same."""

    class BrokenLookahead(Lookahead):
        def stages(self, bound: Binding) -> tuple[Stage, ...]:
            return super().stages(dataclasses.replace(bound, **changes))

    return lookahead_case(epsilon="1", kind=BrokenLookahead)


def _limited(rows: int) -> Case:
    """Return the case of a lookahead that fails, after the charge, where there are more rows."""

    def limited(stage: Stage) -> Stage:
        def summarise(table: ir.Table, released: Released) -> Any:
            if collect(table.count().name("rows")).column("rows")[0].as_py() > rows:
                raise OverflowError
            return stage.summarise(table, released)

        return dataclasses.replace(stage, summarise=summarise)

    class BrokenLookahead(Lookahead):
        def stages(self, bound: Binding) -> tuple[Stage, ...]:
            return tuple(map(limited, super().stages(bound)))

    return lookahead_case(epsilon="1", kind=BrokenLookahead)


LOOKAHEAD_CASES: tuple[ListedCase, ...] = tuple(
    ListedCase(partial(lookahead_case, adjacency=adjacency)) for adjacency in get_args(Adjacency)
)
LOOKAHEAD_MUTANTS: tuple[Mutant, ...] = (
    Mutant("one step less ahead", "bound", lambda: _broken(least=BETA - K + 1)),
    Mutant("noise on no count but the asked one's", "bound", lambda: _broken(least=1 << 40)),
    Mutant("rate × 2", "bound", lambda: _broken(rate=Fraction(2))),
    Mutant("a limit on rows", "replay", lambda: _limited(BETA - K)),
    Mutant("a limit on rows, in the ledger", "ledger", lambda: _limited(BETA - K)),
)
