# SPDX-License-Identifier: Apache-2.0
"""The decorator for compiled functions, with types.

Kernels run without the interpreter's lock on short-lived ordinary threads (see `threads`), not in numba's
own thread pools: after a fork, numba's OpenMP pool ends the child process, and its work-queue pool ends
the process when two Python threads enter it at once. Both would be fatal in a server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from anonymaly.core.forks import at_fork

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


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile on first call, keep the machine code on disk, and release the interpreter's lock.

    Compiled functions here allocate nothing, so numba's reference counting is left out (`_nrt`): with it, the
    atomic counters around every array passed on took most of the time.
    """
    # numba notices only a change of the function's own file: after editing a compiled function that other
    # files call, remove the __pycache__ directories.
    decorate: Any = njit  # its published signature leaves `_nrt` out
    return cast("Callable[Parameters, Result]", decorate(cache=True, nogil=True, _nrt=False)(function))
