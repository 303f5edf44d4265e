# SPDX-License-Identifier: Apache-2.0
"""What the source says of a class's fields: the text under each field's name.

Pydantic can read it too, but looks for each class in all modules and splits its source into tokens: a sixth
of the time that `anonymaly ledger` takes. One file is parsed here once for all of its classes.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterable, Mapping
from functools import cache

_Scope = ast.Module | ast.ClassDef | ast.FunctionDef


def descriptions_of(kind: type) -> Mapping[str, str]:
    """Return field → description, each in one line; nothing for a class whose source is not in a file.

    Examples
    --------
    >>> from anonymaly.questions.count.query import Count
    >>> descriptions_of(Count)["where"].partition(";")[0]
    'A filter such as "ward == \\'A\\' and age >= 18"'
    """
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return {} if file is None else _classes_in(file).get(kind.__qualname__, {})


@cache
def _classes_in(file: str) -> Mapping[str, Mapping[str, str]]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # not Python's own source, such as a page with examples
        return {}
    return dict(_walk(tree, ""))


def _walk(scope: _Scope, prefix: str) -> Iterable[tuple[str, Mapping[str, str]]]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            yield f"{prefix}{node.name}", dict(_fields(node))
            yield from _walk(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield from _walk(node, f"{prefix}{node.name}.<locals>.")


def _fields(node: ast.ClassDef) -> Iterable[tuple[str, str]]:
    for field, text in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            yield field.target.id, " ".join(text.value.value.split())
