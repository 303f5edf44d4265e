# SPDX-License-Identifier: Apache-2.0
"""``anonymaly amend``: correct a declaration that was charged under."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from anonymaly.ask.amendment import Amendment, propose
from anonymaly.cli.output import AsJson, ManifestPath, say, say_json
from anonymaly.core.epsilon import to_nano
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import InputError, LedgerMissing
from anonymaly.ledger import Ledger
from anonymaly.ledger.accounts import refuse_another_limit

Reason = Annotated[str, typer.Option("--reason", help="Why it is corrected; kept for good.")]
Learned = Annotated[
    bool,
    typer.Option(
        "--learned-from-rows",
        help="The correction was learned by looking at rows: it is outside of every promise, and statements "
        "say so.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Write it down without asking.")]
By = Annotated[str, typer.Option("--by", help="Who corrects it: a label in the ledger.")]

STAYS = "budget and charges stay; answers stay under the declaration that they were asked under"
LEARNED = "learned from rows: what it shows of them is outside of every promise, and statements say so"
NOT_LEARNED = "not learned from rows, as you say by leaving out --learned-from-rows"


def amend(
    manifest: ManifestPath,
    reason: Reason,
    learned_from_rows: Learned = False,
    yes: Yes = False,
    by: By = "owner",
    as_json: AsJson = False,
) -> None:
    """Correct what a manifest declares, once questions were charged: show what differs, then record it."""
    declared, folder = Manifest.load(manifest), Path(manifest).parent
    dataset = declared.dataset(folder)
    with _open(declared, folder) as book:
        account = book.account(declared.name)
        refuse_another_limit(account, None if declared.budget is None else to_nano(declared.budget))
        amendment = propose(account, dataset.with_adjacency(declared.adjacency))
        if not as_json:
            _show(amendment, learned_from_rows)
        number = None
        if amendment.differences:
            dataset.ready()  # names and types fit, or it would have to be amended again
            _confirm(yes)
            number = amendment.write(book, reason=reason, learned_from_rows=learned_from_rows, by=by).number
    if as_json:
        told = {"reason": reason, "learned_from_rows": learned_from_rows, "by": by}
        say_json({**amendment.to_dict(), **told, "entry": number})
    elif number is not None:
        say(f"amended: the declaration of entry {number} is in force")


def _open(declared: Manifest, folder: Path) -> Ledger:
    location, anchor = declared.ledger_location(folder), declared.place(folder, declared.anchor)
    try:
        return Ledger.open(location, anchor=anchor, create=False)
    except LedgerMissing:
        raise InputError(
            f"the account '{declared.name}' is not opened yet, so nothing needs to be amended",
            field="manifest",
            next_step="Declare the table as it should be; the first question writes it down.",
        ) from None


def _show(amendment: Amendment, learned_from_rows: bool) -> None:
    say(str(amendment))
    if amendment.differences:
        say(STAYS)
        say(LEARNED if learned_from_rows else NOT_LEARNED)


def _confirm(yes: bool) -> None:
    """Let an owner at a terminal decide; elsewhere only ``--yes`` does."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError(
            "is needed where nobody can be asked; nothing was written",
            field="yes",
            next_step="Read what differs, without --json, then give --yes.",
        )
    if not typer.confirm("Record this amendment?"):
        say("nothing was written")
        raise typer.Exit(1)
