# SPDX-License-Identifier: Apache-2.0
"""The half of a curator that holds the table: checked before the charge, read after it."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, BinaryIO

from anonymaly.ask.binding import Binding, StageFailure
from anonymaly.ask.drawing import Draw, Failed
from anonymaly.declare.dataset import Dataset
from anonymaly.engine.statements import EngineFailure
from anonymaly.errors import DeclarationChanged
from anonymaly.noise import Noise

if TYPE_CHECKING:
    import ibis.expr.types as ir


class Reader:
    """Reads one table for questions that are already charged."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def ready(self, bound: Binding) -> Draw:
        """Check schema, permission and connection without reading rows; return what draws the answer."""
        if self.dataset.with_adjacency(bound.declaration.adjacency) != bound.declaration:
            raise DeclarationChanged(
                f"{self.dataset.name} was amended while this question was bound to an earlier declaration",
                field="declaration",
                next_step="Ask anew; nothing was charged.",
            )
        table = self.dataset.ready(bound.policy)
        return lambda file: self._draw(bound, table, file)

    def _draw(self, bound: Binding, table: ir.Table, file: BinaryIO) -> Failed | None:
        """Write one value to a file, or say where that failed.

        An engine's error quotes rows, so it ends here: no error that is raised later may have it as its
        context, and neither may an interrupt that arrives while it is being handled.
        """
        try:
            value = bound.answer(table, Noise.system())
            _encode(bound, value, file)
            return None
        except BaseException as problem:
            caught = problem
        # Outside of the handler: whatever goes wrong in one has the engine's error as its context.
        _let_go(caught)
        if isinstance(caught, StageFailure):
            return self._failed(caught)
        if not self.dataset.public:
            caught.__cause__ = caught.__context__ = None
        raise caught  # an interrupt; or the disk's fault, and the store's to report

    def _failed(self, failure: StageFailure) -> Failed:
        cause = failure.__cause__
        kind = type(cause).__name__
        what = f"{cause.kind} in {cause.template}" if isinstance(cause, EngineFailure) else kind
        return Failed(failure.stage, kind, what, root_cause(failure) if self.dataset.public else None)


def _let_go(problem: BaseException) -> None:
    """Empty the frames that an error came through, which hold rows, and a statement that is half read.

    The error outlives this draw, and no other statement runs before that one ends.
    """
    link: BaseException | None = problem
    seen: set[int] = set()  # an error that a library keeps and raises again may come back to itself
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__


def root_cause(failure: StageFailure) -> BaseException:
    """Return the original error, for tables that hold no secrets."""
    cause = failure.__cause__
    return (cause.__cause__ if isinstance(cause, EngineFailure) else cause) or failure


def _encode(bound: Binding, value: object, file: BinaryIO) -> None:
    try:
        bound.query.encode(value, file)
    except OSError:
        raise  # the disk's fault, not the question's
    except Exception as problem:
        raise StageFailure("encode") from problem
