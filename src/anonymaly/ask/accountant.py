# SPDX-License-Identifier: Apache-2.0
"""The half of a curator that needs only the declaration and the ledger: it charges, stores and answers."""

from __future__ import annotations

import contextlib
import logging
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from anonymaly.ask import catalogue
from anonymaly.ask.acceptance import accept, permit_of, refuse_no_question, rule_of
from anonymaly.ask.amendment import Amendment, propose
from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.binding import Binding
from anonymaly.ask.drawing import Draw, Failed
from anonymaly.ask.effect import effect_of
from anonymaly.ask.fingerprints import fingerprints
from anonymaly.ask.forgotten import refuse_forgotten
from anonymaly.ask.odds import BudgetInWords
from anonymaly.ask.permit import Permit, RuleUse
from anonymaly.ask.plan import Plan, make_plan, probe_of
from anonymaly.ask.query import Query
from anonymaly.ask.secret import AccountSecret, Secret, SecretFile, newest_check
from anonymaly.ask.store import Store, Stored, folder_of
from anonymaly.ask.verify import verify
from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.manifest import Manifest, absolute, beside, secret_beside
from anonymaly.errors import (
    AnswerFailed,
    DeclarationChanged,
    InputError,
    LedgerError,
    Refused,
)
from anonymaly.ledger import Account, Ledger, Reservation, Verification, refuse_if_too_expensive
from anonymaly.ledger.declarations import Declared, asked_under
from anonymaly.version import __version__

logger = logging.getLogger(__name__)
# The log is for the owner. Without a handler, Python would print it to whoever asks.
logging.getLogger("anonymaly").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Standing:
    """What an accountant asks under; replaced as a whole, so that what is read together belongs together."""

    declaration: Declaration
    declared: tuple[Declared, ...] = ()  # of the account, the newest last; none before it is opened

    @property
    def number(self) -> int | None:
        """The entry of the declaration, once it is written down."""
        return self.declared[-1].number if self.declared else None


class Accountant:
    """One account of one ledger, with the store of its answers and the secret of its digests.

    Callers know a question by its fingerprint. The ledger keeps a digest of that under the secret, except for
    questions that were charged before there were secrets.
    """

    def __init__(
        self,
        declaration: Declaration,
        *,
        limit: int | None,
        ledger: str | Path | None = None,
        anchor: str | Path | None = None,
        store: str | Path | None = None,
        secret: str | Path | SecretFile | None = None,
    ) -> None:
        catalogue.refuse_own(declaration.questions)
        self._standing = Standing(declaration)
        self.name = declaration.name
        self.limit = limit
        # Absolute, so that a later change of folder does not open a second ledger with a budget of its own.
        self.location = absolute(f"{self.name}.ledger" if ledger is None else str(ledger))
        self.anchor = None if anchor is None else absolute(str(anchor))
        self.ledger = Ledger.open(self.location, anchor=self.anchor)
        self._opened = False  # whether the declaration and the rules are written down
        self._refuse_changes()
        own = beside(self.location, self.name)
        answers = store if store is not None else own
        self.store = Store(folder_of(answers, self.ledger.head().ledger))
        # Another place may be shared by several ledgers, and so may what is beside a database.
        self._shares_store = absolute(str(answers)) != absolute(str(own)) or "://" in self.location
        if not isinstance(secret, SecretFile):
            place = secret_beside(self.location, self.name) if secret is None else secret
            secret = SecretFile(Path(place).absolute())
        past = self.ledger.reservations(self.name)
        # Weakly: bindings keep the secret, and must not keep the ledger open when the curator has gone.
        charges = partial(Ledger.reservations, weakref.proxy(self.ledger), self.name)
        self.secret = AccountSecret(secret, newest_check(past), charges)
        self.store.sweep({item.key: item.digest for item in past if item.state != "reserved"})

    @classmethod
    def of(cls, path: str | Path) -> Accountant:
        """Return the accountant of the account that a YAML file declares; the source need not be there."""
        manifest, folder = Manifest.load(path), Path(path).parent
        return cls(
            manifest.declaration(),
            limit=None if manifest.budget is None else to_nano(manifest.budget, field="budget"),
            ledger=manifest.ledger_location(folder),
            anchor=manifest.place(folder, manifest.anchor),
            store=manifest.store_location(folder),
            secret=manifest.secret_location(folder),
        )

    @property
    def declaration(self) -> Declaration:
        """What questions are bound to."""
        return self._standing.declaration

    @property
    def account(self) -> Account:
        """The account as it stands; one that no question has opened yet has all of its budget."""
        if self.limit is not None and self.name not in self.ledger.accounts():
            return Account(self.name, self.limit, 0, self.declaration.to_dict(), {})
        return self.ledger.account(self.name)

    def accept(self, query: Query) -> Binding:
        """Read the question again, bind it to the declaration, and refuse what the owner did not allow."""
        refuse_no_question(query)
        if self._standing.number is None and self.name in self.ledger.accounts():
            self._compare(None)  # another process opened the account
        declaration = self.declaration  # once: the owner may amend it meanwhile
        return replace(accept(query, declaration), digest_of=self.secret.digest)

    def preview(self, query: Query, repeat: int) -> Preview:
        """Say what a question would cost, promise and give."""
        accepted, account, declared = self.accept(query), self.account, self._standing.declared
        bound = self.as_charged(accepted, repeat)
        if declared and account.number != declared[-1].number:
            raise self._amended()
        earlier = self.find(bound, repeat)
        permit = self.permit(bound) if earlier is None else None
        return Preview(
            query=bound.query,
            guarantee=bound.guarantee,
            expectation=bound.expectation,
            shares_nano=tuple(bound.shares.items()),
            remaining_nano=account.remaining,
            charged_before=None if earlier is None else earlier.seq,
            origin=catalogue.origin(bound.query.question),
            # A question that was charged before changes nothing.
            effect=None
            if earlier is not None
            else effect_of(bound, self.ledger.reservations(self.name), declared),
            declarations=declared,
            warning=bound.warning,
            rule=None if permit is None else self._use_of(permit),
        )

    def permit(self, bound: Binding) -> Permit | None:
        """Return the rule that counts a question that was not charged before; refuse what no rule allows."""
        return permit_of(bound)

    def _use_of(self, permit: Permit) -> RuleUse:
        """Say how many of the questions that a rule allows were asked."""
        opened = self.name in self.ledger.accounts()
        used = {item.name: item.used for item in self.ledger.counters(self.name)} if opened else {}
        return RuleUse(permit, used.get(permit.counter, 0), permit.mark(self.secret.digest) in used)

    def refuse_beyond_rules(self, bound: Binding) -> None:
        """Refuse what no rule allows, or none any more; the ledger's counter would refuse that, too."""
        permit = self.permit(bound)
        if permit is None or (use := self._use_of(permit)).left:
            return
        raise Refused(
            f"{permit.allows}, and {use.asked:,} {'is' if use.asked == 1 else 'are'} asked",
            field="rules",
            next_step="Ask one of them again, at any ε that the rule allows, or ask the owner to allow more.",
        )

    def plan(self, query: Query, for_error: Any) -> Plan:
        """Say which ε gives a wanted error, and how many such questions the account would pay for."""
        refuse_no_question(query)
        bound, account = self.accept(probe_of(query, self.declaration, for_error)), self.account
        self.permit(bound)
        plan = make_plan(bound, query, for_error, remaining=account.remaining, limit=account.limit)
        self.permit(bound.at(plan.query.cost))  # a rule may ask for more than the error needs
        return plan

    def rehearse(
        self, query: Query, *, stand_in: Any = None, rows: int | None = None, seed: int | None = None
    ) -> Answer:
        """Answer a question from rows that are nobody's; there is no way from here to the table."""
        # Imports Ibis, DuckDB and numba, which nothing else here needs.
        from anonymaly.ask.rehearsal import rehearse  # noqa: PLC0415

        bound = self.accept(query)
        self.permit(bound)
        return rehearse(bound, stand_in=stand_in, rows=rows, seed=seed)

    def in_words(self) -> BudgetInWords:
        """Say what the budget means for one person."""
        account, declared = self.account, self.declaration
        return BudgetInWords(account.limit, account.spent, declared.adjacency, declared.person is not None)

    def as_charged(self, bound: Binding, repeat: int) -> Binding:
        """Return what a version before was charged for by the same words; otherwise the question itself."""
        earlier = bound.earlier
        if earlier is None:
            return bound
        found = self.find(bound, repeat)
        if found is None:
            return bound if self.find(earlier, repeat) is None else earlier
        # Where a law has changed the question is the same, and the ledger says by which one it was charged.
        was = found.record.get("schema_version", bound.schema_version)
        return bound if was == bound.schema_version else earlier

    def find(self, bound: Binding, repeat: int) -> Reservation | None:
        """Return the earlier charge for a question under any declaration it is the same in."""
        standing = self._standing
        for fingerprint in fingerprints(bound, repeat, standing.declared):
            found = self._find(fingerprint)
            # One that is still open is drawn under the declaration that it names, or never.
            if found is not None and (found.state != "reserved" or found.seq > (standing.number or 0)):
                return found
        return None

    def _find(self, fingerprint: str) -> Reservation | None:
        plain = self.ledger.find(self.name, fingerprint)
        if plain is not None:
            return plain  # charged before there were secrets, so it keeps its key
        secret = self.secret.current()
        return None if secret is None else self.ledger.find(self.name, _key(secret, fingerprint))

    @property
    def has_grants(self) -> bool:
        """Whether analysts are held to grants: then nobody is answered who was not charged themselves."""
        return self.name in self.ledger.accounts() and bool(self.ledger.grants(self.name))

    def is_charged(self, bound: Binding, repeat: int, analyst: str) -> bool:
        """Say whether an analyst was charged for a question, as the first who asked it or later."""
        earlier = self.find(bound, repeat)
        return earlier is not None and self.ledger.charge_of(self.name, earlier.key, analyst) is not None

    def reserve(self, bound: Binding, *, analyst: str, repeat: int) -> Reservation:
        """Charge the account, durably, or find the earlier charge for the same question.

        Where there are grants, an analyst who was not charged before is treated the same, whether another was
        or not: whatever is refused here would tell them otherwise.
        """
        mine = not self.has_grants or self.is_charged(bound, repeat, analyst)
        if mine and self.find(bound, repeat) is None:
            self.refuse_beyond_rules(bound)
        self.store.refuse_unwritable()
        secret, before = self.secret.for_charge()
        # Only now, when nothing else can be refused, is the declaration written down for good.
        self.open(bound.query.cost)
        standing = self._standing
        if bound.declaration != standing.declaration:
            raise self._amended()
        # No charge under an earlier declaration can come between this and the next: the ledger refuses it.
        earlier = self.find(bound, repeat)
        newest = next(fingerprints(bound, repeat, standing.declared))
        permit = None if mine and earlier is not None else self.permit(bound)
        return self.ledger.reserve(
            self.name,
            analyst=analyst,
            key=_key(secret, newest) if earlier is None else earlier.key,
            cost=bound.query.cost,
            declaration=standing.number,
            # In the transaction of the charge, or two questions at once would share what is left of a rule.
            counters={} if permit is None else {permit.counter: permit.questions},
            once={} if permit is None else {permit.counter: permit.mark(secret.digest)},
            rule=rule_of(bound, permit),
            # Bound again, because another process may have made the secret after this question was accepted.
            record=_record(replace(bound, digest_of=secret.digest), repeat, secret, before),
        )

    def complete(self, bound: Binding, reservation: Reservation, draw: Draw) -> Reservation:
        """Make and store one draw under an open charge; return the reservation as it ended."""
        stored = self._keep(reservation.key, draw)
        if isinstance(stored, Failed):
            # A failed draw is never made again under the same charge: otherwise, whoever sees which draws
            # fail could learn from as many of them as they like.
            ended = self.ledger.fail(reservation, stage=stored.stage, error=stored.error)
            self.store.settle(reservation.key, ended.digest)  # it may have its name, and failed after that
            self._log(bound.query, stored)
            if stored.cause is not None:
                raise stored.cause from None
            return ended
        ended = self.ledger.commit(
            reservation, digest=stored.digest, media_type=bound.query.media_type, size=stored.size
        )
        # Another process may have ended this first, or crashed with a draw of its own: one outcome counts.
        self.store.settle(reservation.key, ended.digest)
        return ended

    def answer(self, reservation: Reservation, charged: int, kind: type[Query] | None = None) -> Answer:
        """Read an answer back from the store: the first caller and the last see the same bytes."""
        if reservation.state == "failed":
            raise AnswerFailed(
                f"question {reservation.seq} was charged ε={to_text(reservation.cost)} "
                "and no answer came of it",
                next_step="The charge stands. The owner's log names the stage; repeat= asks again at a new "
                "charge.",
            )
        record, origin, account = reservation.record, _recorded_origin(reservation), self.account
        amended = account.number > reservation.seq
        kind = kind or catalogue.load(record["question"])
        refuse_forgotten(self.ledger, self.store, reservation)
        with self.store.open(reservation.key, str(reservation.digest)) as file:
            value = kind.decode(file)
        return Answer.recall(
            kind,
            value,
            record,
            number=reservation.seq,
            charged_nano=charged,
            remaining_nano=account.remaining,
            receipt=reservation.receipt(),
            origin=origin,
            under=asked_under(self.ledger.declarations(self.name), reservation) if amended else None,
        )

    def answers(self) -> list[Reservation]:
        """Return the reservations that ended with an answer, oldest first."""
        return [item for item in self.ledger.reservations(self.name) if item.state == "committed"]

    def verify(self) -> Verification:
        """Check the ledger again, and whether the stored answers are those that it names."""
        return verify(self.ledger, self.name, self.store)

    def open(self, cost: int | None = None) -> None:
        """Open the account at its first question, and write down rules that were added since."""
        if self._opened:
            return
        declaration, number = self.declaration, self._standing.number
        accounts = self.ledger.accounts()
        known = self.name in accounts
        if number is not None and self.account.number != number:
            raise self._amended()
        if not known and cost is not None and self.limit is not None:
            refuse_if_too_expensive(cost, remaining=self.limit, limit=self.limit)
        if not self._shares_store and not accounts:
            self.store.refuse_orphans(Path(self.location))
        account = self.ledger.open_account(
            self.name,
            declaration.to_dict(),
            # Compared when this object was made; the owner may have raised it since.
            limit=None if known else self.limit,
            rules=declaration.rules_to_dict(),
        )
        self._stand(declaration, account.number)
        self._opened = True

    def amend(self, declaration: Declaration, *, reason: str, learned_from_rows: bool, by: str) -> Amendment:
        """Write a correction of the declaration down, and go on under it; nothing, if nothing differs."""
        if self.name not in self.ledger.accounts():
            raise InputError(
                f"the account '{self.name}' is not opened yet, so nothing needs to be amended",
                field="dataset",
                next_step="Declare the table as it should be; the first question writes it down.",
            )
        if self._standing.number is None:
            self._compare(None)  # another process opened the account
        amendment = propose(self.ledger.account(self.name), declaration)
        if amendment.replaces != self._standing.number:
            raise self._amended()
        if amendment.differences:
            account = amendment.write(self.ledger, reason=reason, learned_from_rows=learned_from_rows, by=by)
            self._stand(declaration, account.number)
            self._opened = True
        return amendment

    def _amended(self) -> DeclarationChanged:
        newest = self.ledger.declarations(self.name)[-1]
        return DeclarationChanged(
            f"the account '{self.name}' was amended at entry {newest.number} by {newest.by or 'its owner'}",
            field="declaration",
            next_step="Open the account again and ask anew; nothing was charged.",
        )

    def _refuse_changes(self) -> None:
        """Check the declaration against the account, if there is one; write nothing."""
        if self.name in self.ledger.accounts():
            self._compare(self.limit)
        elif self.limit is None:
            raise InputError(
                f"the account '{self.name}' is new and has no budget",
                field="budget",
                next_step="Give the total ε that all its answers may spend, such as budget=1.0.",
            )

    def _compare(self, limit: int | None) -> None:
        """Check the declaration against the account, and take note of the entry that holds it."""
        declaration = self.declaration
        rules = declaration.rules_to_dict()
        account = self.ledger.compare(self.name, declaration.to_dict(), limit=limit, rules=rules)
        self._stand(declaration, account.number)

    def _stand(self, declaration: Declaration, number: int) -> None:
        """Ask under a declaration that is in force from an entry on."""
        known = self.ledger.declarations(self.name)
        self._standing = Standing(declaration, tuple(item for item in known if item.number <= number))

    def _keep(self, key: str, draw: Draw) -> Stored | Failed:
        def write(file: BinaryIO) -> None:
            failed = draw(file)
            if failed is not None:
                raise _Dropped(failed)

        try:
            return self.store.keep(key, write)
        except _Dropped as dropped:
            return dropped.failed
        except Exception as problem:  # also want of memory: a draw was made, and must not be made again
            kind = type(problem).__name__
            what = problem.problem if isinstance(problem, LedgerError) else kind
            return Failed("store", kind, what, problem if self.declaration.public else None)

    def _log(self, query: Query, failed: Failed) -> None:
        """Write to the owner's log where it failed, without a value or an engine's words."""
        # A log that cannot be written must not hide what happened to the question.
        with contextlib.suppress(Exception):
            logger.error(
                "%s on %s failed in stage %s: %s", query.question, self.name, failed.stage, failed.what
            )


class _Dropped(Exception):
    """Ends the writing of a file that will not be kept."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.stage)
        self.failed = failed


def _recorded_origin(reservation: Reservation) -> catalogue.Origin | None:
    """Return the package that an answer's question came from, or raise an error if it is not installed."""
    recorded = reservation.record.get("origin")
    if recorded is None:
        return None
    was, name = catalogue.Origin(**recorded), reservation.record["question"]
    now = catalogue.origin(name)
    if now is None or now.package != was.package:
        raise InputError(
            f"answer {reservation.seq} is of {name!r}, a question of {was.package} {was.version}, which is "
            "not installed",
            field="question",
            next_step=f"Install {was.package}; `anonymaly ledger` lists the answer without it.",
        )
    return was


def _key(secret: Secret, fingerprint: str) -> str:
    """Return what the ledger and the store know a question by."""
    return secret.digest("fingerprint", fingerprint)


def _record(bound: Binding, repeat: int, secret: Secret, before: str | None) -> Mapping[str, Any]:
    """Return what the ledger keeps about a question: enough to compose and explain it later.

    ``before`` is the check value of the secret of the charge before this one.
    """
    query, origin = bound.query, catalogue.origin(bound.query.question)
    return {
        "question": query.question,
        "schema_version": bound.schema_version,
        "query": query.for_ledger(bound.digest_of),
        "asks": query.describe(),
        "repeat": repeat,
        "version": bound.declaration.version,
        "guarantee": bound.guarantee.to_dict(),
        "expected": bound.expectation.to_dict(),
        "shares": dict(bound.shares),
        "software": __version__,
        "secret": secret.check,
        **({} if before in (None, secret.check) else {"secret_before": before}),
        **({} if origin is None else {"origin": origin.to_dict()}),
    }
