# SPDX-License-Identifier: Apache-2.0
"""``anonymaly ledger``: what was asked, spent and promised."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from anonymaly.ask.secret import SecretFile, newest_check
from anonymaly.ask.server_address import is_url
from anonymaly.ask.store import Store, folder_of
from anonymaly.ask.verify import verify as verify_all
from anonymaly.cli.output import AsJson, out, plain, say, say_json
from anonymaly.core.epsilon import LARGEST, LARGEST_TOTAL, to_nano, to_text
from anonymaly.core.extras import require
from anonymaly.declare.manifest import Manifest, read_yaml
from anonymaly.errors import InputError, LedgerDamaged
from anonymaly.ledger import Account, Ledger, Reservation
from anonymaly.ledger.statement import Statement

ManifestOrLedger = Annotated[
    str,
    typer.Argument(
        metavar="MANIFEST",
        help="The owner's YAML file, a sensor's, or a table's address on a server; with --verify, also a "
        "ledger's file or a copy of one.",
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Check every hash and sum of the ledger again, and stored answers; of a server, your receipts.",
    ),
]
RaiseBudget = Annotated[
    str | None, typer.Option("--raise-budget", metavar="EPSILON", help="Raise the budget to this.")
]
NewEpoch = Annotated[
    bool,
    typer.Option(
        "--new-epoch", help="Go on with a ledger that is behind its anchor, with nothing remaining."
    ),
]
NewSecret = Annotated[
    bool,
    typer.Option(
        "--new-secret", help="Go on without a lost secret; questions charged under it are charged again."
    ),
]

_SQLITE = b"SQLite format 3\0"


def ledger(
    manifest: ManifestOrLedger,
    verify: Verify = False,
    raise_budget: RaiseBudget = None,
    new_epoch: NewEpoch = False,
    new_secret: NewSecret = False,
    as_json: AsJson = False,
) -> None:
    """Show what was asked, spent and promised; works without the table."""
    if is_url(manifest):
        _refuse_owners(raise_budget=raise_budget, new_epoch=new_epoch, new_secret=new_secret)
        from anonymaly.cli.own_ledger import say_own  # noqa: PLC0415  (for a server alone)

        say_own(manifest, verify, as_json)
        return
    if _is_ledger(manifest):
        if not verify or new_epoch or new_secret or raise_budget is not None:
            raise InputError(
                f"is a ledger, not a manifest: {manifest}",
                field="manifest",
                next_step="Verify it with --verify; anything else needs the owner's YAML file.",
            )
        _audit(manifest, as_json)
        return
    place = _place_of(Path(manifest))
    with _open(place, new_epoch) as book:
        _refuse_unopened(book, place)
        if raise_budget is not None:
            book.raise_limit(place.name, to_nano(raise_budget, field="raise-budget", largest=place.largest))
        if new_secret:
            _begin_secret(book, place)
        report = _collect(book, place.name)
        if verify:
            report["json"]["verification"] = _verify(book, place)
    if as_json:
        say_json(report["json"])
    else:
        if report["reservations"]:
            out.print(_table(report["reservations"]))
        for item in report["json"]["amendments"]:
            say(_amendment(item))
        say(str(report["statement"]))
        if verify:
            agree = (
                "chain and sums agree" if place.answers is None else "chain, sums and stored answers agree"
            )
            say(_verdict(report["json"]["verification"], agree))
    if verify and not report["json"]["verification"]["ok"]:
        raise typer.Exit(LedgerDamaged.exit_code)


def _refuse_unopened(book: Ledger, place: _Place) -> None:
    if place.name not in book.accounts():
        raise InputError(
            f"{place.location} has no account {place.name!r} yet: no question was charged to it",
            field="ledger",
            next_step="The first question opens the account; `anonymaly check` shows the budget.",
        )


def _refuse_owners(**given: Any) -> None:
    for name, item in given.items():
        if item:
            raise InputError(
                "is for the owner, on the machine of the ledger",
                field=name.replace("_", "-"),
                next_step="Leave it out; an owner raises a server's budget by `anonymaly owner budget`.",
            )


def _is_ledger(path: str) -> bool:
    """Tell a ledger from a manifest, by its first bytes; a damaged one by its name."""
    if "://" in path:
        return True
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE or Path(path).suffix == ".ledger"
    except OSError:
        return Path(path).suffix == ".ledger"


def _audit(path: str, as_json: bool) -> None:
    """Verify a ledger by itself, writing nothing; neither a manifest nor the anchor is needed."""
    with Ledger.audit(path) as book:
        found = book.verify()
        accounts = [book.account(name) for name in book.accounts()] if found.ok else []
    shown: dict[str, Any] = {
        "accounts": [_account(item) for item in accounts],
        "verification": found.to_dict(),
    }
    if as_json:
        say_json(shown)
    else:
        for item in shown["accounts"]:
            say("{account}: ε = {spent} of {budget} spent, {remaining} remaining".format(**item))
        say(_verdict(found.to_dict(), "chain and sums agree"))
    if not found.ok:
        raise typer.Exit(LedgerDamaged.exit_code)


def _account(account: Account) -> dict[str, Any]:
    return {
        "account": account.name,
        "budget": to_text(account.limit),
        "spent": to_text(account.spent),
        "remaining": to_text(account.remaining),
    }


@dataclass(frozen=True)
class _Place:
    """Where an account is; a sensor's has neither stored answers nor a secret."""

    name: str
    location: str | Path
    anchor: str | Path | None
    largest: int
    answers: str | None = None
    secret: Path | None = None


def _place_of(path: Path) -> _Place:
    """Read an owner's YAML file, or a sensor's."""
    if "party" not in read_yaml(path):
        declared, folder = Manifest.load(path), path.parent
        return _Place(
            declared.name,
            declared.ledger_location(folder),
            declared.place(folder, declared.anchor),
            LARGEST,
            declared.store_location(folder),
            Path(declared.secret_location(folder)),
        )
    require("stream", "A sensor's file")
    from anonymaly.stream.programs.config import PartyConfig  # noqa: PLC0415  (an extra)

    loaded = PartyConfig.load(path)
    if loaded.config.name is None:
        raise InputError(
            f"{path} is the file of {loaded.config.address}, which has no ledger",
            field="manifest",
            next_step="Give a sensor's file, or the owner's YAML file of a table.",
        )
    return _Place(loaded.config.name, loaded.ledger, loaded.anchor, LARGEST_TOTAL)


def _open(place: _Place, new_epoch: bool) -> Ledger:
    if not new_epoch:
        return Ledger.open(place.location, anchor=place.anchor, create=False)
    if place.anchor is None:
        raise InputError(
            "needs an anchor in the manifest",
            field="new-epoch",
            next_step="Only a ledger that is behind its anchor needs a new epoch.",
        )
    return Ledger.open_epoch(place.location, anchor=place.anchor)


def _begin_secret(book: Ledger, place: _Place) -> None:
    if place.secret is None:
        raise InputError("a sensor has no secret", field="new-secret", next_step="Leave it out.")
    SecretFile(place.secret.absolute()).begin_anew(newest_check(book.reservations(place.name)))


def _verify(book: Ledger, place: _Place) -> dict[str, Any]:
    if place.answers is None:
        return book.verify().to_dict()
    answers = folder_of(place.answers, book.head().ledger)
    return verify_all(book, place.name, Store(answers, create=False)).to_dict()


def _collect(book: Ledger, name: str) -> dict[str, Any]:
    reservations, declared = book.reservations(name), book.declarations(name)
    statement = Statement.of(book.account(name), reservations, book.entries(name))
    data: dict[str, Any] = {
        "statement": statement.to_dict(),
        "entries": [_entry(item) for item in reservations],
        "amendments": [item.to_dict() for item in declared if item.amended],
        "head": book.head().to_dict(),
    }
    return {"json": data, "statement": statement, "reservations": reservations}


def _entry(item: Reservation) -> dict[str, Any]:
    return {
        "number": item.seq,
        "time": item.time,
        "analyst": item.analyst,
        "question": item.record["question"],
        "asks": item.record["asks"],
        "epsilon": to_text(item.cost),
        "state": item.state,
        **({} if item.declaration is None else {"declaration": item.declaration}),
        "receipt": item.receipt().to_dict(),
        **({"origin": dict(item.record["origin"])} if "origin" in item.record else {}),
    }


def _amendment(item: dict[str, Any]) -> str:
    """Write an amendment with each field that it changed."""
    learned = ", learned from rows" if item["learned_from_rows"] else ""
    by = item["by"] or "the owner"
    head = f"amendment {item['number']}, {item['time']}, by {by}{learned}: {item['reason']}"
    return "\n".join([head, *(f"  {line}" for line in item["differences"])])


def _table(reservations: list[Reservation]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("no.", "time", "analyst", "question", "asked", "ε", "state"):
        table.add_column(title, justify="right" if title in ("no.", "ε") else "left", overflow="fold")
    for item in reservations:
        line = _entry(item)
        if "origin" in line:
            package = " ".join(line["origin"].values())
            line["question"] += f" ({package}, not proved by anonymaly)"
        names = ("number", "time", "analyst", "question", "asks", "epsilon", "state")
        table.add_row(*plain(*(str(line[name]) for name in names)))
    return table


def _verdict(found: dict[str, Any], agree: str) -> str:
    if found["ok"]:
        return f"verified: {found['entries']} entries, {agree}; head {found['head']['hash'][:16]}…"
    return "\n".join(["NOT verified:", *(f"  {problem}" for problem in found["problems"])])
