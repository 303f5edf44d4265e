# SPDX-License-Identifier: Apache-2.0
"""A ledger and its anchor: do they agree, and what is left when they do not."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from anonymaly.errors import LedgerBehindAnchor, LedgerError
from anonymaly.ledger.anchor import Anchor, Anchored, AnchoredTerms, behind
from anonymaly.ledger.book import end, list_reservations
from anonymaly.ledger.grants import use_up
from anonymaly.ledger.records import Head
from anonymaly.ledger.schema import accounts, analysts, by_index, counters, entries
from anonymaly.ledger.transaction import Transaction

_EVER_ANCHORED = (
    sa.select(entries.c.seq).where(entries.c.account.is_(None), entries.c.kind == "anchor").limit(1)
)
_LIMITS = sa.select(accounts.c.name, accounts.c.limit)
# Account by account, by the index: these kinds are few among many charges, which must not all be passed over.
_CHANGED = sa.select(
    sa.select(sa.func.max(by_index(entries.c.seq)))
    .where(
        entries.c.account == accounts.c.name,
        entries.c.kind.in_(["open", "rule", "limit", "amendment"]),
    )
    .correlate(accounts)
    .scalar_subquery()
).select_from(accounts)
_EPOCH = sa.select(sa.func.max(by_index(entries.c.seq))).where(
    entries.c.account.is_(None), entries.c.kind == "epoch"
)


def read_terms(connection: sa.Connection) -> AnchoredTerms:
    """Return what accounts may spend, and the last entry that changed a limit, a declaration or a rule."""
    limits = {row.name: row.limit for row in connection.execute(_LIMITS)}
    changed = [*connection.execute(_CHANGED).scalars(), connection.execute(_EPOCH).scalar()]
    seq = max(number or 0 for number in changed)
    found = connection.execute(sa.select(entries.c.hash).where(entries.c.seq == seq)).scalar()
    return AnchoredTerms(dict(sorted(limits.items())), seq, found or "")


def refuse_if_anchored(connection: sa.Connection) -> None:
    """Raise if this ledger has an anchor and was opened without it: an old copy would pass unseen."""
    if connection.execute(_EVER_ANCHORED).first():
        raise LedgerBehindAnchor(
            "this ledger is anchored and must be opened with its anchor",
            field="anchor",
            next_step="Give anchor=, the file that its head is written to.",
        )


def settle_anchor(transaction: Transaction, anchor: Anchor) -> Anchored:
    """Check the ledger against its anchor, or begin to anchor it; return what is to be anchored."""
    head = transaction.head
    anchored_before = transaction.connection.execute(_EVER_ANCHORED).first() is not None
    if not anchored_before and not anchor.exists():
        # The file first: after a crash in between, the next opening finds it and goes on from here.
        anchor.advance(Anchored(head, read_terms(transaction.connection)))
    refuse_another_history(transaction.connection, anchor, head)
    if not anchored_before:
        transaction.append("anchor", None, {})
    return Anchored(transaction.head, read_terms(transaction.connection))


def begin_epoch(transaction: Transaction, anchor: Anchor) -> Anchored:
    """Spend all that remains, end what is open, and begin again here; return what is to be anchored.

    What the lost entries charged is unknown, so nothing may remain. An open reservation may have been
    answered in the lost entries; computing it again would be a second answer, so it ends as failed.

    The entry says ``bounded`` only if the anchor shows that no limit, declaration or rule changed in the lost
    part, and that this copy ends before it. The anchor's limits are limits of the lost part in any case:
    whoever was answered had been charged before, and that charge was anchored with the limits of its time.
    """
    connection = transaction.connection
    try:
        refuse_another_history(connection, anchor, transaction.head)
    except LedgerBehindAnchor:
        pass
    else:
        raise LedgerError(
            "the ledger is not behind its anchor; a new epoch would spend all that remains for nothing",
            field="anchor",
            next_step="Open it as usual.",
        )
    head, anchored = transaction.head, _readable(anchor)
    ours = anchored if anchored is not None and anchored.head.ledger == head.ledger else None
    terms = read_terms(connection)
    known = {} if ours is None or ours.terms is None else dict(ours.terms.limits)
    limits = {name: max(limit, known.pop(name, 0)) for name, limit in terms.limits.items()}
    transaction.upgrade()
    for name, limit in limits.items():
        for reservation in list_reservations(connection, name):
            if reservation.state == "reserved":
                end(transaction, reservation, "failed", {"stage": "epoch", "error": "LedgerBehindAnchor"})
        spent = {"limit": limit, "spent": limit}
        connection.execute(accounts.update().where(accounts.c.name == name).values(spent))
    connection.execute(analysts.update().where(analysts.c.limit.is_not(None)).values(spent=analysts.c.limit))
    for name in limits:
        use_up(connection, name)
    connection.execute(counters.update().values(used=counters.c.limit))
    data: dict[str, Any] = {
        "epoch": max(head.epoch, 0 if anchored is None else anchored.head.epoch) + 1,
        "accounts": limits,
        "bounded": ours is not None and ours.terms == terms and ours.head.seq > head.seq,
        "lost": known,  # what is left: accounts that were opened in the lost part
    }
    transaction.append("epoch", None, data)
    return Anchored(transaction.head, read_terms(connection))


def refuse_another_history(connection: sa.Connection, anchor: Anchor, head: Head) -> None:
    """Raise LedgerBehindAnchor unless the chain passes through the anchor."""
    anchor.refuse_if_behind(head)
    anchored = anchor.read()
    if anchored is None or anchored.head.seq == 0:
        return
    seq = anchored.head.seq
    found = connection.execute(sa.select(entries.c.hash).where(entries.c.seq == seq)).scalar()
    if found != anchored.head.hash:
        raise behind(f"entry {seq} is not the one that was anchored")


def _readable(anchor: Anchor) -> Anchored | None:
    try:
        return anchor.read()
    except LedgerBehindAnchor:
        return None
