# SPDX-License-Identifier: Apache-2.0
"""``anonymaly ledger`` with a server's table: one's own statement and receipts, and whether these stand."""

from __future__ import annotations

from typing import Any

import typer

from anonymaly.ask.remote import RemoteCurator
from anonymaly.cli.opening import connected
from anonymaly.cli.output import say, say_json
from anonymaly.errors import LedgerDamaged


def say_own(url: str, verify: bool, as_json: bool) -> None:
    """Print what was charged to whoever has the key; to an owner or auditor, what is in the whole account."""
    with connected(url) as curator:
        statement = curator.statement()
        receipts = [] if curator.who["role"] == "auditor" else curator.receipts()
        shown: dict[str, Any] = {
            "statement": statement.to_dict(),
            "receipts": [item.to_dict() for item in receipts],
        }
        if verify:
            shown["verification"] = _verify(curator, shown["receipts"])
    found = shown.get("verification")
    if as_json:
        say_json(shown)
    else:
        say(str(statement))
        for item in receipts:
            say(f"receipt: charge {item.charge[:16]}…, answer {str(item.digest)[:16]}…")
        if found is not None:
            say(_verdict(found))
    if found is not None and not found["ok"]:
        raise typer.Exit(LedgerDamaged.exit_code)


def _verify(curator: RemoteCurator, receipts: list[dict[str, Any]]) -> dict[str, Any]:
    """Ask the server for each receipt, and for the last one that was kept here."""
    kept = curator.last_receipt
    every = [*receipts, *([] if kept is None or kept in receipts else [kept])]
    problems = [
        f"the ledger does not know the charge {item.get('charge')}"
        for item in every
        if not curator.verify(item)
    ]
    whole: dict[str, Any] = {}
    if curator.who["role"] != "analyst":
        whole = {"ledger": curator.verify_ledger()}
        problems += whole["ledger"]["problems"]
    return {"ok": not problems, "receipts": len(every), "problems": problems, **whole}


def _verdict(found: dict[str, Any]) -> str:
    if not found["ok"]:
        return "\n".join(["NOT verified:", *(f"  {problem}" for problem in found["problems"])])
    several = "receipt stands" if found["receipts"] == 1 else "receipts stand"
    whole = f"; the ledger's {found['ledger']['entries']} entries agree" if "ledger" in found else ""
    return f"verified: {found['receipts']} {several} in the server's ledger{whole}"
