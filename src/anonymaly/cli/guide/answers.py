# SPDX-License-Identifier: Apache-2.0
"""What an owner's short answers mean: ``0 to 120``, ``A, B, C``, ``file wards.csv``, ``out``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import yaml

from anonymaly.cli.guide.names import UNDECLARED
from anonymaly.cli.guide.proposal import OUT, Proposal
from anonymaly.declare.domain import read_domain, read_moment
from anonymaly.errors import InputError

COLUMN_ANSWERS = """\
A line may become, for example:
  numbers   0 to 120                    unbounded: no publicly known bounds
  dates     2020-01-01 to 2026-12-31
  texts     A, B, C                     with other spellings: Male = M = m, Female = F
            A, B; other Rest            all others as one
            file wards.csv              one value a line, for long lists
  any       flag: true or false         opaque: passed on, never looked into
            out: no question sees it    ?: to be said later"""
_ADVICE = (
    "Answer as in 0 to 120 (numbers or dates), A, B, C, file NAME.csv, flag, unbounded, opaque, out or ?."
)
# How values are written stays with a column whose kind changes, as far as it fits.
_READ = {
    "interval": ("decimal", "thousands", "signs", "nulls", "trim"),
    "unbounded": ("decimal", "thousands", "signs", "nulls", "trim"),
    "timestamps": ("dates", "unix", "zone", "nulls", "trim"),
    "categories": ("same", "fold", "nulls", "trim"),
    "flag": ("means_true", "means_false", "fold", "nulls", "trim"),
    "opaque": ("nulls", "trim"),
}


def read_column(text: str, proposal: Proposal) -> Proposal:  # noqa: PLR0911  (one for each kind of answer)
    """Return a column as the owner's answer declares it."""
    answer = text.strip()
    if answer.casefold() in (OUT, "leave out", "no"):
        return replace(proposal, type=OUT, fields={}, read={}, choices=(), why="", advice="", seen=())
    if answer == UNDECLARED:
        return proposal if proposal.type != OUT else _with(proposal, "categories", {"values": [UNDECLARED]})
    if answer in ("flag", "unbounded", "opaque"):
        return _with(proposal, answer, {})
    if answer.startswith("{"):
        return _full(answer, proposal)
    if answer.casefold().startswith("file "):
        return _with(proposal, "categories", {"values": {"file": answer[5:].strip()}})
    between = re.fullmatch(r"(\S.*?)\s+(?:to|bis|\.\.)\s+(\S.*)", answer)
    if between:
        low, high = between.groups()
        kind = "timestamps" if _is_day(low) or _is_day(high) else "interval"
        first, last = ("start", "end") if kind == "timestamps" else ("low", "high")
        read = read_day if kind == "timestamps" else read_bound
        return _checked(_with(proposal, kind, {first: read(low), last: read(high)}))
    return _checked(_with(proposal, "categories", *_values(answer)))


def read_range(text: str) -> dict[str, str]:
    """Read two days."""
    parts = re.split(r"\s+(?:to|bis|\.\.)\s+", text.strip())
    if parts == [UNDECLARED]:
        return {"start": UNDECLARED, "end": UNDECLARED}
    if len(parts) != 2:
        raise InputError("is not two days", next_step="Answer as in: 2020-01-01 to 2026-12-31.")
    start, end = (read_day(part) for part in parts)
    read_domain({"type": "timestamps", "start": start, "end": end}, field="")
    return {"start": start, "end": end}


def read_day(text: str) -> str:
    """Read a day as ISO writes it."""
    if text == UNDECLARED:
        return text
    try:
        read_moment(text)
    except ValueError as problem:
        raise InputError(str(problem), next_step="Answer as in: 2020-01-01 to 2026-12-31.") from None
    return text


def read_bound(text: str) -> int | float | str:
    """Read a number as Python writes it, with _ between thousands if need be."""
    if text == UNDECLARED:
        return text
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        raise InputError(f"{text} is not a number", next_step=_ADVICE) from None
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def read_count(text: str) -> int | None:
    """Read a positive whole number; "?" leaves it open."""
    if text == UNDECLARED:
        return None
    plain = re.sub(r"[ _,.']", "", text)
    if not plain.isdecimal() or int(plain) < 1:
        raise InputError("is not a positive whole number", next_step="Answer as in: 12.")
    return int(plain)


def read_list(text: str) -> list[str]:
    """Read texts with commas between them, or a YAML list; "none" is an empty one."""
    if text.strip().casefold() == "none":
        return []
    if text.strip().startswith("["):
        return [str(item) for item in _yaml(text)]
    return [part.strip() for part in text.split(",") if part.strip()]


def read_lines(text: str, columns: Sequence[str]) -> list[int]:
    """Read which lines of a table are meant: numbers, ranges, or names of columns."""
    found: list[int] = []
    if text.strip().casefold() == "none":
        return found
    if text.strip() in columns:
        return [columns.index(text.strip())]
    for part in re.split(r"[,\s]+", text.strip()):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if part in columns:
            found.append(columns.index(part))
        elif not 1 <= first <= last <= len(columns):
            raise InputError(f"there is no line {part}", next_step=f"Give numbers from 1 to {len(columns)}.")
        else:
            found.extend(range(first - 1, last))
    return found


def find_column(text: str, columns: Sequence[str]) -> str:
    """Return the column that is meant by its name or its number."""
    if text in columns:
        return text
    folded = [name for name in columns if name.strip().casefold() == text.strip().casefold()]
    if len(folded) == 1:
        return folded[0]
    if text.isdecimal() and 1 <= int(text) <= len(columns):
        return columns[int(text) - 1]
    raise InputError(f"there is no column {text!r}", next_step=f"Columns: {', '.join(columns)}.")


def _values(answer: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read categories, with other spellings after = and a name for all others after ``; other``."""
    listed, _, other = answer.partition("; other ")
    if listed.startswith("["):
        values, same = _yaml(listed), {}
    else:
        spelled = [[part.strip() for part in item.split("=")] for item in listed.split(",") if item.strip()]
        values = [first for first, *_ in spelled]
        same = {first: others for first, *others in spelled if others}
        if all(re.fullmatch("-?(?:0|[1-9][0-9]*)", value) for value in values):
            values = [int(value) for value in values]
    fields = {"values": values, **({"other": other.strip()} if other else {})}
    return fields, {"same": same} if same else {}


def _with(
    proposal: Proposal, kind: str, fields: dict[str, Any], read: dict[str, Any] | None = None
) -> Proposal:
    kept = {name: item for name, item in proposal.read.items() if name in _READ[kind]}
    if "values" in fields and fields["values"] != proposal.fields.get("values"):
        kept.pop("same", None)  # they are spellings of other values
    choices = proposal.choices if kept and proposal.is_open else ()
    changed = replace(proposal, type=kind, fields=fields, read={**kept, **(read or {})}, choices=choices)
    return changed if changed.fields == proposal.fields else replace(changed, why="", advice="")


def _full(answer: str, proposal: Proposal) -> Proposal:
    declared = _yaml(answer)
    if not isinstance(declared, dict) or "type" not in declared:
        raise InputError("has no type", next_step=_ADVICE)
    fields = {name: _plain(item) for name, item in declared.items() if name not in ("type", "read")}
    read = dict(declared.get("read") or {})
    changed = replace(proposal, type=str(declared["type"]), fields=fields, choices=(), why="", advice="")
    return _checked(replace(changed, read=read, seen=()) if "read" in declared else changed)


def _checked(proposal: Proposal) -> Proposal:
    """Return the column if it can be declared so; files of values are found from the manifest alone."""
    if not proposal.is_open and not isinstance(proposal.fields.get("values"), dict):
        read_domain(proposal.declared(), field="")
    return proposal


def _is_day(text: str) -> bool:
    return bool(re.match(r"\d{4}-\d{2}", text))


def _plain(item: Any) -> Any:
    return str(item) if hasattr(item, "isoformat") else item


def _yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        raise InputError("is not YAML", next_step=_ADVICE) from None
