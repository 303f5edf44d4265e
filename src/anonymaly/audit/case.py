# SPDX-License-Identifier: Apache-2.0
"""A question with all that an audit must know of it: tables, sensitivities, its worst pair, its exact law."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.ask.catalogue import QUESTIONS
from anonymaly.ask.query import Query
from anonymaly.audit.bound import Direction
from anonymaly.audit.neighbours import Pair, neighbours
from anonymaly.audit.recording import DATA_ARGUMENTS
from anonymaly.core.rate import Adjacency
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain, arrow_type
from anonymaly.declare.rules import Rule
from anonymaly.errors import InputError
from anonymaly.promise import Database, Relation, ValidContexts

Mass = Callable[[int], float]
Outcomes = Mapping[Any, float | Fraction]


def absolute_difference(first: Any, second: Any) -> float:
    """Return the sum of absolute differences of two summaries; infinite where they cannot be compared.

    Examples
    --------
    >>> absolute_difference({"A": 3, "B": 1}, {"A": 2, "C": 1})
    3
    """
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return sum(
            absolute_difference(first.get(name, 0), second.get(name, 0)) for name in {**first, **second}
        )
    if isinstance(first, Sequence | np.ndarray) or isinstance(second, Sequence | np.ndarray):
        if np.shape(first) != np.shape(second):
            return math.inf
        # In Python's integers, because 64 bits would wrap around at the very differences looked for.
        cells = zip(np.ravel(first).tolist(), np.ravel(second).tolist(), strict=True)
        return sum(absolute_difference(one, other) for one, other in cells)
    difference: float = abs(first - second)
    return math.inf if math.isnan(difference) else difference


@dataclass(frozen=True)
class Sensitivity:
    """How much one person may change a stage's summary, and by which distance that is measured.

    Examples
    --------
    >>> Sensitivity(1).violation(4, 7, {})
    'the summary changed by 3, and 1 is declared'
    """

    bound: float | Callable[[Released], float]
    distance: Callable[[Any, Any], float] = absolute_difference

    def limit(self, released: Released) -> float:
        """Return the declared bound, given what earlier stages released."""
        return self.bound(released) if callable(self.bound) else self.bound

    def violation(self, first: Any, second: Any, released: Released) -> str | None:
        """Say how two summaries break the bound, or None if they keep it."""
        distance, limit = self.distance(first, second), self.limit(released)
        # Written so that a NaN distance is a violation too.
        return None if distance <= limit else f"the summary changed by {distance}, and {limit} is declared"


@dataclass(frozen=True)
class Case:
    """One question under audit.

    Parameters
    ----------
    name : str
        What to call it in a report.
    query : Query
        The question.
    columns, rules, adjacency, person, max_rows
        The declaration, as a dataset takes it.
    records : sequence of mappings
        An invented table to start from.
    sensitivity : mapping
        For each stage's name, how much a neighbour may change its summary. Stages left out are not checked.
    worst_pair : pair of tables
        Neighbours that analysis says lose the most.
    tight : bool
        Whether the worst pair loses all of ε; then an audit that does not see most of it has failed.
    direction : {"both", "forward"}
        "forward" where the promise holds for the worst pair in its order only.
    law : callable, optional
        From a table to the exact law of the answer, as integers' probabilities, computed from the written
        guarantee rather than by the code under audit.
    outcomes : callable, optional
        The same where answers are few and hashable: from a table to each answer's probability. The loss is
        then also computed on every pair, not only measured on the worst one.
    data_arguments : mapping
        Noise method → arguments that may depend on rows; they are compared by shape alone.
    valid_contexts : callable, optional
        What a relation about valid contexts needs to judge a pair.
    dataset_type : type
        ``Dataset``, or a broken one in a mutant.
    claims : str, optional
        The ε that is claimed, in a mutant that spends another one; otherwise it is the question's.
    """

    name: str
    query: Query
    columns: Mapping[str, Domain]
    records: Database
    sensitivity: Mapping[str, Sensitivity]
    worst_pair: tuple[Database, Database]
    tight: bool = True
    direction: Direction = "both"
    law: Callable[[Database], Mass] | None = None
    outcomes: Callable[[Database], Outcomes] | None = None
    adjacency: Adjacency = "add_remove"
    person: str | None = None
    max_rows: int | None = None
    rules: Mapping[str, Rule] = field(default_factory=lambda: MappingProxyType({}))
    data_arguments: Mapping[str, frozenset[str]] = field(default_factory=lambda: DATA_ARGUMENTS)
    valid_contexts: ValidContexts | None = None
    dataset_type: type[Dataset] = Dataset
    claims: str | None = None

    @property
    def claimed(self) -> float:
        """The ε that an answer is claimed to lose at most."""
        return float(self.query.epsilon if self.claims is None else self.claims)

    def dataset(self, records: Database) -> Dataset:
        """Return a dataset of these records; columns' types follow from the declaration, not from them."""
        kinds: dict[str, pa.DataType] = {
            name: arrow_type(domain) or pa.string() for name, domain in self.columns.items()
        }
        if self.person is not None:
            kinds.setdefault(self.person, pa.string())
        table = pa.table(
            {name: pa.array([row.get(name) for row in records], kind) for name, kind in kinds.items()}
        )
        return self.dataset_type(
            table,
            name="audited",
            columns=self.columns,
            rules=self.rules,
            person=self.person,
            max_rows=self.max_rows,
            # An owner allows a question of another package by its name.
            questions=() if self.query.question in QUESTIONS else (self.query.question,),
        )

    @cached_property
    def declaration(self) -> Declaration:
        """The public declaration, which no record has a part in."""
        return self.dataset(()).with_adjacency(self.adjacency)

    @cached_property
    def relation(self) -> Relation:
        """Whom the question promises to protect."""
        return self.bind().relation

    def bind(self) -> Binding:
        """Return the question as the curator binds it, made anew as for every asking."""
        return self.query.bind(self.declaration)

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the question's stages, in a form whose summaries and values can be compared."""
        return bound.stages

    def pairs(self, *, seed: int, rounds: int) -> Iterator[Pair]:
        """Yield the worst pair, then every generated pair that the promise speaks about."""
        relates = partial(
            self.relation.relates,
            columns=self.columns,
            person=self.person,
            valid_contexts=self.valid_contexts,
        )
        if not relates(*self.worst_pair):
            raise InputError(
                f"of {self.name} is not in the relation that it promises to protect",
                field="worst_pair",
                next_step="Give two neighbouring tables, in the promise's order.",
            )
        yield Pair("the worst pair", *self.worst_pair)
        generated = neighbours(
            self.records,
            self.columns,
            adjacency=self.adjacency,
            person=self.person,
            max_rows=self.max_rows or 1,
            seed=seed,
            rounds=rounds,
        )
        for pair in generated:
            if pair.same or relates(pair.first, pair.second):
                yield pair
