# SPDX-License-Identifier: Apache-2.0
"""The manifest as YAML with comments: what was decided, what was seen in the file, what is still open."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from anonymaly.cli.guide.names import UNDECLARED
from anonymaly.cli.guide.proposal import OUT, Proposal, TableProposal, has_open

CONFIRM = "seen in the file: confirm"
# What each rule allows, and what the people concerned give up.
RULES = {
    "policy": (
        'adults: {type: policy, text: "age >= 18 and consent"}',
        "who is not sensitive; their records may be published as they are",
    ),
    "anomaly_model": (
        "rare: {type: anomaly_model, columns: [age, cost], radius: 5, beta: 40}",
        "what an anomaly is; answers may show that one is in the data",
    ),
    "same_contexts": (
        "groups: {type: same_contexts, metrics: [cost], attributes: [ward]}",
        "in which groups a record may stand out; an asker can test guesses about any record",
    ),
}


@dataclass(frozen=True)
class Draft:
    """All that a manifest holds."""

    name: str
    source: str
    columns: Sequence[Proposal]
    table: str | None = None
    file: Mapping[str, str] = field(default_factory=dict)
    line_breaks: bool | None = None
    # Whether the owner has confirmed what was seen in the file.
    confirmed: bool = False
    rows: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    person: str | None = None
    max_rows: int | None = None
    suggested_person: str | None = None
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    budget: str = UNDECLARED


def plain_draft(name: str, source: str, table: str | None, proposal: TableProposal) -> Draft:
    """Return the manifest that asks nobody: what only the owner knows is open."""
    return Draft(
        name,
        source,
        proposal.columns,
        table=table,
        file=file_form(proposal),
        line_breaks=proposal.sample.line_breaks if proposal.sample.is_text else None,
        reading=reading_of(proposal),
        suggested_person=proposal.person,
    )


def file_form(proposal: TableProposal) -> dict[str, str]:
    """Return how the file is written, where that is not what is read anyway."""
    sample = proposal.sample
    if not sample.is_text or (sample.encoding, sample.delimiter) == ("utf-8", ","):
        return {}
    return {"encoding": sample.encoding or "utf-8", "delimiter": sample.delimiter or ","}


def reading_of(proposal: TableProposal, zone: str | None = None) -> dict[str, Any]:
    """Return how values of all columns are read."""
    reading: dict[str, Any] = {"nulls": ["", *proposal.nulls]} if proposal.nulls else {}
    if proposal.has_offsets:
        reading["zone"] = zone or "UTC"
    if proposal.trim:
        reading["trim"] = True
    if proposal.fold:
        reading["fold"] = True
    return reading


def write(draft: Draft) -> str:
    """Return the YAML file."""
    return "".join(f"{line}\n" for line in _lines(draft))


def open_fields(draft: Draft) -> list[str]:
    """Return every place of a "?", such as ``age (low, high)``."""
    found = []
    for column in draft.columns:
        shown = column if draft.confirmed else column.without_suggestions()
        parts = [name for name, item in shown.declared().items() if has_open(item)]
        if column.type != OUT and parts:
            found.append(f"{column.column} ({', '.join(parts)})")
    found += ["columns"] if all(column.type == OUT for column in draft.columns) else []
    found += [f"rules.{name}" for name, rule in draft.rules.items() if has_open(rule)]
    if draft.person is not None and draft.max_rows is None:
        found.append("max_rows")
    return [*found, "budget"] if draft.budget == UNDECLARED else found


def flow(data: Any) -> str:
    """Return plain data as YAML in one line, as a person would write it.

    Examples
    --------
    >>> flow({"type": "interval", "low": 0, "high": "?", "read": {"signs": ["€", "%"]}})
    '{type: interval, low: 0, high: "?", read: {signs: [€, "%"]}}'
    """
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{flow(name)}: {flow(item)}" for name, item in data.items()) + "}"
    if isinstance(data, list | tuple):
        return "[" + ", ".join(flow(item) for item in data) + "]"
    if not isinstance(data, str):
        return json.dumps(data)
    return data if _is_plain(data) else json.dumps(data, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):  # YAML's date, which a manifest reads as its text
        return True
    if not re.match(r"[\w€£$]", text) or text != text.strip() or UNDECLARED in text or "#" in text:
        return False
    try:
        return bool(yaml.safe_load(f"{{{text}: [{text}]}}") == {text: [text]})
    except (yaml.YAMLError, ValueError):
        return False


def _lines(draft: Draft) -> Iterator[str]:
    yield "# What is public about this table."
    if open_fields(draft):
        yield '# Replace every "?" by what is publicly known.'
    yield "# Never look up bounds or categories in the rows: the promise of every answer requires that they"
    yield "# do not depend on anybody. How the file is read may be looked up, and should be."
    yield f"name: {flow(draft.name)}"
    yield 'version: "1"'
    yield f"source: {flow(draft.source)}"
    if draft.table:
        yield f"table: {flow(draft.table)}"
    remark = "" if draft.confirmed else f"  # {CONFIRM}"
    if draft.file:
        yield f"file: {flow(draft.file)}{remark}"
    if draft.line_breaks is not None:
        yield from _line_breaks(draft)
    if draft.rows is None:
        yield "# rows: 50000  # about how many there are, if that is public: for plans"
    else:
        yield f"rows: {draft.rows}  # about"
    if draft.reading:
        yield ""
        yield f"reading:  # how values are written, in all columns{'' if draft.confirmed else f'; {CONFIRM}'}"
        for name, item in draft.reading.items():
            spelling = name == "nulls" and UNDECLARED in item
            more = f'; here "{UNDECLARED}" is one of them, and stays' if spelling else ""
            yield f"  {name}: {flow(item)}{_READING.get(name, '')}{more}"
    yield ""
    yield from _person(draft)
    yield ""
    yield from _columns(draft)
    yield ""
    yield from _rules(draft)
    yield ""
    budget = flow(UNDECLARED) if draft.budget == UNDECLARED else draft.budget
    yield f"budget: {budget}  # the most epsilon that all answers together may cost, such as 2.0"
    yield "adjacency: add_remove"
    yield f"ledger: {flow(draft.name + '.ledger')}"


_READING = {
    "nulls": "  # these mean that there is no value",
    "zone": "  # moments with an offset, and Unix times, become the time on the clock there",
    "trim": "  # spaces around texts are dropped",
    "fold": "  # capital and small letters are the same",
}


def _line_breaks(draft: Draft) -> Iterator[str]:
    if draft.confirmed and draft.line_breaks:
        yield "line_breaks: true  # one open quote changes how all lines after it are read"
    elif draft.line_breaks:
        yield f"# {CONFIRM}: values in quotes hold line breaks. Each line is one record, unless you say:"
        yield "# line_breaks: true  # then one open quote changes how all lines after it are read"
    else:
        yield "# line_breaks: true  # if values in quotes hold them; otherwise each line is a record"


def _person(draft: Draft) -> Iterator[str]:
    if draft.person is not None:
        yield f"person: {flow(draft.person)}"
        yield f"max_rows: {flow(draft.max_rows or UNDECLARED)}  # of one person; further rows are cut off"
        return
    if draft.confirmed:
        yield "# Every row counts as a person of its own."
        return
    yield "# Without these two lines every row counts as a person of its own."
    named = draft.suggested_person
    yield f"# person: {flow(named)}  # is it?" if named else "# person: COLUMN_THAT_IDENTIFIES_THE_PERSON"
    yield "# max_rows: 1"
    ids = [column.column for column in draft.columns if column.type == OUT and column.column != named]
    if ids:
        yield f"# key: {flow(ids[0])}  # to call your own rows by it; then declare it below, as opaque"


def _columns(draft: Draft) -> Iterator[str]:
    yield "columns:  # leave out what no question may see"
    for column in draft.columns:
        shown = column if draft.confirmed else column.without_suggestions()
        remarks = "; ".join(_remarks(column, draft.confirmed))
        comment = f"  # {remarks}" if remarks else ""
        if column.type == OUT:
            remarks = "it says whose row it is" if column.column == draft.person else remarks
            said = f"left out: {remarks}" if remarks else "left out"
            yield f"  # {flow(column.column)}: {{type: opaque}}  # {said}"
        else:
            yield f"  {flow(column.column)}: {flow(shown.declared())}{comment}"
    if all(column.type == OUT for column in draft.columns):
        yield f'  # No column is left: declare at least one.\n  {UNDECLARED!r}: {{type: "{UNDECLARED}"}}'


def _remarks(column: Proposal, confirmed: bool) -> Iterator[str]:
    """Say where a line comes from: the column's type or name, or the rows."""
    if not confirmed and column.found != "text":
        yield column.found
    if not confirmed and column.type == "timestamps" and column.has_times:
        yield "give the end with its time, as 2025-12-31 23:59:59"
    if column.column != column.column.strip():
        yield "spaces around its name belong to it: questions and files of new records write them, too"
    if (column.why and column.type == OUT) or (
        column.why and (confirmed or column.fields == {"values": [UNDECLARED]})
    ):
        yield column.why
    elif column.why:
        yield f"such as {_such_as(column)} ({column.why})"
    if column.seen:
        yield ("seen in the file: " if confirmed else f"{CONFIRM} ") + ", ".join(column.seen)


def _such_as(column: Proposal) -> str:
    """Say what a name suggests, for an owner who fills in a "?"."""
    fields = column.fields
    match column.type:
        case "interval":
            return f"{fields['low']} to {fields['high']}"
        case "timestamps":
            return f"{fields['start']} to {fields['end']}"
        case _:
            kept = {**fields, **({"read": column.read} if "same" in column.read else {})}
            return flow(kept)


def _rules(draft: Draft) -> Iterator[str]:
    if draft.rules:
        yield "rules:  # relaxed promises that askers may cite"
        for name, rule in draft.rules.items():
            yield f"  {flow(name)}: {flow(rule)}  # {RULES[str(rule['type'])][1]}"
        return
    yield "# Relaxed promises that askers may cite, such as these. Each protects fewer people."
    yield "# rules:"
    for example, gives_up in RULES.values():
        yield f"#   {example}"
        yield f"#     # {gives_up}"
