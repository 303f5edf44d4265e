# SPDX-License-Identifier: Apache-2.0
"""What an owner does with a ledger: open and amend accounts, grant, revoke, pause, confirm."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from anonymaly.core.epsilon import LARGEST_TOTAL
from anonymaly.errors import InputError
from anonymaly.ledger import accounts, counters, grants
from anonymaly.ledger.counters import counter_of, raise_counters
from anonymaly.ledger.declarations import Declared
from anonymaly.ledger.inputs import label, mapping, read_rules, whole
from anonymaly.ledger.promised import counted_rules, refuse_fewer, refuse_short_rules
from anonymaly.ledger.records import Account, Counter, Entry, Grant
from anonymaly.ledger.session import Session
from anonymaly.ledger.terms import LARGEST_COUNT, refuse_reserved
from anonymaly.ledger.transaction import Transaction

LONGEST_REASON = 2000


class OwnersPart:
    """The part of a ledger that is the owner's; `Ledger` is the whole."""

    _session: Session

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

        def open_account(transaction: Transaction) -> Account:
            before = accounts.find_account(transaction.connection, name)
            opened = accounts.open_account(transaction, name, declared, limit, named)
            if before is not None and before.rules != opened.rules:
                refuse_fewer(transaction, name, before.rules)
            return opened

        return self._session.write(open_account)

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

    def raise_limit(
        self, account: Account | str, to: int, *, by: str | None = None, reason: str | None = None
    ) -> Account:
        """Raise an account's limit to ``to`` nano-ε; a lower one is refused."""
        whole(to, field="budget", least=1, most=LARGEST_TOTAL)
        return self._session.write(accounts.raise_limit, name_of(account), to, _said(by, reason))

    def amend(
        self,
        account: Account | str,
        declaration: Mapping[str, Any],
        *,
        rules: Mapping[str, Mapping[str, Any]] | Literal["any"],
        reason: str,
        learned_from_rows: bool,
        by: str | None = None,
        replaces: int | None = None,
        counters: Mapping[str, int] = MappingProxyType({}),
    ) -> Account:
        """Put another declaration and other rules in force; limit and charges stay.

        Parameters
        ----------
        account : Account or str
            The account.
        declaration : Mapping
            All that is declared from now on. Its adjacency, public and unit must be what they were.
        rules : Mapping or "any"
            All rules from now on.
        reason : str
            Why; it is part of the entry.
        learned_from_rows : bool
            Whether the owner learned from rows what to correct: that is outside of every promise.
        by : str, optional
            Who amended it.
        replaces : int, optional
            The number of the declaration that was looked at (``Account.number``): refused if another is in
            force by now.
        counters : Mapping
            Name → limit of counters that may go further from now on, because a rule allows more.

        Raises
        ------
        DeclarationChanged
            If what cannot be amended differs, or another one was amended meanwhile.
        """
        if not isinstance(learned_from_rows, bool):
            raise InputError(
                f"must be True or False, got {type(learned_from_rows).__name__}",
                field="learned_from_rows",
                next_step="Say whether the correction was learned from rows.",
            )
        why = _said(by, reason_text(reason, field="reason"))
        declared = mapping(declaration, field="declaration")
        named, limits = read_rules(rules), read_limits(counters)
        name = name_of(account)

        def amend(transaction: Transaction) -> Account:
            said = {"learned_from_rows": learned_from_rows, **why}
            before = accounts.get_account(transaction.connection, name).rules
            amended = accounts.amend(transaction, name, declared, named, said, replaces)
            raise_counters(transaction, name, limits, why)
            refuse_fewer(transaction, name, before)
            return amended

        return self._session.write(amend)

    def declarations(self, account: Account | str) -> tuple[Declared, ...]:
        """Return all that was ever declared for an account, oldest first; the last one is in force."""
        return self._session.read(accounts.list_declarations, name_of(account))

    def grant(
        self,
        account: Account | str,
        analyst: str,
        *,
        limit: int | None,
        by: str,
        reason: str,
        terms: Mapping[str, Any] = MappingProxyType({}),
    ) -> Grant:
        """Grant an analyst questions; it takes the place of an earlier grant.

        From an account's first grant on, whoever has none is refused.

        Parameters
        ----------
        account : Account or str
            The account whose budget pays.
        analyst : str
            Who may ask.
        limit : int or None
            What all of the analyst's questions may cost, in nano-ε, with what they spent before; None for no
            limit of their own, or, with terms, for the one that follows from them.
        by : str
            Who granted it.
        reason : str
            Why.
        terms : Mapping
            What else was agreed, as plain data. With ``"terms": 1`` among it, `reserve` sees to it: ``total``
            (what all periods together may cost), ``period`` (``epsilon``, ``every`` day, week, month or year,
            ``from`` a day), ``question_limit``, ``until``, ``questions`` (names), ``rules`` (name → how many
            questions; ``"any": true`` for every other) and ``overcommit``. Anything else is kept, and means
            nothing to the ledger.

        Raises
        ------
        Refused
            The table could not keep what is granted, and ``overcommit`` is not said; or less is granted than
            was spent.
        """
        label(analyst, field="analyst")
        if limit is not None:
            whole(limit, field="limit", least=0, most=LARGEST_TOTAL)
        agreed = mapping(terms, field="terms")
        said = _said(label(by, field="by"), reason_text(reason, field="reason"))
        refuse_reserved(agreed, by)
        return self._session.write(
            grants.grant, name_of(account), analyst, limit=limit, terms=agreed, said=said
        )

    def revoke(self, account: Account | str, analyst: str, *, by: str, reason: str) -> Grant:
        """Revoke an analyst's grant; what was charged stands."""
        said = _said(label(by, field="by"), reason_text(reason, field="reason"))
        return self._session.write(grants.revoke, name_of(account), label(analyst, field="analyst"), said)

    def grants(self, account: Account | str) -> list[Grant]:
        """Return the newest grant of each analyst, revoked ones among them; none if analysts are labels."""
        return self._session.read(grants.list_grants, name_of(account))

    def pause(self, account: Account | str, *, by: str, reason: str) -> Account:
        """Charge nothing more to an account until it is resumed; answers that are stored stay free."""
        said = _said(label(by, field="by"), reason_text(reason, field="reason"))
        return self._session.write(grants.pause, name_of(account), True, said)

    def resume(self, account: Account | str, *, by: str, reason: str) -> Account:
        """Let questions be charged again."""
        said = _said(label(by, field="by"), reason_text(reason, field="reason"))
        return self._session.write(grants.pause, name_of(account), False, said)

    def consent(
        self, account: Account | str | None, subject: Mapping[str, Any], *, by: str, reason: str
    ) -> int:
        """Write down what an owner confirmed, as plain data; return the number of the entry."""
        name = None if account is None else name_of(account)
        said = _said(label(by, field="by"), reason_text(reason, field="reason"))
        return self._session.write(grants.consent, name, mapping(subject, field="subject"), said)

    def consents(self, account: Account | str) -> list[Entry]:
        """Return what an owner confirmed of an account, oldest first."""
        return self._session.read(grants.list_consents, name_of(account))

    def limit_counter(
        self, account: Account | str, name: str, to: int, *, by: str, reason: str, used: int = 0
    ) -> Counter:
        """Set how often a counter may go up in all; ``used`` is what counts as used at least."""
        said = _said(label(by, field="by"), reason_text(reason, field="reason"))
        label(name, field="counters")
        whole(to, field="limit", least=0, most=LARGEST_COUNT)
        whole(used, field="used", least=0, most=LARGEST_COUNT)
        of = name_of(account)

        def limit(transaction: Transaction) -> Counter:
            accounts.get_account(transaction.connection, of)
            transaction.upgrade()
            before = transaction.counter(of, name)
            limited = counters.limit_counter(transaction, of, name, to, used, said)
            if before is None or to < before[0]:
                allowed = counted_rules(accounts.get_account(transaction.connection, of).rules)
                same = {rule: most for rule, most in allowed.items() if counter_of(rule) == name}
                refuse_short_rules(transaction, of, same)
            return limited

        return self._session.write(limit)

    def counters(self, account: Account | str) -> list[Counter]:
        """Return an account's counters that were ever used or limited, by name."""
        return self._session.read(counters.list_counters, name_of(account))

    def account(self, name: str) -> Account:
        """Return an account as it stands."""
        return self._session.read(accounts.get_account, name)

    def find_account(self, name: str) -> Account | None:
        """Return an account as it stands; None before it is opened."""
        return self._session.read(accounts.find_account, name)

    def accounts(self) -> list[str]:
        """Return the names of all accounts, sorted."""
        return self._session.read(accounts.list_accounts)


def read_limits(counters: Any) -> dict[str, int]:
    """Return limits of counters by name, checked."""
    limits = mapping(counters, field="counters")
    for name, limit in limits.items():
        label(name, field="counters")
        whole(limit, field=f"counters.{name}", least=0, most=LARGEST_COUNT)
    return limits


def name_of(account: Account | str) -> str:
    """Return an account's name, checked."""
    return label(account.name if isinstance(account, Account) else account, field="account")


def _said(by: str | None, reason: str | None) -> dict[str, Any]:
    """Return who and why as an entry keeps it; what was not said is left out."""
    named = {
        "by": None if by is None else label(by, field="by"),
        "reason": None if reason is None else reason_text(reason, field="reason"),
    }
    return {name: text for name, text in named.items() if text is not None}


def reason_text(value: Any, *, field: str) -> str:
    """Accept a reason: text that says something, in any length that a person writes."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_REASON:
        raise InputError(
            f"must be a text of 1 to {LONGEST_REASON} characters",
            field=field,
            next_step="Say in a sentence why; it is kept for good.",
        )
    for line in value.splitlines():
        for start in range(0, len(line), 200):
            label(line[start : start + 200], field=field)
    return value
