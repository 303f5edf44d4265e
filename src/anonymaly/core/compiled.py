# SPDX-License-Identifier: Apache-2.0
"""The decorator for compiled functions, with types.

Kernels run without the interpreter's lock on short-lived ordinary threads (see `threads`), not in numba's
own thread pools: after a fork, numba's OpenMP pool ends the child process, and its work-queue pool ends
the process when two Python threads enter it at once. Both would be fatal in a server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from anonymaly.core.forks import at_fork
from anonymaly.core.kept_code import KeptCode

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# numba compiles in one thread at a time; a child could never compile if it were born meanwhile.
_LOCK: Any = global_compiler_lock


def _after_in_child() -> None:
    if _LOCK._lock._is_owned():  # also by a compilation that forks
        _LOCK.release()
    else:
        _LOCK._lock = threading.RLock()


at_fork("compiler", before=_LOCK.acquire, in_parent=_LOCK.release, in_child=_after_in_child)


KERNELS: list[Any] = []  # every function that was decorated by `compiled` so far


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile on first call, keep the machine code on disk, and release the interpreter's lock.

    Compiled functions here allocate nothing, so numba's reference counting is left out (`_nrt`): with it, the
    atomic counters around every array passed on took most of the time. None is called from C.

    A constant as an argument, such as ``below(stream, 3)``, is a signature of its own to numba: write
    ``below(stream, whole(3))``, or the function is compiled once more.
    """
    kernel = _decorate(function)
    KERNELS.append(kernel)
    return kernel


def inlined(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a function part of the compiled ones that call it, and compile it alone only if Python calls it.

    Each compiled function is optimised together with all that it calls, and so is each of these: in a chain
    of five, the last is compiled five times. So this is for whatever is called at one place, or is short.
    """
    return _decorate(function, inline="always")


def _decorate(function: Callable[Parameters, Result], **options: Any) -> Callable[Parameters, Result]:
    decorate: Any = njit  # its published signature leaves `_nrt` out
    kernel = decorate(nogil=True, _nrt=False, no_cfunc_wrapper=True, **options)(function)
    kernel._cache = KeptCode(cast("FunctionType", function))  # as `cache=True` does, with numba's own files
    return cast("Callable[Parameters, Result]", kernel)


@inlined
def whole(number: int) -> int:
    """Return a number that numba does not take for a constant."""
    return np.int64(number)  # type: ignore[return-value]


@inlined
def flag(is_set: bool) -> bool:
    """Return a truth value that numba does not take for a constant."""
    return np.bool_(is_set)  # type: ignore[return-value]
