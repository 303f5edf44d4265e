# SPDX-License-Identifier: Apache-2.0
"""What callers give: checked before it is written, and compared with what was declared before."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from typing import Any

from anonymaly.core.value import canonical_json
from anonymaly.errors import DeclarationChanged, InputError
from anonymaly.ledger.fixed import fixed
from anonymaly.ledger.records import Rules

DEEPEST = 32  # a declaration is a few levels deep; a thousand levels would exhaust the reader's stack
LONGEST_LABEL = 200
LONGEST_SHOWN = 80
MOST_SHOWN = 10
_AMEND = (
    "Restore what was declared, or, as a table's owner, record the correction: `anonymaly amend MANIFEST "
    "--reason …`, in Python curator.amend(…)."
)
_RESTORE = "Restore what was declared: adjacency, public, person and max_rows cannot be amended."
_ANOTHER_NAME = "Another name would open another budget on the same rows, and the two promises would add up."
_ABSENT = object()


def plain(value: Any, *, field: str, depth: int = 0) -> Any:
    """Copy a value into plain JSON data, or say which part is not plain.

    Examples
    --------
    >>> plain({"age": (0, 120)}, field="declaration")
    {'age': [0, 120]}
    """
    advice = "Give dictionaries with text keys, lists, text, finite numbers, true, false or null."
    if depth > DEEPEST:
        raise InputError(f"is nested more than {DEEPEST} levels deep", field=field, next_step=advice)
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [plain(item, field=field, depth=depth + 1) for item in value]
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: plain(item, field=f"{field}.{name}", depth=depth + 1) for name, item in value.items()}
    kind = "a number that is not finite" if isinstance(value, float) else type(value).__name__
    raise InputError(f"must be plain JSON data, got {kind}", field=field, next_step=advice)


def mapping(value: Any, *, field: str) -> dict[str, Any]:
    """Copy a mapping into plain JSON data."""
    if not isinstance(value, Mapping):
        raise InputError(
            f"must be a mapping, got {type(value).__name__}",
            field=field,
            next_step="Give a dictionary with text keys; it may be empty.",
        )
    copied: dict[str, Any] = plain(value, field=field)
    return copied


def label(value: Any, *, field: str) -> str:
    """Accept a name that every database stores unchanged and every terminal prints on one line."""
    advice = f"Give a text of 1 to {LONGEST_LABEL} characters on one line."
    if not isinstance(value, str):
        raise InputError(f"must be text, got {type(value).__name__}", field=field, next_step=advice)
    if not 0 < len(value) <= LONGEST_LABEL:
        raise InputError(
            f"must have 1 to {LONGEST_LABEL} characters, got {len(value)}", field=field, next_step=advice
        )
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in value):
        raise InputError("must not contain control characters or line breaks", field=field, next_step=advice)
    return value


def whole(value: Any, *, field: str, least: int, most: int) -> int:
    """Accept an integer within bounds; True is not a number."""
    advice = f"Give a whole number from {least} to {most}."
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"must be an integer, got {type(value).__name__}", field=field, next_step=advice)
    if not least <= value <= most:
        raise InputError(f"must be between {least} and {most}, got {value}", field=field, next_step=advice)
    return value


def read_rules(rules: Any) -> Rules:
    """Copy the owner's rules into plain data, name by name; "any" stays "any"."""
    if isinstance(rules, str):
        if rules != "any":
            raise InputError(
                'must be a mapping or "any"',
                field="rules",
                next_step='Give each rule under its name, {} for no rules, or "any" to allow every rule.',
            )
        return "any"
    copied = mapping(rules, field="rules")
    for name, rule in copied.items():
        label(name, field="rules")
        mapping(rule, field=f"rules.{name}")
    return copied


def differences(declared: Any, given: Any, path: str = "") -> list[str]:
    """Say field by field how plain data differs from what was declared.

    Examples
    --------
    >>> differences({"age": {"bounds": [0, 120]}}, {"age": {"bounds": [0, 130]}})
    ['age.bounds: declared 0..120, now 0..130']
    """
    if isinstance(declared, dict) and isinstance(given, dict):
        found: list[str] = []
        for name in sorted(declared.keys() | given.keys()):
            inner = f"{path}.{name}" if path else name
            found += differences(declared.get(name, _ABSENT), given.get(name, _ABSENT), inner)
        return found
    both_lists = isinstance(declared, list) and isinstance(given, list) and len(declared) == len(given)
    if both_lists and any(isinstance(item, dict | list) for item in declared):
        return [
            text
            for index, (old, new) in enumerate(zip(declared, given, strict=True))
            for text in differences(old, new, f"{path}.{index}" if path else str(index))
        ]
    if _same(declared, given):
        return []
    if declared is _ABSENT:
        return [f"{path}: not declared, now {_show(given)}"]
    if given is _ABSENT:
        return [f"{path}: declared {_show(declared)}, now absent"]
    return [f"{path}: {_changed(declared, given)}"]


def refuse_changes(account: str, declared: dict[str, Any], given: dict[str, Any]) -> None:
    """Raise DeclarationChanged if the dataset is not declared as its account is."""
    remedy = _AMEND if fixed(declared) == fixed(given) else _RESTORE
    _refuse(account, "declaration", differences(declared, given), remedy)


def added_rules(account: str, declared: Rules, given: Rules) -> dict[str, Any]:
    """Return the rules that are new; raise DeclarationChanged if one is changed or missing."""
    if declared == "any" or given == "any":
        if declared != given:
            _refuse(account, "rules", [f"rules: declared {_rules(declared)}, now {_rules(given)}"])
        return {}
    kept = {name: rule for name, rule in given.items() if name in declared}
    _refuse(account, "rules", differences({"rules": declared}, {"rules": kept}))
    return {name: rule for name, rule in sorted(given.items()) if name not in declared}


def _refuse(account: str, field: str, found: list[str], remedy: str = _AMEND) -> None:
    if not found:
        return
    shown = "; ".join(found[:MOST_SHOWN])
    raise DeclarationChanged(
        f"the account '{account}' is under another declaration: {shown}{_more(found)}",
        field=field,
        next_step=f"{remedy} {_ANOTHER_NAME}",
    )


def _same(declared: Any, given: Any) -> bool:
    """Compare by value, but true is not 1; 120 and 120.0 are the same bound."""
    if isinstance(declared, list) and isinstance(given, list):
        return len(declared) == len(given) and all(map(_same, declared, given))
    return isinstance(declared, bool) == isinstance(given, bool) and bool(declared == given)


def _changed(declared: Any, given: Any) -> str:
    """Say what something was and is; of long lists, what comes and goes: all of one would be cut off."""
    lists = isinstance(declared, list) and isinstance(given, list)
    if not lists or max(len(canonical_json(item)) for item in (declared, given)) <= LONGEST_SHOWN:
        return f"declared {_show(declared)}, now {_show(given)}"
    gone = [_show(item) for item in declared if item not in given]
    new = [_show(item) for item in given if item not in declared]
    parts = [
        f"{word} {', '.join(items[:MOST_SHOWN])}{_more(items)}"
        for word, items in (("without", gone), ("with", new))
        if items
    ]
    return f"now {' and '.join(parts) or 'in another order'}"


def _more(items: list[str]) -> str:
    return f" and {len(items) - MOST_SHOWN} more" if len(items) > MOST_SHOWN else ""


def _show(value: Any) -> str:
    pair = isinstance(value, list) and len(value) == 2
    if pair and all(isinstance(item, int | float) and not isinstance(item, bool) for item in value):
        return f"{value[0]}..{value[1]}"
    text = value if isinstance(value, str) and value.isprintable() else canonical_json(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"


def _rules(rules: Rules) -> str:
    return '"any"' if rules == "any" else f"named rules ({', '.join(sorted(rules)) or 'none'})"
