# SPDX-License-Identifier: Apache-2.0
"""Verification of a ledger together with the answers that it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from anonymaly.ask.forgotten import forgotten_answers
from anonymaly.ask.store import Store
from anonymaly.ledger import Ledger, Verification

MOST_PROBLEMS = 20


def verify(ledger: Ledger, account: str, store: Store) -> Verification:
    """Check a ledger, and whether an account's stored answers are those that it names; writes nothing."""
    found = ledger.verify()
    if not found.ok:
        return found  # what a damaged ledger names proves nothing
    return replace(found, problems=tuple(islice(_problems(ledger, account, store), MOST_PROBLEMS)))


def _problems(ledger: Ledger, account: str, store: Store) -> Iterator[str]:
    erased = forgotten_answers(ledger, account)
    for item in ledger.reservations(account):
        if item.state != "committed":
            continue
        if item.seq in erased:
            if store.holds(item.key, str(item.digest)):
                yield f"answer {item.seq}: was erased, and its bytes are there: run `anonymaly forget` again"
            continue
        damage = store.damaged(item.key, str(item.digest))
        if damage is not None:
            yield f"answer {item.seq}: {damage}"
    for path in store.strangers(lambda: _keys(ledger)):
        yield f"{path.name!r} in {store.folder} is no answer that the ledger names"


def _keys(ledger: Ledger) -> Iterator[str]:
    """Yield the keys of all accounts, because they may share the folder."""
    for account in ledger.accounts():
        yield from (item.key for item in ledger.reservations(account))
