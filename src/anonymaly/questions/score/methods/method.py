# SPDX-License-Identifier: Apache-2.0
"""`ScoringMethod`, the interface between the question, its methods and the released model.

The question reads the reference records into the unit cube (`space.py`), lets the method count them there
on the engine (`summary.py`), lets it release the counts with exact noise, and wraps what was released in a
`Model`, which scores, saves and loads without knowing the method. A method is a frozen dataclass of public
parameters; `methods.py` lists all of them, and picks one for ``auto``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy.typing as npt

from anonymaly.ask.binding import Expectation
from anonymaly.core.arrays import Floats
from anonymaly.errors import InputError
from anonymaly.questions.score.methods.parts import Parts

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

    from anonymaly.noise import Noise

# The next step when a file holds something else.
FRESH_COPY = "Take a fresh copy of the model's file, or save the model again."
# What a method releases: named arrays of numbers, no objects. They are all that a saved model holds besides
# the method's name, its parameters and the columns.
Body = Mapping[str, npt.NDArray[Any]]
Scorer = Callable[[Floats], Floats]
# The words around the one number that is known of a model before it is made.
CELL = "95 of 100 draws are within this"
SCORES = "; how right scores are has no closed form"


def coordinate(axis: int) -> str:
    """Return what a column is called once it is mapped to the unit interval."""
    return f"x{axis}"


@dataclass(frozen=True)
class MethodFacts:
    """The public facts that a rule for parameters may use; nothing here depends on a row.

    ``rate`` is ε for one histogram in which every record is counted once: the share of the charge divided by
    how much one person can change such counts in all (m rows: m, and 2m if a person is replaced). Noise
    of rate ``rate`` on one histogram spends the share; K histograms spend it at ``rate / K`` each.
    """

    dimensions: int
    rate: Fraction
    records: int | None = None  # public, or counted by a stage of its own; None if unknown
    labels: tuple[
        int, ...
    ] = ()  # the places of each column of labels, and 0 for a number; () for all numbers

    @property
    def numbers(self) -> int:
        """How many of the columns are numbers."""
        return self.labels.count(0) if self.labels else self.dimensions


class ScoringMethod(ABC):
    """A way to score: public parameters, a count on the engine, a release, and scores from what was released.

    Subclasses are frozen dataclasses whose first field is ``dimensions``.
    """

    name: ClassVar[str]
    # The fields of `Score` that this method takes; those of other methods are refused when they are given.
    options: ClassVar[tuple[str, ...]]

    dimensions: int

    @property
    def held(self) -> bool:
        """Whether exact counts stay inside what is released: such a model cannot be saved or stored."""
        return False

    @classmethod
    @abstractmethod
    def plan(cls, options: Mapping[str, Any], facts: MethodFacts) -> Self:
        """Return the method with the options given; a rule over the facts fills in those that are None.

        Raises InputError, naming the option, for what cannot be done.
        """

    @classmethod
    def needs_records(cls, options: Mapping[str, Any]) -> bool:
        """Say whether the rule needs ``facts.records``; if they were not given, a stage counts them first."""
        return False

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return every option as plain data that JSON can hold, ``dimensions`` apart."""

    @classmethod
    def restore(cls, dimensions: int, parameters: Mapping[str, Any]) -> Self:
        """Return the method that had these parameters; raises if it cannot have had them."""
        return cls(dimensions, **parameters)  # type: ignore[call-arg]  # a dataclass

    @abstractmethod
    def count(self, cube: ir.Table) -> ir.Table:
        """Return what is counted, as an Ibis expression: a method gets no other view of the reference data.

        ``cube`` has one row a record and the columns ``coordinate(0)`` … ``coordinate(dimensions - 1)``,
        doubles from 0 to 1 without nulls. The result must be small whatever the rows are.
        """

    @abstractmethod
    def release(self, counts: pa.Table, rate: Fraction, noise: Noise) -> Body:
        """Return the counts with exact noise; ``rate`` is that of `MethodFacts`, all of which may be spent.

        Which calls are made to ``noise`` must not depend on rows beyond the number of counts drawn for.
        """

    @abstractmethod
    def check(self, body: Body) -> None:
        """Raise InputError unless ``release`` could have returned these arrays: a file may hold anything."""

    @abstractmethod
    def scorer(self, body: Body) -> Scorer:
        """Return the function from points of the unit cube (n × dimensions) to n scores, higher = odder.

        Made once for a model, so that indexes over the body are built once.
        """

    @abstractmethod
    def score_range(self, body: Body) -> tuple[float, float]:
        """Return bounds of all scores, from what was released alone; a threshold lies between them."""

    def parts(self, body: Body) -> Parts:
        """Return what a score is the sum of; raises InputError where it is no sum."""
        raise InputError(
            f"the score of the method {self.name} is a distance, which has no parts",
            field="method",
            next_step="Ask for a model by the method mixed, which is the default.",
        )

    @abstractmethod
    def draw(self, body: Body, count: int, seed: int = 0) -> Floats:
        """Return points like those that the model was made of, from what was released and public coins."""

    @abstractmethod
    def expect(self, facts: MethodFacts) -> Expectation:
        """Say what noise the model will carry, before anything is charged."""
