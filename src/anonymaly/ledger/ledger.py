# SPDX-License-Identifier: Apache-2.0
"""The ledger: charge first, durably, then answer."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, TypeVar

import sqlalchemy as sa

from anonymaly.core.epsilon import LARGEST_TOTAL
from anonymaly.errors import InputError, LedgerDamaged
from anonymaly.ledger import accounts, book
from anonymaly.ledger.anchor import Anchor
from anonymaly.ledger.chain import genesis, label, link, mapping, whole
from anonymaly.ledger.inputs import read_rules
from anonymaly.ledger.opening import (
    begin_epoch,
    choose_backend,
    refuse_damaged,
    refuse_if_anchored,
    refuse_new_if_anchored,
    settle_anchor,
)
from anonymaly.ledger.records import Account, Entry, Head, Receipt, Reservation, Verification
from anonymaly.ledger.schema import HEAD, entries
from anonymaly.ledger.session import Backend, Session
from anonymaly.ledger.transaction import Transaction, read_entry, read_head
from anonymaly.ledger.verify import UNKNOWN_HEAD, check

LARGEST_ANSWER = 2**62
_ERROR_CLASS = re.compile(r"[\w.<>]{1,200}")

Result = TypeVar("Result")


class Ledger:
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

    def __init__(self, backend: Backend, anchor: Anchor | None) -> None:
        self._backend = backend
        self._anchor = anchor
        self._session = Session(backend)
        weakref.finalize(self, Session.close, self._session)

    @classmethod
    def open(cls, location: str | Path, *, anchor: str | Path | None = None, create: bool = True) -> Ledger:
        """Open a ledger, making it if there is none, and check all of it.

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
        LedgerBehindAnchor
            It is older than its anchor, or the anchor is gone.
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
        anchored = None if anchor is None else Anchor(Path(anchor))
        ledger = cls._checked(choose_backend(location), anchored, create=create)
        try:
            if anchored is None:
                ledger._session.read(refuse_if_anchored)
            else:
                ledger._write(lambda transaction: settle_anchor(transaction, anchored), settled=False)
        except BaseException:
            ledger.close()
            raise
        return ledger

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
        replaced = Anchor(Path(anchor))
        ledger = cls._checked(choose_backend(location), replaced, create=False)
        try:
            ledger._write(lambda transaction: begin_epoch(transaction, replaced), settled=False, replace=True)
        except BaseException:
            ledger.close()
            raise
        return ledger

    @classmethod
    def _checked(cls, backend: Backend, anchor: Anchor | None, *, create: bool) -> Ledger:
        backend.install(create=create, refuse_new=refuse_new_if_anchored(anchor))
        ledger = cls(backend, anchor)
        try:
            ledger._session.read(lambda connection: refuse_damaged(connection, backend))
        except BaseException:
            ledger.close()
            raise
        return ledger

    @property
    def location(self) -> str:
        """Where it lies, without a password."""
        return self._backend.describe()

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.location!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A Ledger holds a connection and cannot be pickled; open it again where it is needed."
        )

    def open_account(
        self,
        name: str,
        declaration: Mapping[str, Any],
        *,
        limit: int | None,
        rules: Mapping[str, Mapping[str, Any]] | Literal["any"],
    ) -> Account:
        """Open an account, or find it opened under the same declaration.

        Parameters
        ----------
        name : str
            The dataset's name.
        declaration : Mapping
            What is public about the dataset, as plain JSON data.
        limit : int or None
            The budget in nano-ε; needed the first time, and the same or None afterwards.
        rules : Mapping or "any"
            The owner's rules, name → plain JSON data. New ones are added; changed or missing ones refused.

        Raises
        ------
        DeclarationChanged
            With every field that differs.
        """
        name = label(name, field="name")
        declared = mapping(declaration, field="declaration")
        named = read_rules(rules)
        if limit is not None:
            whole(limit, field="budget", least=1, most=LARGEST_TOTAL)
        return self._write(
            lambda transaction: accounts.open_account(transaction, name, declared, limit, named)
        )

    def compare(
        self,
        name: str,
        declaration: Mapping[str, Any],
        *,
        limit: int | None,
        rules: Mapping[str, Mapping[str, Any]] | Literal["any"],
    ) -> Account:
        """Check an account against a declaration as `open_account` does, and write nothing."""
        account = self.account(name)
        accounts.compare_account(account, mapping(declaration, field="declaration"), limit, read_rules(rules))
        return account

    def raise_limit(self, account: Account | str, to: int) -> Account:
        """Raise an account's limit to ``to`` nano-ε; a lower one is refused."""
        whole(to, field="budget", least=1, most=LARGEST_TOTAL)
        return self._write(lambda transaction: accounts.raise_limit(transaction, _name(account), to))

    def reserve(
        self, account: Account | str, *, analyst: str, key: str, cost: int, record: Mapping[str, Any]
    ) -> Reservation:
        """Charge a question before it is computed, durably, or refuse it.

        The same key again returns the reservation that stands, with its state, and charges nothing
        (``charged`` is False). A charge is never refunded.

        Parameters
        ----------
        account : Account or str
            The account that pays.
        analyst : str
            Who asks.
        key : str
            The question's fingerprint.
        cost : int
            In nano-ε.
        record : Mapping
            What to write down about the question, as plain JSON data; never values from rows.

        Raises
        ------
        BudgetExceeded
            Nothing was charged.
        """
        name = _name(account)
        label(analyst, field="analyst")
        label(key, field="key")
        whole(cost, field="epsilon", least=1, most=LARGEST_TOTAL)
        written = mapping(record, field="record")
        return self._write(
            lambda transaction: book.reserve(
                transaction, name, analyst=analyst, key=key, cost=cost, record=written
            )
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
        return self._write(lambda transaction: book.end(transaction, reservation, "committed", data))

    def fail(self, reservation: Reservation, *, stage: str, error: str) -> Reservation:
        """Record that a reservation came to nothing, unless it has ended already; the charge stays.

        ``error`` is the class name of the error and nothing else: its text could hold values from rows.
        """
        if not isinstance(error, str) or not _ERROR_CLASS.fullmatch(error):
            raise InputError("must be the name of an error class", field="error")
        data = {"stage": label(stage, field="stage"), "error": error}
        return self._write(lambda transaction: book.end(transaction, reservation, "failed", data))

    def find(self, account: Account | str, key: str) -> Reservation | None:
        """Return the reservation of a question, if it was ever charged."""
        name = _name(account)
        return self._session.read(
            lambda connection: book.find_reservation(
                connection, self._read_head(connection).ledger, name, key
            )
        )

    def account(self, name: str) -> Account:
        """Return an account as it stands."""
        return self._session.read(lambda connection: accounts.get_account(connection, name))

    def accounts(self) -> list[str]:
        """Return the names of all accounts, sorted."""
        return self._session.read(accounts.list_accounts)

    def entries(self, account: Account | str | None = None) -> list[Entry]:
        """Return entries in order: all, or those of an account with the epochs that concern every account."""
        query = sa.select(entries).order_by(entries.c.seq)
        if account is not None:
            query = query.where(sa.or_(entries.c.account == _name(account), entries.c.kind == "epoch"))
        return self._session.read(lambda connection: [read_entry(row) for row in connection.execute(query)])

    def reservations(self, account: Account | str) -> list[Reservation]:
        """Return an account's reservations in the order they were made."""
        name = _name(account)
        return self._session.read(
            lambda connection: list(
                book.list_reservations(connection, self._read_head(connection).ledger, name)
            )
        )

    def head(self) -> Head:
        """Return the last link of the chain."""
        return self._session.read(self._read_head)

    def verify(self) -> Verification:
        """Check the file, the triggers, every hash and every sum again, now."""
        try:
            return self._session.read(lambda connection: check(connection, self._backend))
        except LedgerDamaged as damaged:  # so badly that it cannot even be read
            return Verification(entries=0, head=UNKNOWN_HEAD, spent={}, problems=(damaged.problem,))

    def verify_receipt(self, receipt: Receipt | Mapping[str, Any]) -> bool:
        """Say whether a receipt is for a charge, and an answer, that stand in this ledger."""
        held = receipt if isinstance(receipt, Receipt) else Receipt.from_dict(receipt)

        def verify(connection: sa.Connection) -> bool:
            ledger = self._read_head(connection).ledger
            found = book.find_reservation(connection, ledger, held.account, held.key)
            if found is None or not _chained(connection, ledger, found.seq):
                return False
            now = found.receipt()
            if held.commit_seq is None:  # given out before the answer was stored; it stays valid
                now = Receipt(ledger, now.account, now.key, now.cost, now.seq, now.hash)
            return held == now and (now.commit_seq is None or _chained(connection, ledger, now.commit_seq))

        return self._session.read(verify)

    def _read_head(self, connection: sa.Connection) -> Head:
        return read_head(connection.execute(HEAD).first())

    def _write(
        self, work: Callable[[Transaction], Result], *, settled: bool = True, replace: bool = False
    ) -> Result:
        def run(connection: sa.Connection) -> tuple[Result, Head]:
            transaction = Transaction(
                connection, read_head(connection.execute(self._backend.head_query()).first())
            )
            self._backend.confirm()
            if settled and self._anchor is not None:
                self._anchor.refuse_if_behind(transaction.head)
            result = work(transaction)
            transaction.finish()
            return result, transaction.head

        result, head = self._session.write(run)
        if self._anchor is not None:
            # Also when nothing was appended: what is found may be a killed writer's, not anchored yet.
            self._anchor.advance(head, replace=replace)
        return result


def _name(account: Account | str) -> str:
    return label(account.name if isinstance(account, Account) else account, field="account")


def _chained(connection: sa.Connection, ledger: str, seq: int) -> bool:
    """Recompute one link from the text that is stored."""
    query = sa.select(entries).where(entries.c.seq.in_([seq - 1, seq])).order_by(entries.c.seq)
    rows = connection.execute(query).all()
    previous = genesis(ledger) if seq == 1 else rows[0].hash
    return bool(rows[-1].hash == link(previous, seq, rows[-1].body))
