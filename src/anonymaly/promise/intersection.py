# SPDX-License-Identifier: Apache-2.0
"""The intersection of relations, in a normal form, so that equal promises are equal values.

Intersections are flattened into their parts. The normal form keeps each part that is not known to contain
another one, in the order of their canonical text. "Known to be inside" is a strict partial order on
values, and the minimal elements of a finite set do not depend on how it was put together: hence the laws
of intersection hold as equality.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field, field_validator

from anonymaly.core.rate import Adjacency
from anonymaly.declare.rules import Rule
from anonymaly.errors import InputError
from anonymaly.promise.change import Background, Change
from anonymaly.promise.contexts import SameValidContexts
from anonymaly.promise.everyone import Everyone
from anonymaly.promise.readings import ValuesWithin
from anonymaly.promise.relation import Relation
from anonymaly.promise.sensitive_records import SensitiveRecords
from anonymaly.promise.sensitive_under_policy import SensitiveUnderPolicy

Atom = Everyone | SensitiveRecords | SensitiveUnderPolicy | SameValidContexts | ValuesWithin


class Intersection(Relation):
    """The pairs that are in all parts. Build it with `intersect`, which returns a single part as itself.

    Examples
    --------
    >>> from anonymaly.declare.rules import Policy
    >>> adults, consenting = (SensitiveUnderPolicy(None, Policy(text)) for text in ("age >= 18", "consent"))
    >>> Intersection([consenting, adults]) == Intersection([adults, consenting, Everyone()])
    True
    """

    type: Literal["intersection"] = "intersection"
    parts: tuple[Annotated[Atom, Field(discriminator="type")], ...]

    if TYPE_CHECKING:

        def __init__(self, parts: Sequence[Relation], *, type: str = "intersection") -> None: ...
    else:

        @property
        def adjacency(self) -> Adjacency:
            """The adjacency that all parts share."""
            return self.parts[0].adjacency

        @property
        def rows(self) -> int | None:
            """The number of rows that one unit may have, in all parts."""
            return self.parts[0].rows

    @field_validator("parts", mode="before")
    @classmethod
    def _normal(cls, parts: Any) -> tuple[Relation, ...]:
        if isinstance(parts, str | Mapping) or not isinstance(parts, Sequence):
            raise ValueError("must be a list of relations")
        kept = _smallest([read_relation(part) for part in parts])
        if len(kept) < 2:
            raise ValueError("come to a single relation; build it with intersect, which returns that one")
        return kept

    def includes(self, change: Change, facts: Background) -> bool:
        """Say whether a change is in all parts."""
        return all(part.includes(change, facts) for part in self.parts)

    @property
    def holds_additions(self) -> bool:
        """Whether all parts hold them."""
        return all(part.holds_additions for part in self.parts)

    @property
    def of_single_records(self) -> bool:
        """Whether all parts are."""
        return all(part.of_single_records for part in self.parts)

    def atoms(self) -> tuple[Relation, ...]:
        """Return the parts."""
        return self.parts

    def protects(self) -> str:
        """Say in plain words who is protected."""
        who = "whoever" if self.adjacency == "add_remove" else "what"
        return f"{who} all of these protect: " + _numbered(part.protects() for part in self.parts)

    def leaves_out(self) -> str:
        """Say in plain words who is not; a part's own words may hold of that part alone."""
        hidden = self.holds_additions
        texts = (
            part.leaves_out(absence_hidden=hidden)
            if isinstance(part, SensitiveUnderPolicy)
            else part.leaves_out()
            for part in self.parts
        )
        return "whoever any of these leaves out: " + _numbered(texts)

    @property
    def row_by_row(self) -> str:
        """Once for all parts."""
        return next((words for part in self.parts if (words := part.row_by_row)), "")

    def difference(self, factor: str) -> str:
        """Say it of ordered pairs, because a part may be one-sided."""
        falls = f"falls by a factor of at most {factor} in every change that all of these relations cover"
        return f"{falls}, and grows by no more where they all cover the reverse"

    def permitted(self, rules: Mapping[str, Rule]) -> bool:
        """Permit what is permitted in every part."""
        return all(part.permitted(rules) for part in self.parts)

    def needs(self) -> tuple[str, Rule] | None:
        """Return the first rule that a part needs."""
        return next((part.needs() for part in self.parts if part.needs() is not None), None)

    def in_replace_form(self) -> Relation:
        """Convert each part: all of them have the same database in the middle (see Stepwise.includes)."""
        return intersect(*(part.in_replace_form() for part in self.parts))

    def for_persons(self, rows: int) -> Relation:
        """Convert each part: the rows may be removed in any order, so in the same one for all."""
        return intersect(*(part.for_persons(rows) for part in self.parts))


def intersect(*relations: Relation) -> Relation:
    """Return the pairs that are in all relations, in normal form.

    Examples
    --------
    >>> from anonymaly.declare.rules import AnomalyModel
    >>> near, far = (SensitiveRecords(None, AnomalyModel(["age"], 2, beta=9, k=k)) for k in (1, 3))
    >>> intersect(near, far, Everyone()) == near
    True
    """
    kept = _smallest(list(relations))
    return kept[0] if len(kept) == 1 else Intersection(kept)


def _smallest(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """Return the distinct parts that contain no other part, in canonical order."""
    if not relations:
        raise InputError("nothing to intersect", next_step="Give at least one relation.")
    parts = {part.to_json(): part for relation in relations for part in relation.atoms()}
    _same({part.adjacency for part in parts.values()}, "adjacency", "g.to_adjacency('replace')")
    _same({part.rows for part in parts.values()}, "rows", "g.to_rows(m)")
    kept = (part for part in parts.values() if not any(other.is_inside(part) for other in parts.values()))
    return tuple(sorted(kept, key=Relation.to_json))


def _same(found: set[Any], field: str, conversion: str) -> None:
    if len(found) > 1:
        raise InputError(
            f"differs ({', '.join(sorted(map(str, found)))}), so the relations are not comparable",
            field=field,
            next_step=f"Convert the guarantees first, with {conversion}, then compose them.",
        )


def _numbered(texts: Any) -> str:
    return "; ".join(f"({place}) {text}" for place, text in enumerate(texts, start=1))


AnyRelation = Annotated[Atom | Intersection, Field(discriminator="type")]
_KINDS: dict[str, type[Relation]] = {
    kind.model_fields["type"].default: kind for kind in (*get_args(Atom), Intersection)
}


def read_relation(data: Any) -> Relation:
    """Read any relation from plain data.

    Examples
    --------
    >>> read_relation({"type": "everyone", "adjacency": "replace"})
    Everyone(type='everyone', adjacency='replace', rows=None)
    """
    if isinstance(data, Relation):
        return data
    name = data.get("type") if isinstance(data, Mapping) else None
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InputError(
            "is not a neighbour relation",
            field="relation",
            next_step=f"Give type ({', '.join(_KINDS)}) and its fields.",
        )
    return kind.read(data)
