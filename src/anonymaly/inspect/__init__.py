# SPDX-License-Identifier: Apache-2.0
"""Exact facts about the rows, without noise or charge, which only the owner may see."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from anonymaly.declare.dataset import Dataset
from anonymaly.errors import InputError
from anonymaly.inspect import look, odd_rows
from anonymaly.questions.explain import inspect as explain
from anonymaly.questions.identify import inspect as identify

__all__ = [
    "anomalies",
    "columns",
    "context_match",
    "contexts",
    "odd",
    "privacy_map",
    "record",
    "regularity",
]

BANNER = (
    "anonymaly.inspect: exact values from the rows, for the owner alone; nothing of this may be released."
)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _owner_only(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Print a warning on the terminal before exact values are computed."""

    @functools.wraps(function)
    def inspected(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        _need_dataset(*arguments[:1], *(options[name] for name in options if name == "dataset"))
        print(BANNER, file=sys.stderr)  # printed, because a log could be switched off
        return function(*arguments, **options)

    return inspected


def _need_dataset(*given: object) -> None:
    """Refuse what is no declared table; where nothing is given, Python says so itself."""
    for dataset in given:
        if isinstance(dataset, Dataset):
            continue
        raise InputError(
            f"must be a Dataset, got {type(dataset).__name__}",
            field="dataset",
            next_step="Declare the table first: am.Dataset(table, name=…, columns=…); a file with a manifest "
            "is declared by am.Manifest.load('table.yaml').dataset(Path('.')).",
        )


columns = _owner_only(look.columns)
odd = _owner_only(odd_rows.odd)
contexts = _owner_only(explain.contexts)
context_match = _owner_only(explain.context_match)
record = _owner_only(explain.record)
anomalies = _owner_only(identify.anomalies)
privacy_map = _owner_only(identify.privacy_map)
regularity = _owner_only(identify.regularity)


def __dir__() -> list[str]:
    return __all__
