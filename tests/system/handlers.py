# SPDX-License-Identifier: Apache-2.0
"""Finds, in the source, every handler that does work of its own: what runs when something has gone wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import anonymaly

ROOT = Path(anonymaly.__file__).parent
# Calls that change nothing, besides those of classes (such as `Failed(...)`) and of errors that are raised.
PURE = frozenset(
    [
        "any",
        "bool",
        "bytes",
        "dict",
        "getattr",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
        "next",
        "repr",
        "sorted",
        "str",
        "tuple",
        "type",
    ]
)
QUIET = frozenset({"join", "partition", "removeprefix", "format"})  # methods of texts
Try = ast.Try | ast.TryStar


def working_handlers() -> list[str]:
    """Return ``file:function:what`` of each `except`, `finally`, `__exit__` and `__del__` that does work.

    Work is a call, other than to make an error or to look at something, or a change of what outlives it.
    The second one alike in a function has ``#2`` at its end.
    """
    found: list[str] = []
    for path in sorted(ROOT.rglob("*.py")):
        for name in _in_tree(ast.parse(path.read_text("utf-8")), path.relative_to(ROOT).as_posix()):
            number = sum(known.partition("#")[0] == name for known in found) + 1
            found.append(name if number == 1 else f"{name}#{number}")
    return found


def _in_tree(node: ast.AST, place: str, function: str = "") -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        inner = function
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{function}.{child.name}".removeprefix(".")
            if child.name in ("__exit__", "__aexit__", "__del__") and _works(child.body):
                yield f"{place}:{inner}"
        if isinstance(child, ast.Try | ast.TryStar):
            yield from _in_try(child, place, function)
        yield from _in_tree(child, place, inner)


def _in_try(node: Try, place: str, function: str) -> Iterator[str]:
    for handler in node.handlers:
        if _works(handler.body):
            kind = ast.unparse(handler.type) if handler.type else ""
            yield f"{place}:{function}:except {kind}".rstrip()
    if _works(node.finalbody):
        yield f"{place}:{function}:finally"


def _works(body: list[ast.stmt]) -> bool:
    return any(_is_work(node) for statement in body for node in _walk(statement))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a tree's nodes, without those that only make the error that is raised."""
    if isinstance(node, ast.Raise):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def _is_work(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name not in PURE and not name.lstrip("_")[:1].isupper()
        case ast.Call(func=ast.Attribute(attr=name)):
            return name not in QUIET and not name[:1].isupper()
        case ast.Call() | ast.Delete() | ast.Await() | ast.Yield() | ast.YieldFrom():
            return True
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            return True
    return False


if __name__ == "__main__":
    print("\n".join(working_handlers()))
