# SPDX-License-Identifier: Apache-2.0
"""``anonymaly check``: every check that needs no budget."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from rich.table import Table

from anonymaly.ask import catalogue
from anonymaly.ask.secret import AccountSecret, SecretFile, newest_check
from anonymaly.ask.store import holds_answers
from anonymaly.cli.output import AsJson, ManifestPath, out, plain, say, say_json
from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.core.files import why_not_made, why_not_written
from anonymaly.core.suggestions import guess, listed
from anonymaly.declare.dataset import ColumnCheck, Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.manifest import Manifest
from anonymaly.declare.rules import Policy
from anonymaly.declare.sensitivity import who_is_sensitive
from anonymaly.errors import LedgerBehindAnchor, LedgerMissing, ManifestError
from anonymaly.ledger import Account, Ledger

OPEN_QUOTES = (
    "line_breaks: true lets one open quote in one record change how all lines after it are read, and no "
    "noise hides that; copy the table to Parquet if anybody else can write into it"
)

ODD_BYTES = (
    "in UTF-16 one byte too few or too many in one record changes how all lines after it are read, and no "
    "noise hides that; copy the table to UTF-8 or Parquet if anybody else can write into it"
)

READY = """\
ready
"fits" is about names and types only. Whether the values can be read as declared, the owner sees before the
first charge: {look}"""


def check(manifest: ManifestPath, as_json: AsJson = False) -> None:
    """Check the manifest, its rules, the table's columns and the ledger; look at no values, spend nothing."""
    declared, folder = Manifest.load(manifest), Path(manifest).parent
    dataset = declared.dataset(folder)
    lines = dataset.check()
    catalogue.refuse_own(declared.questions)
    account = _account(declared, dataset, folder)
    places = _unusable_places(declared, folder)
    wrong = len(places) + sum(line.problem is not None for line in lines)
    rules = dataset.declaration.rules
    # Questions of other packages: whose they are, or why they cannot be asked.
    missing = {name: catalogue.problem(name) for name in declared.questions}
    others = {name: catalogue.origin(name) for name in declared.questions if missing[name] is None}
    dangers = {OPEN_QUOTES: dataset.line_breaks, ODD_BYTES: declared.file.get("encoding") == "utf-16"}
    warnings = [
        *_trivial_policies(dataset.declaration),
        *filter(None, missing.values()),
        *(text for text, applies in dangers.items() if applies),
        *(_answers_without_ledger(declared, folder) if account is None else ()),
    ]
    if as_json:
        say_json(
            {
                "ok": not wrong,
                "name": dataset.name,
                "columns": [vars(line) for line in lines],
                "rules": {name: rule.to_dict() for name, rule in rules.items()},
                "questions": {name: origin and origin.to_dict() for name, origin in others.items()},
                "warnings": warnings,
                "places": places,
                "remaining": None if account is None else to_text(account.remaining),
                "compared": "names and types",
                "next_step": _look(manifest),
            }
        )
    else:
        _show_columns(dataset, lines)
        say(f"rules: {'any' if dataset.declaration.any_rule else ', '.join(rules) or 'none'}")
        for name, origin in others.items():
            say(f"question {name}: {origin}")
        for warning in warnings:
            say(f"warning: {warning}")
        if dataset.line_breaks is False:
            say(
                "each line of the file is one record; if values in quotes hold line breaks: line_breaks: true"
            )
        if account is None:
            say(f"ledger: not opened yet; the first question opens it with a budget of ε = {declared.budget}")
            if others_there := _others(declared, folder):
                say(
                    f"the ledger holds {', '.join(others_there)} already; if one of them is about the same "
                    "rows, keep its name: another name opens another budget, and the promises add up"
                )
        else:
            say(f"ledger: ε = {to_text(account.remaining)} of {to_text(account.limit)} remain")
        for name, problem in places.items():
            say(f"{name}: {problem}, so the first question would be refused")
        say(f"{wrong} to correct" if wrong else READY.format(look=_look(manifest)))
    if wrong:
        raise typer.Exit(2)


def _show_columns(dataset: Dataset, lines: Sequence[ColumnCheck]) -> None:
    table = Table(box=None, pad_edge=False)
    for title in ("column", "declared", "in the table", ""):
        table.add_column(title)
    for line in lines:
        table.add_row(*plain(line.column, line.declared, line.found or "-", line.problem or "fits"))
    out.print(table)
    for said in _lost(dataset, lines):
        say(said)


def _lost(dataset: Dataset, lines: Sequence[ColumnCheck]) -> Iterator[str]:
    """Say what the columns may be called that are declared and not in the table."""
    lost = [line.column for line in lines if line.found is None]
    if not lost:
        return
    others = dataset.undeclared()
    for name in lost:
        if found := guess(name, others):
            yield f"{name}: {found[:1].lower()}{found[1:].strip()}"
    yield f"in the table and not declared: {listed(others)}"
    if len(others) == 1 and len(lost) == len(lines) > 1:
        yield "the table has one column only: is it parted by another sign? file: {delimiter: …} says which"


def _others(declared: Manifest, folder: Path) -> list[str]:
    try:
        with _open(declared, folder) as ledger:
            return [name for name in ledger.accounts() if name != declared.name]
    except LedgerMissing:
        return []


def _answers_without_ledger(declared: Manifest, folder: Path) -> Iterator[str]:
    """Warn of answers beside a ledger that is not there: what they cost would be forgotten by a new one."""
    location = declared.ledger_location(folder)
    if "://" in location or declared.store is not None or _others(declared, folder):
        return  # a store of that name may be shared by several ledgers
    answers = Path(declared.store_location(folder))
    if holds_answers(answers):
        yield (
            f"{answers.name} holds answers, and the ledger that charged them is gone: the first question "
            f"will be refused. Restore {Path(location).name}; if nobody knows those answers, remove them"
        )


def _look(manifest: str) -> str:
    return f"anonymaly inspect columns {shlex.quote(manifest)}"


def _trivial_policies(declaration: Declaration) -> list[str]:
    """Return a sentence for each policy that treats all records alike, which every question would refuse."""
    found = []
    for name, rule in declaration.rules.items():
        if isinstance(rule, Policy):
            who = who_is_sensitive(rule, declaration.columns)
            if who in ("everyone", "nobody"):
                found.append(
                    f"policy {name}: `{rule.text}` calls {who} sensitive whose values are in the declared "
                    "domain, so no question can cite it; correct it or the declared columns"
                )
    return found


def _unusable_places(declared: Manifest, folder: Path) -> dict[str, str]:
    """Return what is wrong with where ledger, anchor, secret and answers are kept, or are to be."""
    ledger, anchor = declared.ledger_location(folder), declared.place(folder, declared.anchor)
    secret = Path(declared.secret_location(folder))
    found = {
        "ledger": None if "://" in ledger else why_not_written(Path(ledger)),
        "anchor": None if anchor is None else why_not_written(Path(anchor)),
        # One that is there is only read, and may lie where nobody writes.
        "secret": None if secret.is_file() else why_not_written(secret),
        "store": why_not_made(Path(declared.store_location(folder))),
    }
    return {name: problem for name, problem in found.items() if problem is not None}


def _account(declared: Manifest, dataset: Dataset, folder: Path) -> Account | None:
    """Compare the manifest with its account as the first question would; None if it is not opened yet."""
    try:
        with _open(declared, folder) as ledger:
            if dataset.name in ledger.accounts():
                declaration = dataset.with_adjacency(declared.adjacency)
                _refuse_another_secret(declared, folder, ledger)
                return ledger.compare(
                    dataset.name,
                    declaration.to_dict(),
                    limit=None if declared.budget is None else to_nano(declared.budget),
                    rules=declaration.rules_to_dict(),
                )
    except LedgerMissing:
        pass
    if declared.budget is None:
        raise ManifestError(
            "is still to be declared",
            field="budget",
            next_step="Give the most ε that all answers together may cost.",
        )
    return None


def _refuse_another_secret(declared: Manifest, folder: Path, ledger: Ledger) -> None:
    """Raise an error if the owner's secret is lost, open to others, or not the one of the charges."""
    charges = ledger.reservations(declared.name)
    file = SecretFile(Path(declared.secret_location(folder)).absolute())
    AccountSecret(file, newest_check(charges), lambda: charges).current()


def _open(declared: Manifest, folder: Path) -> Ledger:
    """Open the ledger without binding it to an anchor that it does not know yet: that would be an entry."""
    location, anchor = declared.ledger_location(folder), declared.place(folder, declared.anchor)
    try:
        return Ledger.open(location, create=False)
    except LedgerBehindAnchor:
        return Ledger.open(location, anchor=anchor, create=False)
