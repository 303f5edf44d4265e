# SPDX-License-Identifier: Apache-2.0
"""Counts readings of the clock, and calls into whatever handles rows: engine, kernels, encoders, store."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

import anonymaly
from anonymaly.audit.system.fault import replaced
from anonymaly.audit.system.operations import Operations

_PACKAGE = Path(anonymaly.__file__).parent
_CLOCKS = ("monotonic", "perf_counter", "time")
# Files and folders of the package, as patterns.
CALLED = (
    "engine/*.py",
    "questions/*/kernels/*.py",
    "questions/*/value.py",
    "ask/encoding.py",
    "ask/store.py",
    "ask/table.py",
    "core/files.py",
)


@contextmanager
def clock_operations(operations: Operations) -> Iterator[None]:
    """Count how often the package's own code reads a clock."""

    def counted(name: str, really: Callable[[], float]) -> Callable[[], float]:
        def read() -> float:
            if sys._getframe(1).f_globals.get("__name__", "").startswith("anonymaly."):
                operations.step(f"time.{name}")
            return really()

        return read

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            operations.step("datetime.now")
            return datetime.now(tz)

    with ExitStack() as stack:
        for name in _CLOCKS:
            stack.enter_context(replaced(time, name, counted(name, getattr(time, name))))
        for module in _modules():
            if vars(module).get("datetime") is datetime and module.__name__ != __name__:
                stack.enter_context(replaced(module, "datetime", Clock))
        yield


@contextmanager
def call_operations(operations: Operations) -> Iterator[None]:
    """Count calls into the files of ``CALLED``, and of the compiled functions that they hold."""
    files = {str(path) for pattern in CALLED for path in _PACKAGE.glob(pattern)}

    def heard(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Whoever reads a generator's items is called; the generator itself is also entered to be closed.
        if event == "call" and code.co_filename in files and code.co_name != "<genexpr>":
            path = Path(code.co_filename)
            operations.step(f"{path.parent.name}/{path.stem}.{code.co_qualname}")

    with ExitStack() as stack:
        for module, name, function in list(_compiled(files)):
            stack.enter_context(replaced(module, name, _counted(operations, name, function)))
        before = sys.getprofile()
        sys.setprofile(heard)
        try:
            yield
        finally:
            sys.setprofile(before)


def _counted(operations: Operations, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        operations.step(f"compiled {name}")
        return function(*arguments, **named)

    return call


def _compiled(files: set[str]) -> Iterator[tuple[Any, str, Any]]:
    """Yield where Python code of the package finds compiled functions of these files.

    Where compiled code finds them they stay: it may be compiled only now, and could not call Python.
    """
    found = [
        (module, name, item, item.py_func)
        for module in _modules()
        for name, item in list(vars(module).items())
        if getattr(item, "py_func", None) is not None
    ]
    named = {(id(python.__globals__), used) for *_, python in found for used in python.__code__.co_names}
    for module, name, item, python in found:
        if python.__code__.co_filename in files and (id(vars(module)), name) not in named:
            yield module, name, item


def _modules() -> list[Any]:
    return [module for name, module in list(sys.modules.items()) if name.startswith("anonymaly.")]
