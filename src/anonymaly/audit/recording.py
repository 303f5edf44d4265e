# SPDX-License-Identifier: Apache-2.0
"""Noise that writes down how it is called, and an engine connection that writes down what it is asked."""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymaly.noise import Noise

if TYPE_CHECKING:
    import ibis.expr.types as ir

# What a method adds noise to, or chooses by, is data by its nature: only its shape must not depend on rows.
DATA_ARGUMENTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "add_two_sided_geometric": frozenset({"counts"}),
        "deciding_numbers": frozenset({"counts"}),
        "choose": frozenset({"utilities", "valid"}),
    }
)
# What later calls of a stage depend on: its proof composes them, so given the same choice they must be alike.
CHOICES = frozenset({"partition", "deciding_numbers"})
_READERS = ("to_pyarrow", "to_pyarrow_batches", "to_pandas", "to_polars", "execute")
_STATEMENTS = ("compile", "raw_sql")
_MEMORY_TABLE = re.compile(r"ibis_\w*memtable_\w+")


@dataclass(frozen=True)
class Call:
    """One call for noise: everything about it that must not depend on rows."""

    stage: str
    method: str
    parameters: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        listed = ", ".join(f"{name}={text}" for name, text in self.parameters)
        return f"{self.method}({listed}) in stage {self.stage}"


class RecordingNoise(Noise):
    """Noise that keeps a list of the calls made to it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> noise = RecordingNoise.seeded(1)
    >>> noise.stage = "count"
    >>> drawn = noise.add_two_sided_geometric([4, 5], Fraction(1, 2))
    >>> print(noise.calls[0])
    add_two_sided_geometric(counts=shape (2,), rate=1/2) in stage count
    """

    def __init__(self, fresh_key: Callable[[], bytes], *, reproducible: bool) -> None:
        super().__init__(fresh_key, reproducible=reproducible)
        self.calls: list[Call] = []
        self.stage = ""
        self.data_arguments = DATA_ARGUMENTS
        self.chosen: list[Any] = []
        self.given: list[Any] = []  # choices that another run made, which this one has to go on from
        self._inside = False

    @classmethod
    def seeded(cls, seed: int) -> RecordingNoise:
        """Return recording noise that repeats from run to run."""
        noise = super().seeded(seed)
        assert isinstance(noise, cls)  # noqa: S101 - narrows the inherited return type
        return noise

    def __getattribute__(self, name: str) -> Any:
        # Caught here rather than method by method, so that a draw added to Noise later is recorded as well.
        attribute = super().__getattribute__(name)
        if name.startswith("_") or not inspect.isroutine(attribute) or self._inside:
            return attribute

        @functools.wraps(attribute)
        def recorded(*positions: Any, **names: Any) -> Any:
            bound = inspect.signature(attribute).bind(*positions, **names)
            bound.apply_defaults()
            data = self.data_arguments.get(name, frozenset())
            parameters = tuple(
                (argument, f"shape {np.shape(value)}" if argument in data else _text(value))
                for argument, value in bound.arguments.items()
            )
            self.calls.append(Call(self.stage, name, parameters))
            self._inside = True
            try:
                drawn = attribute(*positions, **names)
            finally:
                self._inside = False
            if name in CHOICES:
                drawn = self.given.pop(0) if self.given else drawn
                self.chosen.append(drawn)
            return drawn

        return recorded


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes {hashlib.sha256(value).hexdigest()[:8]}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.tolist()}"
    return str(value)


@contextmanager
def recorded_statements(table: ir.Table) -> Iterator[list[str]]:
    """Collect what the table's engine is asked while the block runs: reads, and their full statements."""
    backend = table.get_backend()
    statements: list[str] = []

    def read(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def recorded(*positions: Any, **names: Any) -> Any:
            statements.append(name)
            return method(*positions, **names)

        return recorded

    def state(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def recorded(*positions: Any, **names: Any) -> Any:
            result = method(*positions, **names)
            text = result if isinstance(result, str) else positions[0] if positions else names
            # Memory tables are named by chance; what they hold is not compared, as little as any table.
            statements.append(_MEMORY_TABLE.sub("memtable", " ".join(str(text).split())))
            return result

        return recorded

    wrappers = {**dict.fromkeys(_READERS, read), **dict.fromkeys(_STATEMENTS, state)}
    found = {name: wrap for name, wrap in wrappers.items() if hasattr(backend, name)}
    for name, wrap in found.items():
        setattr(backend, name, wrap(name, getattr(backend, name)))
    try:
        yield statements
    finally:
        for name in found:
            delattr(backend, name)


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@contextmanager
def recorded_lines(logger_name: str = "anonymaly") -> Iterator[list[str]]:
    """Collect the log lines of all levels that the package writes while the block runs."""
    logger, handler = logging.getLogger(logger_name), _Lines()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(1)
    logger.propagate = False  # an audit provokes failures on purpose; they are no news to whoever runs it
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
