# SPDX-License-Identifier: Apache-2.0
"""The ledger that callers use: charge first, durably, then answer.

Each call checks what it is given and has the session run one function of ``book`` in one transaction.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from anonymaly.core.epsilon import LARGEST_TOTAL
from anonymaly.errors import InputError, LedgerDamaged
from anonymaly.ledger import book, charges
from anonymaly.ledger.allowance import Allowance, find_allowance
from anonymaly.ledger.inputs import label, mapping, whole
from anonymaly.ledger.opening import connect, connect_to_read
from anonymaly.ledger.own_statement import OwnStatement, own_statement
from anonymaly.ledger.owner import OwnersPart, name_of, read_limits
from anonymaly.ledger.records import (
    Account,
    Charge,
    ChargeReceipt,
    Entry,
    Head,
    Receipt,
    Reservation,
    Verification,
)
from anonymaly.ledger.seen_by import SeenAccount, see_account
from anonymaly.ledger.session import Session
from anonymaly.ledger.terms import LARGEST_COUNT
from anonymaly.ledger.transaction import read_entries, read_head
from anonymaly.ledger.verify import check, check_receipt, unreadable

LARGEST_ANSWER = 2**62
_ERROR_CLASS = re.compile(r"[\w.<>]{1,200}")


class Ledger(OwnersPart):
    """A durable account book in a SQLite file or a PostgreSQL database.

    Safe with many processes and threads, and after a fork. Get one with `Ledger.open`; amounts are integer
    nano-ε throughout (``anonymaly.core.epsilon``).

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> with Ledger.open(f"{folder.name}/patients.ledger") as ledger:
    ...     account = ledger.open_account("patients", {"age": [0, 120]}, limit=1_000_000_000, rules={})
    ...     reservation = ledger.reserve(account, analyst="owner", key="q1", cost=300_000_000, record={})
    ...     reservation = ledger.commit(reservation, digest="ab" * 32, media_type="application/json", size=2)
    ...     ledger.account("patients").remaining, ledger.verify_receipt(reservation.receipt())
    (700000000, True)
    >>> folder.cleanup()
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        weakref.finalize(self, Session.drop, session)

    @classmethod
    def open(cls, location: str | Path, *, anchor: str | Path | None = None, create: bool = True) -> Ledger:
        """Open a ledger, making it if there is none, and check it.

        The chain is followed from the entry up to which an earlier opening checked it; `verify` follows all
        of it. A ledger of an earlier format is brought to this one by the first entry that is written to it.

        Parameters
        ----------
        location : str or Path
            A file, or ``postgresql://user:password@host/database``.
        anchor : str or Path, optional
            A file, best on another disk, that the head of the chain is also written to. Once given, it is
            needed at every opening.
        create : bool
            Whether a ledger that is not there may be made.

        Raises
        ------
        LedgerDamaged
            Its file, triggers, chain or sums do not verify.
        LedgerTooNew
            It was written by a later version.
        LedgerBehindAnchor
            It is older than its anchor, or the anchor is missing or not given.
        LedgerError
            It cannot be reached or written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> with Ledger.open(f"{folder.name}/patients.ledger") as ledger:
        ...     ledger.head().seq
        0
        >>> folder.cleanup()
        """
        return cls(connect(location, anchor, create=create))

    @classmethod
    def audit(cls, location: str | Path, *, anchor: str | Path | None = None) -> Ledger:
        """Open a ledger, or a copy of one, to look at it: nothing is written, nor need it be writable.

        Nothing is checked either, unless an anchor is given: call `verify`. Whatever would write is refused.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> path = Path(folder.name, "patients.ledger")
        >>> Ledger.open(path).close()
        >>> with Ledger.audit(path) as ledger:
        ...     ledger.verify().ok
        True
        >>> folder.cleanup()
        """
        return cls(connect_to_read(location, anchor))

    @classmethod
    def open_epoch(cls, location: str | Path, *, anchor: str | Path) -> Ledger:
        """Begin a new epoch of a ledger that is behind its anchor: every account has nothing remaining.

        For the owner alone, after a newer copy is truly lost. Reservations without an answer end as failed,
        and the anchor is written anew. Refused while the ledger agrees with its anchor.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> path, anchor = Path(folder.name, "patients.ledger"), Path(folder.name, "patients.anchor")
        >>> with Ledger.open(path, anchor=anchor) as ledger:
        ...     account = ledger.open_account("patients", {}, limit=1_000_000_000, rules={})
        >>> anchor.unlink()
        >>> with Ledger.open_epoch(path, anchor=anchor) as ledger:
        ...     ledger.account("patients").remaining
        0
        >>> folder.cleanup()
        """
        return cls(connect(location, anchor, create=False, new_epoch=True))

    @property
    def location(self) -> str:
        """Where it lies, without a password."""
        return self._session.backend.describe()

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._session.give_up()

    def __repr__(self) -> str:
        return f"Ledger({self.location!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A Ledger holds a connection and cannot be pickled; open it again where it is needed."
        )

    def reserve(
        self,
        account: Account | str,
        *,
        analyst: str,
        key: str,
        cost: int,
        record: Mapping[str, Any],
        counters: Mapping[str, int] = MappingProxyType({}),
        once: Mapping[str, str] = MappingProxyType({}),
        declaration: int | None = None,
        rule: str | None = None,
    ) -> Reservation:
        """Charge a question before it is computed, durably, or refuse it.

        The same key again returns the reservation that stands, with its state, and charges nothing to the
        account (``charged`` is False). Where analysts have grants, another one than the first is charged in
        their own limit, once. A charge is never refunded.

        Parameters
        ----------
        account : Account or str
            The account that pays.
        analyst : str
            Who asks: a label, until the account has grants.
        key : str
            The question's fingerprint.
        cost : int
            In nano-ε.
        record : Mapping
            What to write down about the question, as plain JSON data; never values from rows.
        counters : Mapping
            Name → limit of what goes up by one with this question, such as ``{"rule:groups": 20}``. A limit
            is kept from its first use on; a lower one that is given holds for the question at hand.
        once : Mapping
            Counter → a name of what it counts, such as a digest of the question without its ε. With a name
            that it counted before, the counter does not go up. Names are unique among all counters.
        declaration : int, optional
            The number of the declaration that the question was bound to (``Account.number``): refused if
            another is in force by now.
        rule : str, optional
            The name of the declared rule that the question's promise rests on, ``"*"`` for one that is
            written in the question, none if it protects everyone. A grant's terms name those that may be
            cited, as they name questions (the record's ``question``).

        Raises
        ------
        BudgetExceeded
            Account or analyst cannot pay.
        Refused
            The account is paused, the analyst has no grant that allows it, or a counter is at its limit.
        DeclarationChanged
            The account was amended. In all cases nothing was charged.
        """
        name = name_of(account)
        label(analyst, field="analyst")
        label(key, field="key")
        whole(cost, field="epsilon", least=1, most=LARGEST_TOTAL)
        written = mapping(record, field="record")
        counted = read_limits(counters)
        marks = mapping(once, field="once")
        for counter, mark in marks.items():
            label(mark, field=f"once.{counter}")
        if declaration is not None:
            whole(declaration, field="declaration", least=1, most=LARGEST_COUNT)
        if rule is not None:
            label(rule, field="rule")
        return self._session.write(
            book.reserve,
            name,
            analyst=analyst,
            key=key,
            cost=cost,
            record=written,
            counters=counted,
            once=marks,
            declaration=declaration,
            rule=rule,
        )

    def commit(self, reservation: Reservation, *, digest: str, media_type: str, size: int) -> Reservation:
        """Record the stored answer of a reservation.

        The first to end a reservation wins, by committing or by failing. Whoever comes later gets the
        winner's record: hand over the answer with *its* digest, not your own, or one charge would pay for
        two answers.
        """
        data = {
            "digest": label(digest, field="digest"),
            "media_type": label(media_type, field="media_type"),
            "size": whole(size, field="size", least=0, most=LARGEST_ANSWER),
        }
        return self._session.write(book.end, reservation, "committed", data)

    def fail(self, reservation: Reservation, *, stage: str, error: str) -> Reservation:
        """Record that a reservation came to nothing, unless it has ended already; the charge stays.

        ``error`` is the class name of the error and nothing else: its text could hold values from rows.
        """
        if not isinstance(error, str) or not _ERROR_CLASS.fullmatch(error):
            raise InputError(
                "must be the name of an error class", field="error", next_step="Give type(error).__name__."
            )
        data = {"stage": label(stage, field="stage"), "error": error}
        return self._session.write(book.end, reservation, "failed", data)

    def find(self, account: Account | str, key: str) -> Reservation | None:
        """Return the reservation of a question, if it was ever charged."""
        return self._session.read(book.find_reservation, name_of(account), key)

    def entries(self, account: Account | str | None = None) -> list[Entry]:
        """Return entries in order: all, or those of an account with the epochs that concern every account."""
        return self._session.read(read_entries, None if account is None else name_of(account))

    def reservations(self, account: Account | str) -> list[Reservation]:
        """Return an account's reservations in the order they were made."""
        return self._session.read(book.list_reservations, name_of(account))

    def allowance(self, account: Account | str, analyst: str) -> Allowance | None:
        """Return what an analyst may ask now; None in an account without grants.

        Raises
        ------
        Refused
            The analyst has no grant, or one that was revoked, has ended or has not begun.
        """
        return self._session.read(find_allowance, name_of(account), label(analyst, field="analyst"))

    def seen_by(self, account: Account | str, analyst: str) -> SeenAccount | None:
        """Return an account with an analyst's part of it, all of one moment; None before it is opened."""
        return self._session.read(see_account, name_of(account), analyst)

    def charge_of(self, account: Account | str, key: str, analyst: str) -> Charge | None:
        """Return what an analyst was charged for a question, as the first who asked it or later."""
        return self._session.read(charges.find_charge, name_of(account), key, analyst)

    def charges(self, account: Account | str, analyst: str) -> list[Charge]:
        """Return an analyst's own charges in their order, numbered from 1 on."""
        return self._session.read(charges.list_charges, name_of(account), analyst)

    def own_statement(self, account: Account | str, analyst: str) -> OwnStatement:
        """Return what one analyst was charged for, and what they may still spend; refuse without a grant."""
        return self._session.read(own_statement, name_of(account), label(analyst, field="analyst"))

    def verify_charge(self, receipt: ChargeReceipt | Mapping[str, Any]) -> bool:
        """Say whether an analyst's receipt is for a charge, and an answer, that stand in this ledger."""
        held = receipt if isinstance(receipt, ChargeReceipt) else ChargeReceipt.from_dict(receipt)
        return self._session.read(charges.check_charge, held)

    def head(self) -> Head:
        """Return the last link of the chain."""
        return self._session.read(read_head)

    def verify(self) -> Verification:
        """Check the file, the triggers, every hash from the first entry on, and every sum again, now."""
        try:
            return self._session.read(check, self._session.backend).verification
        except LedgerDamaged as damaged:  # so badly that it cannot even be read
            return unreadable(damaged.problem)

    def verify_receipt(self, receipt: Receipt | Mapping[str, Any]) -> bool:
        """Say whether a receipt is for a charge, and an answer, that stand in this ledger."""
        held = receipt if isinstance(receipt, Receipt) else Receipt.from_dict(receipt)
        return self._session.read(check_receipt, held)
