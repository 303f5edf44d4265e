# SPDX-License-Identifier: Apache-2.0
"""What a server says: its problems as the library's errors, and what no curator says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from anonymaly.errors import (
    AnonymalyError,
    AnswerForgotten,
    BudgetExceeded,
    DeclarationChanged,
    InputError,
    Refused,
    ServerError,
)

# What is raised by data of another kind: also numbers beyond all measure, and levels beyond the stack.
UNREAD: tuple[type[Exception], ...] = (
    *(KeyError, TypeError, ValueError, AttributeError),
    *(ArithmeticError, RecursionError),
)
_KINDS: Mapping[int, type[AnonymalyError]] = {
    400: InputError,
    402: BudgetExceeded,
    403: Refused,
    404: InputError,
    409: DeclarationChanged,
    410: AnswerForgotten,
    413: InputError,
    422: InputError,
    429: Refused,
}


@contextmanager
def understood(host: str, *also: type[Exception]) -> Iterator[None]:
    """Turn whatever is missing or of another kind in what a server tells, and other errors, into one."""
    try:
        yield
    except (*UNREAD, *also) as problem:
        raise ServerError(
            f"{host} does not answer as a curator of this version does ({type(problem).__name__})",
            field="url",
            next_step="Check the address, and which version the server has.",
        ) from None


def read_problem(told: Mapping[str, Any]) -> AnonymalyError:
    """Return the error that a server's problem stands for, as the library would have raised it."""
    kind = _KINDS.get(told.get("status", 0), ServerError)
    field = told.get("field") or ("url" if told.get("status") == 404 else None)
    next_step = told.get("next_step")
    return kind(
        printable(told["problem"]),
        field=None if field is None else printable(field),
        next_step=None if next_step is None else printable(next_step),
    )


def printable(told: Any) -> str:
    """Return a server's words without what would change a terminal."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(told))
