# SPDX-License-Identifier: Apache-2.0
"""The ledger's entries in words, and the charges among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from anonymaly.ask.forgotten import SUBJECT as ERASED
from anonymaly.core.epsilon import to_text
from anonymaly.ledger.records import Entry
from anonymaly.ledger.terms import Terms

STATES = {"commit": "answered", "fail": "failed"}


def entry_line(entry: Entry) -> dict[str, Any]:
    """Return what a page shows of an entry; its data is behind the same address with ``.json``."""
    words = _WORDS.get(entry.kind)
    return {
        "number": entry.seq,
        "time": entry.time,
        "kind": entry.kind,
        "says": "" if words is None else words(entry.data),
        "by": entry.data.get("by") or entry.data.get("analyst"),
        "reason": entry.data.get("reason"),
        "hash": entry.hash,
    }


def charges_of(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Return who was charged what for which question, oldest first.

    A question that somebody else asked before is charged to whoever asks it again, and not to the table.
    """
    records: dict[str, Mapping[str, Any]] = {}
    states: dict[int, str] = {}
    found: list[dict[str, Any]] = []
    for entry in entries:
        data = entry.data
        if entry.kind in STATES:
            states[data["reservation"]] = STATES[entry.kind]
        if entry.kind not in ("reserve", "again"):
            continue
        if entry.kind == "reserve":
            records[data["key"]] = data["record"]
        record = records.get(data["key"], {})
        of = entry.seq if entry.kind == "reserve" else data["reservation"]
        found.append(
            {
                "entry": entry.seq,
                "time": entry.time,
                "analyst": data["analyst"],
                "question": record.get("question", ""),
                "asks": record.get("asks", ""),
                "epsilon": to_text(data["cost"]),
                "first": entry.kind == "reserve",
                "of": of,
            }
        )
    return [{**item, "state": states.get(item.pop("of"), "open")} for item in found]


def _granted(data: Mapping[str, Any]) -> str:
    terms = Terms.read(data["terms"])
    limit = "any number of ε" if data["limit"] is None else f"up to ε = {to_text(data['limit'])}"
    return f"{data['analyst']} may ask: {limit if terms is None else '; '.join(terms.words())}"


def _limited(data: Mapping[str, Any]) -> str:
    if "counter" in data:
        return f"the counter {data['counter']} may go up to {data['to']:,}"
    return f"the budget rises from ε = {to_text(data['from'])} to {to_text(data['to'])}"


def _reserved(data: Mapping[str, Any]) -> str:
    record = data["record"]
    asks = record.get("asks", record.get("question", "a question"))
    return f"ε = {to_text(data['cost'])} charged to {data['analyst']}: {asks}"


def _consented(data: Mapping[str, Any]) -> str:
    erased = data["subject"].get(ERASED, [])
    if not erased:
        return "the owner confirmed what the entry names"
    named = ", ".join(map(str, erased))
    which = f"the answer of entry {named} is" if len(erased) == 1 else f"the answers of entries {named} are"
    return f"{which} erased; what was charged stands"


_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "open": lambda data: f"the account is opened with ε = {to_text(data['limit'])}",
    "rule": lambda data: f"the rule {data['name']} is added",
    "limit": _limited,
    "amendment": lambda data: (
        "another declaration is in force" + (", learned from rows" if data.get("learned_from_rows") else "")
    ),
    "reserve": _reserved,
    "again": lambda data: (
        f"ε = {to_text(data['cost'])} charged to {data['analyst']} for what entry "
        f"{data['reservation']} asked before; the table is not charged again"
    ),
    "commit": lambda data: f"the answer of entry {data['reservation']} is stored",
    "fail": lambda data: f"no answer came of entry {data['reservation']}; its charge stands",
    "grant": _granted,
    "revocation": lambda data: f"{data['analyst']} may ask nothing more",
    "pause": lambda data: "paused: nothing is charged" if data["paused"] else "resumed",
    "consent": _consented,
    "anchor": lambda _: "the head of the chain is kept in an anchor, too, from now on",
    "epoch": lambda _: "a new epoch: a part of the ledger was lost, and all it could have spent counts",
    "upgrade": lambda _: "the ledger's form is renewed",
}
