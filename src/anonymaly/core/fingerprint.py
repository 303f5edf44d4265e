# SPDX-License-Identifier: Apache-2.0
"""What machine code depends on, as one digest: a function, all that it calls, and the constants of all.

numba itself looks at the one file that a function is in, and would go on using code in which an earlier
version of another file's function, or constant, is compiled.
"""

from __future__ import annotations

import hashlib
import inspect
import platform
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.types import BaseTuple, Type

from anonymaly.version import __version__

# Their code is compiled by numba's rules, and the versions are part of every digest.
_KNOWN = ("builtins", "llvmlite", "math", "numba", "numpy")


@cache
def fingerprint(function: FunctionType) -> str:
    """Return the digest of a function and of everything that it uses."""
    digest = hashlib.sha256()
    versions = (__version__, numba.__version__, llvmlite.__version__, np.__version__, sys.version)
    for text in (repr(versions), platform.machine(), *_function(function, set())):
        digest.update(f"{len(text)}:{text}".encode(errors="surrogatepass"))
    return digest.hexdigest()


def types_in_words(types: tuple[Type, ...]) -> str:
    """Return a signature with the names of all fields, which numba's own words leave out."""
    return ", ".join(_type(kind) for kind in types)


def _type(kind: Type) -> str:
    if not isinstance(kind, BaseTuple):
        return repr(kind)
    parts: Any = kind
    return f"{kind!r}{getattr(kind, 'fields', '')}[{types_in_words(tuple(parts.types))}]"


def _function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    if id(function) in seen:
        return
    seen.add(id(function))
    yield function.__qualname__
    codes = list(_codes(function.__code__))
    names = sorted({name for code in codes for name in code.co_names})
    for code in codes:
        yield code.co_code.hex()
        yield repr((code.co_varnames, code.co_names, code.co_freevars, code.co_argcount))
        yield from (_constant(item) for item in code.co_consts)
    for cell in function.__closure__ or ():
        yield from _value(cell.cell_contents, names, seen)
    yield from (text for item in function.__defaults__ or () for text in _value(item, names, seen))
    for name in names:
        if name in function.__globals__:
            yield name
            yield from _value(function.__globals__[name], names, seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _codes(item)


def _constant(item: Any) -> str:
    if isinstance(item, CodeType):  # its own turn comes, and its repr has an address
        return "code"
    return repr(sorted(map(repr, item))) if isinstance(item, frozenset) else repr(item)


def _value(item: Any, names: list[str], seen: set[int]) -> Iterator[str]:
    """Yield what is known of something that a function names; of a module, of those parts that are named."""
    home = getattr(item, "__module__", None) or getattr(item, "__name__", "")
    if isinstance(item, Dispatcher):
        yield repr(sorted((name, repr(option)) for name, option in item.targetoptions.items()))
        yield from _function(item.py_func, seen)
    elif isinstance(item, ModuleType):
        if item.__name__.partition(".")[0] not in _KNOWN and id(item) not in seen:
            for name in names:
                if name in vars(item):
                    yield from _value(vars(item)[name], names, seen)
    elif isinstance(item, np.ndarray | np.generic):
        yield f"{item.dtype} {item.shape} {item.tobytes().hex()}"
    elif isinstance(item, tuple):
        yield str(len(item))
        yield from (text for part in item for text in _value(part, names, seen))
    elif item is None or isinstance(item, bool | int | float | complex | str | bytes):
        yield repr(item)
    elif isinstance(item, type):
        yield f"{item.__module__}.{item.__qualname__} {getattr(item, '_fields', ())}"
    elif str(home).partition(".")[0] in _KNOWN and not hasattr(item, "_defn"):
        yield f"{home}.{getattr(item, '__name__', type(item).__name__)}"
    else:
        # Python code that emits machine code, or anything else: all of its file counts.
        yield _file_of(getattr(item, "_defn", item))


def _file_of(item: Any) -> str:
    return hashlib.sha256(Path(inspect.getfile(item)).read_bytes()).hexdigest()
