# SPDX-License-Identifier: Apache-2.0
"""`DeclaredColumn`, the base of what an owner declares about a column: its kind, and how it is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Annotated, Any, Self

from pydantic import SkipValidation, field_validator, model_validator

from anonymaly.core.value import Frozen, added
from anonymaly.engine.columns import Kind
from anonymaly.engine.reading import OF_ALL, OF_KIND, Reading
from anonymaly.errors import InputError


class DeclaredColumn(Frozen):
    """What all kinds of columns have."""

    named_only = frozenset({"type", "read"})

    # Not validated once more: a copy would not know which fields were given.
    read: Annotated[Reading | None, SkipValidation] = added(None)
    """How the column's values are written; without it, as the table's types and ISO 8601 have it."""

    @field_validator("read", mode="before")
    @classmethod
    def _read_reading(cls, data: Any) -> Any:
        return read_reading(data, field="read")

    @model_validator(mode="after")
    def _read_fits(self) -> Self:
        if self.read is not None:
            _refuse_unfit(self.read, self.kind)
        return self

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        # What was added, last and only where it says something.
        shown = dict(super().__repr_args__())
        added_fields = {name: shown.pop(name) for name in ("other", "read") if name in shown}
        return [*shown.items(), *((name, item) for name, item in added_fields.items() if item is not None)]

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What a table's column is read as."""

    @property
    def reading(self) -> Reading | None:
        """How the engine reads the column: as declared, with all there is to know about it."""
        return self.read


def read_reading(data: Any, *, field: str) -> Reading | None:
    """Read how a column, or a whole file, is written, from plain data."""
    if data is None or isinstance(data, Reading):
        return data
    try:
        return Reading.read(data)
    except InputError as error:
        place = f"{field}.{error.field}" if error.field else field
        raise InputError(error.problem, field=place, next_step=error.next_step) from None


def _refuse_unfit(reading: Reading, kind: Kind) -> None:
    for name in reading.to_dict():
        if name not in OF_KIND[kind] | OF_ALL:
            fields = ", ".join(sorted(OF_KIND[kind] | OF_ALL))
            raise InputError(
                f"says nothing about a column of the kind {kind}",
                field=f"read.{name}",
                next_step=f"Leave it out; of such a column one can say {fields}.",
            )
