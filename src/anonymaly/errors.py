# SPDX-License-Identifier: Apache-2.0
"""The errors of the package: each has a problem, a field and a next step.

AnonymalyError
├── InputError                 the caller gave something that cannot be used (exit code 2)
│   ├── ExpressionError        a filter or policy text that does not parse or does not fit the columns
│   ├── SchemaError            the table's columns or types are not what was declared
│   └── ManifestError          the YAML file is malformed or incomplete
├── Refused                    a valid request that is not allowed; nothing was spent (exit code 1)
│   ├── BudgetExceeded         the account cannot pay for the question
│   ├── RuleNotDeclared        the question needs a promise that the owner did not declare
│   ├── DeclarationChanged     the account is under another declaration
│   ├── AnswerForgotten        the owner erased the answer; what was charged for it stands
│   └── Proposed               it waits as a proposal until it is confirmed on the server's host
├── LedgerError                the ledger cannot be used (exit code 2)
│   ├── LedgerMissing          it does not exist, and was not to be created
│   ├── LedgerDamaged          its chain, its triggers or its file do not verify
│   ├── LedgerTooNew           it was written by a later version
│   └── LedgerBehindAnchor     it is older than its anchor: a restored copy
├── ServerError                a server does not answer, or not as a curator does (exit code 2)
├── ExtraMissing               an optional package is not installed (exit code 2)
└── AnswerFailed               charged, without an answer; the same words whatever the rows (exit code 1)

NoPromiseWarning is a warning: noise that repeats promises nothing.

No message ever contains a value from a row, a number of rows, or an engine's own error text.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any, ClassVar


class AnonymalyError(Exception):
    """A problem, the field it is about, and the next step.

    Parameters
    ----------
    problem : str
        What is wrong, with the numbers.
    field : str, optional
        The name the user typed: a query field, a column, an option.
    next_step : str, optional
        What to do about it, as an instruction.

    Examples
    --------
    >>> print(InputError("must be positive, got 0", field="epsilon", next_step="Give a number such as 0.1."))
    epsilon: must be positive, got 0. Give a number such as 0.1.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, problem: str, *, field: str | None = None, next_step: str | None = None) -> None:
        self.problem = problem
        self.field = field
        self.next_step = next_step
        super().__init__(problem)

    def __str__(self) -> str:
        text = f"{self.field}: {self.problem}" if self.field else self.problem
        if self.next_step is None:
            return text
        if "\n" in text:  # a list: a full stop would belong to its last line
            return f"{text}\n{self.next_step}"
        return f"{text}{'' if text.endswith(('.', '?', '!')) else '.'} {self.next_step}"

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would call the class with the message only and lose the keyword fields.
        return _rebuild, (type(self), self.problem, self.field, self.next_step)

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the words and the caller's line, and no line of this package."""
        here = str(Path(__file__).parent)
        frames = traceback.extract_tb(self.__traceback__)
        inside = (place for place, frame in enumerate(frames) if frame.filename.startswith(here))
        called = frames[: next(inside, len(frames))][-1:]
        lines = [f"  in line {frame.lineno}: {frame.line}" for frame in called if frame.line]
        return [f"{type(self).__name__}: {self}", *lines]

    def to_dict(self) -> dict[str, str | None]:
        """Return the error as plain data, for ``--json`` and the server."""
        return {
            "error": type(self).__name__,
            "field": self.field,
            "problem": self.problem,
            "next_step": self.next_step,
        }


def _rebuild(
    kind: type[AnonymalyError], problem: str, field: str | None, next_step: str | None
) -> AnonymalyError:
    return kind(problem, field=field, next_step=next_step)


class InputError(AnonymalyError):
    """The caller gave something that cannot be used."""


class ExpressionError(InputError):
    """A filter or policy text that does not parse or does not fit the columns."""


class SchemaError(InputError):
    """The table's columns or types are not what was declared."""


class ManifestError(InputError):
    """The YAML file is malformed or incomplete."""


class Refused(AnonymalyError):
    """A valid request that is not allowed; nothing was spent."""

    exit_code = 1


class BudgetExceeded(Refused):
    """The account cannot pay for the question."""


class RuleNotDeclared(Refused):
    """The question needs a promise that the owner did not declare."""


class DeclarationChanged(Refused):
    """The account is under another declaration."""


class AnswerForgotten(Refused):
    """The owner erased the answer; what was charged for it stands."""


class Proposed(Refused):
    """It waits as a proposal: nothing has changed until it is confirmed on the server's host."""


class LedgerError(AnonymalyError):
    """The ledger cannot be used."""


class LedgerMissing(LedgerError):
    """The ledger does not exist, and was not to be created."""


class LedgerDamaged(LedgerError):
    """The ledger's chain, triggers or file do not verify."""


class LedgerTooNew(LedgerError):
    """The ledger was written by a later version, in a format that this one cannot read."""


class LedgerBehindAnchor(LedgerError):
    """The ledger is older than its anchor: a restored copy."""


class ServerError(AnonymalyError):
    """A server does not answer, or not as a curator does."""


class ExtraMissing(AnonymalyError, ImportError):
    """An optional package is not installed; the next step is the command that installs it."""


class NoPromiseWarning(UserWarning):
    """Noise that repeats was asked for, and nothing is promised of what is made with it."""


class AnswerFailed(AnonymalyError):
    """Charged, without an answer; the message is the same whatever the rows are."""

    exit_code = 1
