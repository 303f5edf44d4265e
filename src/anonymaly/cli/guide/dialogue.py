# SPDX-License-Identifier: Apache-2.0
"""The dialogue of ``anonymaly init --guided``: the file, who a person is, the columns, rules and a budget."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rich.table import Table

from anonymaly.ask.odds import Odds
from anonymaly.cli.guide.answers import (
    COLUMN_ANSWERS,
    find_column,
    read_column,
    read_count,
    read_lines,
    read_list,
    read_range,
)
from anonymaly.cli.guide.asking import Asker
from anonymaly.cli.guide.names import UNDECLARED
from anonymaly.cli.guide.proposal import EVERY_DAY, OUT, Proposal, TableProposal, has_open, propose
from anonymaly.cli.guide.rules import ask_rules
from anonymaly.cli.guide.sample import Sample, look
from anonymaly.cli.guide.writing import Draft, file_form, flow, reading_of
from anonymaly.cli.output import plain
from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.engine.encodings import TextFile
from anonymaly.engine.reading import Reading
from anonymaly.errors import InputError

FEW = 6  # columns that are asked about one by one without another question


def guide(asker: Asker, name: str, source: str, place: str, table: str | None) -> Draft:
    """Ask the owner and return the manifest they decided on; ``place`` is the source as the file names it."""
    asker.say("Suggestions are in brackets: Enter takes them, ? leaves a thing open, Ctrl-C writes nothing.")
    asker.say("Bounds and categories are suggested by names, never by rows: say what is publicly known.")
    sample = _file(asker, source, table)
    proposal, zone, breaks = _form(asker, sample)
    person, most = _person(asker, proposal)
    columns = _columns(asker, proposal, person)
    proposal = proposal.with_columns(columns)
    rules = ask_rules(asker, columns)
    budget = _budget(asker)
    asker.say("About how many rows there are helps to plan questions. Say it only if it is public anyway.")
    rows = asker.ask("rows", "none", lambda text: None if text == "none" else read_count(text))
    asker.refuse_unused_but("write")
    return Draft(
        name,
        place,
        columns,
        table=table,
        file=file_form(proposal),
        line_breaks=breaks,
        confirmed=True,
        rows=rows,
        reading=reading_of(proposal, zone),
        person=person,
        max_rows=most,
        rules=rules,
        budget=budget,
    )


def _file(asker: Asker, source: str, table: str | None) -> Sample:
    """Ask how the bytes of a text file become fields."""
    sample = look(source, table)
    if not sample.is_text:
        return sample
    asker.heading("The file")
    mark = " with a byte order mark" if sample.mark else ""
    asker.say(f"It is written in {sample.encoding}{mark}, and fields are parted by {flow(sample.delimiter)}.")
    asker.say(f"Its first line names {len(sample.names)} columns; {sample.rows:,} rows were looked at.")
    if asker.confirm("file"):
        return sample
    encoding = asker.ask("encoding", str(sample.encoding), _encoding)
    delimiter = asker.ask("delimiter", str(sample.delimiter), _delimiter)
    return look(source, table, encoding=encoding, delimiter=delimiter)


def _form(asker: Asker, sample: Sample) -> tuple[TableProposal, str | None, bool | None]:
    """Ask what all columns share: words for null, the zone, line breaks."""
    proposal = propose(sample)
    asker.heading("How values are written")
    asker.say("Which texts mean that there is no value? Empty ones always do.")
    nulls = asker.ask("nulls", ", ".join(proposal.nulls) or "none", read_list)
    if tuple(nulls) != proposal.nulls:
        proposal = propose(sample, nulls)
    zone = None
    if proposal.has_offsets:
        asker.say("Unix times and times with an offset become the time on the clock of one place. Of which?")
        zone = asker.ask("zone", "UTC", lambda text: Reading(zone=text).zone)
    breaks: bool | None = False if sample.is_text else None
    if sample.line_breaks:
        asker.say("Values in quotes seem to hold line breaks. If a record may go on over several lines, one")
        asker.say("open quote changes how all lines after it are read, and no noise hides that.")
        breaks = asker.confirm("line_breaks")
    return proposal, zone, breaks


def _person(asker: Asker, proposal: TableProposal) -> tuple[str | None, int | None]:
    """Ask whose rows they are."""
    asker.heading("Who is a person?")
    asker.say("A promise protects a person with all their rows. Which column is the same in all rows of one")
    asker.say(
        "person, and in nobody else's? With none, each row counts as a person of its own, and whoever has"
    )
    asker.say("several rows is protected less.")
    names = list(proposal.sample.names)
    person = asker.ask(
        "person",
        proposal.person or "none",
        lambda text: None if text.casefold() == "none" else find_column(text, names),
    )
    if person is None:
        return None, None
    asker.say(
        "How many rows has one person at most? Further ones are cut off, and noise grows with the number, so"
    )
    asker.say("say how many are usual, as anybody would guess; do not count them in the table.")
    return person, asker.ask("max_rows", UNDECLARED, read_count)


def _columns(asker: Asker, proposal: TableProposal, person: str | None) -> list[Proposal]:
    """Ask what is public about the columns: all suggestions at once, then only what is open."""
    columns = list(proposal.columns)
    asker.heading(f"What is public about the {len(columns)} columns?")
    asker.show(_table(columns, person))
    asker.know(f"columns.{column.column}" for column in columns)
    asker.say(COLUMN_ANSWERS)
    asker.say("Which lines are to be changed, such as 3 7-9? What is still ? is asked next.")
    wanted = asker.ask("change", "none", lambda text: read_lines(text, proposal.sample.names))
    for number, column in enumerate(columns):
        if number in wanted or asker.is_given(f"columns.{column.column}"):
            columns[number] = _one(asker, column, _short(column))
    _choices(asker, columns)
    _days(asker, columns)
    numbers = functools.partial(_is_open, kind="interval")
    _group(asker, columns, "numbers", numbers, "no publicly known bounds yet", "unbounded")
    texts = functools.partial(_is_open, kind="categories")
    _group(asker, columns, "texts", texts, "no list of values yet", OUT)
    return columns


def _choices(asker: Asker, columns: list[Proposal]) -> None:
    """Ask which way to read what can be read in several ways: once for all columns with the same ways."""
    groups: dict[str, list[int]] = {}
    for number, column in enumerate(columns):
        if column.choices:
            groups.setdefault(_choice_key(column), []).append(number)
    for key, members in groups.items():
        asker.say(f"{_names(columns, members)}: the rows that were looked at can be read in two ways.")
        asker.say(_EXPLAINED[key])
        chosen = asker.ask(key, UNDECLARED, functools.partial(_choice, key))
        for number in members:
            columns[number] = _settled(columns[number], key, chosen)


_EXPLAINED = {
    "day_or_month": "Is 03/04/2020 the 3rd of April (day: the day is first) or the 4th of March (month)?",
    "thousands": "Is 1,234 (or 1.234) more than a thousand (yes), or between one and two (no)?",
}


def _choice_key(column: Proposal) -> str:
    return "day_or_month" if "dates" in column.choices[0] else "thousands"


def _choice(key: str, text: str) -> str:
    known = ("day", "month") if key == "day_or_month" else ("yes", "no")
    return _one_of((*known, UNDECLARED), text)


def _settled(column: Proposal, key: str, chosen: str) -> Proposal:
    if chosen == UNDECLARED:
        return column
    if key == "day_or_month":
        fitting = [column.choices[0 if chosen == "day" else 1]]
    else:
        fitting = [choice for choice in column.choices if ("thousands" in choice) == (chosen == "yes")]
    return replace(column, read=dict(fitting[0]), choices=(), seen=()) if fitting else column


def _days(asker: Asker, columns: list[Proposal]) -> None:
    """Ask for the first and the last day of all dates whose names suggest none."""
    members = [number for number, column in enumerate(columns) if _is_open(column, kind="timestamps")]
    if not members:
        return
    asker.say(f"{_names(columns, members)}: which days can these be, at the earliest and at the latest?")
    fields = asker.ask("dates", f"{EVERY_DAY['start']} to {EVERY_DAY['end']}", read_range)
    for number in members:
        columns[number] = replace(columns[number], fields=fields)


def _group(
    asker: Asker,
    columns: list[Proposal],
    key: str,
    is_open: Callable[[Proposal], bool],
    lacking: str,
    bulk: str,
) -> None:
    """Ask about columns of which nothing is known: all alike, or one by one."""
    members = [number for number, column in enumerate(columns) if is_open(column)]
    if not members:
        return
    asker.say(f"{_names(columns, members)}: {lacking}.")
    words = ("each", bulk, OUT, UNDECLARED)
    asker.say(f"One by one (each), or all {bulk}, or all left out (out), or left open (?)?")
    answer = asker.ask(key, "each" if len(members) <= FEW else bulk, functools.partial(_one_of, tuple(words)))
    for number in members:
        column = columns[number]
        columns[number] = _one(asker, column, bulk) if answer == "each" else read_column(answer, column)


def _one(asker: Asker, column: Proposal, suggestion: str) -> Proposal:
    if column.advice:
        asker.say(f"  {column.column}: {column.advice}")
    return asker.ask(f"columns.{column.column}", suggestion, lambda text: read_column(text, column))


def _budget(asker: Asker) -> str:
    asker.heading("A budget")
    asker.say(
        "ε limits what all answers together may tell about a person. Somebody who knows every other row, and"
    )
    asker.say("thinks it as likely as not that Anna is in the table, guesses right in at most so many cases:")
    # Rounded up, so that what is said stays true.
    likely = [(epsilon, Odds(to_nano(epsilon)).best_guess) for epsilon in ("0.1", "0.5", "1", "2", "5")]
    asker.say("  " + ", ".join(f"ε = {epsilon}: {share:.1%}" for epsilon, share in likely))
    asker.say("This holds if every answer protects everyone; one under a rule protects those whom it names.")
    asker.say(
        "Each question takes a share of it, often 0.1. The budget can be raised later, and never lowered."
    )
    return asker.ask("budget", "1", _epsilon)


def _epsilon(text: str) -> str:
    return text if text == UNDECLARED else to_text(to_nano(text, field="budget"))


def _is_open(column: Proposal, *, kind: str) -> bool:
    return column.type == kind and has_open(column.fields)


def _names(columns: Sequence[Proposal], members: Sequence[int]) -> str:
    return ", ".join(columns[number].column for number in members)


def _one_of(words: tuple[str, ...], text: str) -> str:
    if text.casefold() not in words:
        raise InputError(f"is none of {', '.join(words)}", next_step="Answer with one of them.")
    return text.casefold()


def _encoding(text: str) -> str:
    return TextFile(encoding=text).encoding


def _delimiter(text: str) -> str:
    found = {"tab": "\t", r"\t": "\t", "space": " "}.get(text, text)
    return TextFile(delimiter=found).delimiter or found


def _table(columns: Sequence[Proposal], person: str | None) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("", "column", "public", "written, as seen in the file", "by its name"):
        table.add_column(title)
    for number, column in enumerate(columns, start=1):
        public = "whose row it is" if column.column == person else _shortest(column)
        why = column.why.removesuffix(" by its name")
        table.add_row(*plain(str(number), column.column, public, ", ".join(column.seen), why))
    return table


def _shortest(column: Proposal) -> str:
    """Return a column's declaration for a table: without other spellings."""
    if column.type == "flag":
        return "flag (true or false)"
    if "same" not in column.read:
        return _short(column)
    read = {name: item for name, item in column.read.items() if name != "same"}
    return _short(replace(column, read=read)) + ", in many spellings"


def _short(column: Proposal) -> str:
    """Return a column's declaration as an owner would answer it."""
    fields: dict[str, Any] = column.fields
    match column.type:
        case "interval":
            return f"{fields['low']} to {fields['high']}"
        case "timestamps":
            return f"{fields['start']} to {fields['end']}"
        case "categories" if isinstance(fields["values"], dict):
            return f"file {fields['values']['file']}"
        case "categories":
            same = column.read.get("same", {})
            spelled = [" = ".join([str(value), *same.get(value, ())]) for value in fields["values"]]
            return ", ".join(spelled) + (f"; other {fields['other']}" if "other" in fields else "")
        case _:
            return column.type
