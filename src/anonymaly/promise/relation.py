# SPDX-License-Identifier: Apache-2.0
"""`Relation`, the base of all neighbour relations.

A relation is a set of *ordered* pairs of databases. A mechanism M keeps (R, ε) when
Pr[M(D) ∈ O] ≤ e^ε Pr[M(D') ∈ O] for every pair (D, D') in R and every set O of answers. Each relation
here carries its executable definition, ``relates``, so that a promise can be checked by enumeration.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, StrictInt

from anonymaly.core.rate import Adjacency
from anonymaly.core.value import Value
from anonymaly.declare.domain import Domain
from anonymaly.declare.rules import Rule
from anonymaly.errors import InputError
from anonymaly.promise.change import Background, Change, Database, Row, Unit, ValidContexts

Rows = Annotated[StrictInt, Field(ge=1)]
RuleName = Annotated[str, Field(strict=True, min_length=1)]


class Relation(Value):
    """A set of ordered pairs of databases between which an answer's probability is bounded."""

    if TYPE_CHECKING:
        type: str
        adjacency: Adjacency
        rows: int | None

    def relates(
        self,
        first: Database,
        second: Database,
        *,
        columns: Mapping[str, Domain] | None = None,
        person: str | None = None,
        valid_contexts: ValidContexts | None = None,
    ) -> bool:
        """Say whether the ordered pair of databases is in the relation: its definition, for tiny databases.

        Parameters
        ----------
        first, second : sequence of mappings
            Two multisets of records; their order means nothing, but for readings of a stream.
        columns : mapping, optional
            The declared columns, by which records are read and judged; without them, numbers are doubles.
        person : str, optional
            The column that identifies the person; needed if ``rows`` says that units are persons.
        valid_contexts : callable, optional
            A function from a question and a database to the valid contexts, for relations that compare them.
        """
        if self.rows is not None and person is None:
            raise InputError(
                f"is needed: the relation is about persons with up to {self.rows} rows",
                field="person",
                next_step="Name the column that identifies the person.",
            )
        change = Change.between(first, second, person if self.rows is not None else None, columns)
        return self.includes(change, Background(columns, person, valid_contexts))

    @abstractmethod
    def includes(self, change: Change, facts: Background) -> bool:
        """Say whether an ordered change is in the relation."""

    @abstractmethod
    def protects(self) -> str:
        """Say in plain words who is protected."""

    def does_not_protect(self) -> str:
        """Say in plain words who is not, and what is hidden of nobody."""
        return f"{self.leaves_out()}{self.row_by_row}{self.not_hidden}"

    @abstractmethod
    def leaves_out(self) -> str:
        """Say in plain words who is not protected."""

    @property
    def row_by_row(self) -> str:
        """What a promise about rows is to people who have several, in words to append."""
        return (
            "" if self.rows is not None else "; people with more than one row are protected one row at a time"
        )

    @property
    def not_hidden(self) -> str:
        """What no pair of the relation hides, whoever is protected, in words to append."""
        return "" if self.adjacency == "add_remove" else f"; the number of {self.noun}s is not hidden"

    @abstractmethod
    def permitted(self, rules: Mapping[str, Rule]) -> bool:
        """Say whether the owner's declared rules allow a question to promise no more than this."""

    def needs(self) -> tuple[str, Rule] | None:
        """Return a rule that would permit this promise, with a name; None if it needs no rule."""
        return None

    @abstractmethod
    def in_replace_form(self) -> Relation:
        """Return the relation whose every pair is two steps of this one, or refuse."""

    @abstractmethod
    def for_persons(self, rows: int) -> Relation:
        """Return the relation about persons whose pairs are at most ``rows`` steps of this one, or refuse."""

    def is_inside(self, other: Relation) -> bool:
        """Say whether this is known, from the two values alone, to be a narrower relation than the other."""
        same = (self.adjacency, self.rows) == (other.adjacency, other.rows)
        return same and other.type == "everyone" != self.type

    def atoms(self) -> tuple[Relation, ...]:
        """Return the parts of an intersection; any other relation is its own only part."""
        return (self,)

    def difference(self, factor: str) -> str:
        """Finish the sentence "whatever the answer, its probability …"."""
        verb = "added or removed" if self.adjacency == "add_remove" else f"replaced by another {self.noun}"
        return f"changes by a factor of at most {factor} when one {self.noun} is {verb}"

    @property
    def holds_additions(self) -> bool:
        """Whether anyone may be added: then that somebody is absent is shown only up to the factor e^ε."""
        return False

    @property
    def of_single_records(self) -> bool:
        """Whether a pair's changed records alone decide if it is in the relation, whatever others there are.

        Only then is a pair of tables in the relation also where it is restricted to a part of their rows.
        """
        return False

    @property
    def noun(self) -> str:
        """What one unit is called."""
        return "record" if self.rows is None else "person"

    @property
    def unit(self) -> str:
        """What one unit is, in words."""
        if self.rows is None:
            return "record"
        return "person with one row" if self.rows == 1 else f"person with up to {self.rows} rows"

    @property
    def reading(self) -> str:
        """How many rows a person may have whom a question protects whatever their number, in words."""
        read = "one of them is" if self.rows == 1 else f"{self.rows} of them are"
        return f"however many rows they have (at most {read} read)"

    def cannot_become(self, target: str, reason: str, next_step: str) -> InputError:
        """Return the refusal of a conversion."""
        return InputError(
            f"a {type(self).__name__} promise does not become one {target}: {reason}", next_step=next_step
        )


class Stepwise(Relation):
    """A relation defined by the single additions and removals it covers.

    Its replace form is the set of replacements made of two covered steps, which is what makes
    (add/remove, ε) ⇒ (replace, 2ε) true.
    """

    def includes(self, change: Change, facts: Background) -> bool:
        """Say whether an ordered change is in the relation."""
        if not change.is_one_step(self.adjacency, self.most_rows):
            return False
        if self.adjacency == "add_remove":
            (unit,) = change.removed + change.added
            return self.covers(unit, change.kept + unit.rows, bool(change.removed), facts)
        (gone,), (come,) = change.removed, change.added
        if gone.person is not None and gone.person == come.person:
            # One person cannot be there twice, so the only way leads through the database without them.
            return self.covers(gone, change.kept + gone.rows, True, facts) and self.covers(
                come, change.kept + come.rows, False, facts
            )
        # Of the two ways, the one through the database that holds both is open whenever the other is: a
        # covered step stays covered when one more record is in the database. All relations share this way,
        # so the replace form of an intersection is the intersection of the replace forms.
        both = change.kept + gone.rows + come.rows
        return self.covers(come, both, False, facts) and self.covers(gone, both, True, facts)

    @property
    def most_rows(self) -> int | None:
        """The most rows of a person whom the relation covers; None for any number.

        Whether a person comes, goes or changes, at most ``rows`` rows of what a question reads do: which rows
        are kept is decided by the person's own rows (Lemma 0 of count's GUARANTEE.md).
        """
        return None

    @abstractmethod
    def covers(self, unit: Unit, holder: tuple[Row, ...], removed: bool, facts: Background) -> bool:
        """Say whether one step is covered: a unit removed from, or added to give, the holder of it."""


def refuse_replaced_rows(relation: Relation) -> None:
    """Refuse to go from replaced rows to replaced persons, who may have different numbers of rows."""
    if relation.adjacency == "replace":
        raise relation.cannot_become(
            "about persons",
            "replacing rows one by one never changes their number, replacing a person may",
            "Convert the add/remove promise to persons first, then to replace.",
        )
