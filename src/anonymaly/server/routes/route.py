# SPDX-License-Identifier: Apache-2.0
"""What a route is; and what several of them take and give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from anonymaly.core.value import is_text

MOST_ITEMS = 200


@dataclass(frozen=True, slots=True)
class Route:
    """One operation: its name in the document and in the table of permissions is the function's."""

    method: str
    path: str
    endpoint: Callable[..., Any]
    gives: Any  # what it answers with, as the document says it: a model or a type
    status: int = 200
    also: tuple[int, ...] = ()  # other statuses that give the same


class Body(BaseModel):
    """What a request carries: no field but those that are named."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Reply(BaseModel):
    """What an answer carries, at least."""

    model_config = ConfigDict(extra="allow")


def one_line(text: str) -> str:
    """Accept text that can be printed in a line, which every database takes."""
    if not text.isprintable() or not is_text(text):
        raise ValueError("must be printable")
    return text


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(one_line)]
Reason = Annotated[str, Field(min_length=1, max_length=2000, description="Why; it is kept for good.")]
Epsilon = Annotated[
    str | int | float, Field(description='ε: a positive number with at most nine decimals, such as "0.1"')
]
Table = Annotated[str, Path(description="The table's name")]
JobId = Annotated[str, Path(description="The id that asking returned")]
After = Annotated[
    str | None,
    Query(max_length=200, description="What `next` of the page before says"),
    AfterValidator(lambda text: text if text is None else one_line(text)),
]
Most = Annotated[int, Query(ge=1, le=MOST_ITEMS, description="The most items of a page")]


class Page(Reply):
    """A part of a list: `next` goes on as `?after=`, or is null at the end."""

    items: list[dict[str, Any]]
    next: str | None


def page(
    items: Sequence[dict[str, Any]], names: Sequence[str], after: str | None, most: int
) -> dict[str, Any]:
    """Cut a page out of a whole list that is sorted by names."""
    pairs = [(name, item) for name, item in zip(names, items, strict=True) if after is None or name > after]
    more = len(pairs) > most
    return {"items": [item for _, item in pairs[:most]], "next": pairs[most - 1][0] if more else None}
