# SPDX-License-Identifier: Apache-2.0
"""The ledger that callers use: charge first, durably, then answer.

Each call checks what it is given and has the session run one function of ``book`` in one transaction.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn

from anonymaly.core.epsilon import LARGEST_TOTAL
from anonymaly.errors import InputError, LedgerDamaged, LedgerError, LedgerMissing
from anonymaly.ledger import book
from anonymaly.ledger.anchor import Anchor, begin_epoch, behind, refuse_if_anchored, settle_anchor
from anonymaly.ledger.inputs import label, mapping, read_rules, whole
from anonymaly.ledger.postgres import SCHEMES, PostgresBackend
from anonymaly.ledger.records import Account, Entry, Head, Receipt, Reservation, Verification
from anonymaly.ledger.session import Backend, Session
from anonymaly.ledger.sqlite import SqliteBackend
from anonymaly.ledger.transaction import read_entries, read_head
from anonymaly.ledger.verify import check, check_receipt, refuse_if_damaged, unreadable

LARGEST_ANSWER = 2**62
_ERROR_CLASS = re.compile(r"[\w.<>]{1,200}")


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

    def __init__(self, session: Session) -> None:
        self._session = session
        weakref.finalize(self, Session.close, session)

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
        return cls(_connect(location, anchor, create=create))

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
        return cls(_connect(location, anchor, create=False, new_epoch=True))

    @property
    def location(self) -> str:
        """Where it lies, without a password."""
        return self._session.backend.describe()

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
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
        return self._session.write(book.open_account, name, declared, limit, named)

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
        book.compare_account(account, mapping(declaration, field="declaration"), limit, read_rules(rules))
        return account

    def raise_limit(self, account: Account | str, to: int) -> Account:
        """Raise an account's limit to ``to`` nano-ε; a lower one is refused."""
        whole(to, field="budget", least=1, most=LARGEST_TOTAL)
        return self._session.write(book.raise_limit, _name(account), to)

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
        return self._session.write(book.reserve, name, analyst=analyst, key=key, cost=cost, record=written)

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
        return self._session.read(book.find_reservation, _name(account), key)

    def account(self, name: str) -> Account:
        """Return an account as it stands."""
        return self._session.read(book.get_account, name)

    def accounts(self) -> list[str]:
        """Return the names of all accounts, sorted."""
        return self._session.read(book.list_accounts)

    def entries(self, account: Account | str | None = None) -> list[Entry]:
        """Return entries in order: all, or those of an account with the epochs that concern every account."""
        return self._session.read(read_entries, None if account is None else _name(account))

    def reservations(self, account: Account | str) -> list[Reservation]:
        """Return an account's reservations in the order they were made."""
        return self._session.read(book.list_reservations, _name(account))

    def head(self) -> Head:
        """Return the last link of the chain."""
        return self._session.read(read_head)

    def verify(self) -> Verification:
        """Check the file, the triggers, every hash and every sum again, now."""
        try:
            return self._session.read(check, self._session.backend)
        except LedgerDamaged as damaged:  # so badly that it cannot even be read
            return unreadable(damaged.problem)

    def verify_receipt(self, receipt: Receipt | Mapping[str, Any]) -> bool:
        """Say whether a receipt is for a charge, and an answer, that stand in this ledger."""
        held = receipt if isinstance(receipt, Receipt) else Receipt.from_dict(receipt)
        return self._session.read(check_receipt, held)


def _name(account: Account | str) -> str:
    return label(account.name if isinstance(account, Account) else account, field="account")


def _connect(
    location: str | Path, anchor: str | Path | None, *, create: bool, new_epoch: bool = False
) -> Session:
    """Make the ledger if it may be made, check all of it, and check it against its anchor."""
    kept = None if anchor is None else Anchor(Path(anchor))
    # Asked before the ledger is looked for: another process makes the ledger first and its anchor second.
    anchored = kept is not None and kept.exists()
    backend = _choose_backend(location)
    try:
        backend.install(create=create and not anchored)
    except LedgerMissing:
        if not create:
            raise
        raise behind("the ledger is gone, and its anchor says that there was one") from None
    session = Session(backend)
    try:
        session.read(refuse_if_damaged, backend)
        if kept is None:
            session.read(refuse_if_anchored)
        else:
            head = session.write(begin_epoch if new_epoch else settle_anchor, kept)
            kept.advance(head, replace=new_epoch)
            session.anchor = kept
    except BaseException:
        session.close()
        raise
    return session


def _choose_backend(location: str | Path) -> Backend:
    """Tell a file from a PostgreSQL URL."""
    if isinstance(location, Path):
        return SqliteBackend(location)
    scheme, separator, _ = location.partition("://")
    if separator and scheme in SCHEMES:
        return PostgresBackend(location)
    if separator or not location.strip():
        # The location itself is not repeated: a URL may hold a password.
        raise LedgerError(
            "must be a file or a PostgreSQL URL",
            field="ledger",
            next_step="Write data.ledger, or postgresql://user@host:5432/database.",
        )
    return SqliteBackend(Path(location))
