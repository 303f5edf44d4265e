# SPDX-License-Identifier: Apache-2.0
"""What the ledger hands out: frozen, plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from anonymaly.errors import InputError

State = Literal["reserved", "committed", "failed"]
Rules = dict[str, Any] | Literal["any"]


@dataclass(frozen=True, slots=True)
class Head:
    """The last link of the chain.

    Examples
    --------
    >>> Head(ledger="1f", epoch=0, seq=3, hash="ab").seq
    3
    """

    ledger: str
    epoch: int
    seq: int
    hash: str

    def to_dict(self) -> dict[str, Any]:
        """Return the head as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the account book; once written it never changes.

    ``kind`` is open, rule, limit, amendment, reserve, again, commit, fail, grant, revocation, pause, consent,
    anchor, epoch or upgrade. ``account`` is None for those that concern the whole ledger (anchor, epoch,
    upgrade). The order is that of ``seq``; ``time`` is the writer's clock, and decides only when the
    terms of a grant end or begin anew.

    Examples
    --------
    >>> time = "2026-01-01T00:00:00.000+00:00"
    >>> Entry(seq=1, kind="anchor", account=None, time=time, data={}, hash="ab").kind
    'anchor'
    """

    seq: int
    kind: str
    account: str | None
    time: str
    data: Mapping[str, Any]
    hash: str

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Account:
    """A dataset's account: what was declared, what may be spent and what is spent, in nano-ε.

    Examples
    --------
    >>> Account(name="patients", limit=10, spent=4, declaration={}, rules={}).remaining
    6
    """

    name: str
    limit: int
    spent: int
    declaration: Mapping[str, Any]
    rules: Rules
    number: int = 0  # the entry that holds the declaration in force; 0 before the account is opened
    paused: bool = False

    @property
    def remaining(self) -> int:
        """What may still be spent, in nano-ε."""
        return self.limit - self.spent

    def to_dict(self) -> dict[str, Any]:
        """Return the account as plain data."""
        return {**asdict(self), "remaining": self.remaining}


@dataclass(frozen=True, slots=True)
class _Receipt:
    """What all receipts can do."""

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read a receipt back from plain data."""
        try:
            return cls(**data)
        except TypeError:
            raise InputError(
                "has missing or unknown fields",
                field="receipt",
                next_step=f"Give what to_dict() of a receipt returned: {', '.join(cls.__slots__)}.",
            ) from None


@dataclass(frozen=True, slots=True)
class Receipt(_Receipt):
    """Proof of a charge, to be checked against the ledger by anyone who may read it.

    Examples
    --------
    >>> receipt = Receipt(ledger="1f", account="patients", key="q", cost=5, seq=2, hash="ab")
    >>> Receipt.from_dict(receipt.to_dict()) == receipt
    True
    """

    ledger: str
    account: str
    key: str
    cost: int
    seq: int
    hash: str
    commit_seq: int | None = None
    commit_hash: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class ChargeReceipt(_Receipt):
    """An analyst's proof of their own charge: it tells nothing of others, nor where it stands in the ledger.

    ``charge`` is the hash of the entry that charged them, whoever asked first; ``digest`` that of the answer.

    Examples
    --------
    >>> receipt = ChargeReceipt(ledger="1f", account="patients", charge="ab", digest="cd", cost=5)
    >>> ChargeReceipt.from_dict(receipt.to_dict()) == receipt
    True
    """

    ledger: str
    account: str
    charge: str
    digest: str | None
    cost: int


@dataclass(frozen=True, slots=True)
class Charge:
    """What one analyst was charged for one question, in nano-ε, as the first who asked it or later.

    ``number`` counts this analyst's own charges, from 1 on. ``hash`` is that of the entry that charged them.
    It has no number of the ledger's: the gaps between those would tell how much others ask.

    Examples
    --------
    >>> charge = Charge("1f", "patients", "ann", number=1, cost=5, question="count", asks="how many",
    ...                 time="2026-01-01T00:00:00.000+00:00", hash="ab", digest="cd", record={})
    >>> charge.receipt().charge
    'ab'
    """

    ledger: str
    account: str
    analyst: str
    number: int
    cost: int
    question: str
    asks: str
    time: str
    hash: str
    digest: str | None
    record: Mapping[str, Any]

    def receipt(self) -> ChargeReceipt:
        """Return the analyst's proof of it."""
        return ChargeReceipt(self.ledger, self.account, self.hash, self.digest, self.cost)

    def to_dict(self) -> dict[str, Any]:
        """Return what the analyst may see of it, as plain data."""
        shown = ("number", "question", "asks", "cost", "time")
        return {name: getattr(self, name) for name in shown} | {"charge": self.hash}


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that stands, and what became of it.

    ``charged`` says whether the call that returned this value made the charge; it is False when the same
    question had been reserved before. ``digest``, ``media_type`` and ``size`` are set once committed;
    ``stage`` and ``error`` once failed.

    Examples
    --------
    >>> reservation = Reservation(
    ...     ledger="1f", account="patients", analyst="owner", key="q", cost=5, record={}, state="reserved",
    ...     seq=2, hash="ab", time="2026-01-01T00:00:00.000+00:00",
    ... )
    >>> reservation.receipt().seq
    2
    """

    ledger: str
    account: str
    analyst: str
    key: str
    cost: int
    record: Mapping[str, Any]
    state: State
    seq: int
    hash: str
    time: str
    charged: bool = False
    outcome_seq: int | None = None
    outcome_hash: str | None = None
    outcome_time: str | None = None
    digest: str | None = None
    media_type: str | None = None
    size: int | None = None
    stage: str | None = None
    error: str | None = None
    declaration: int | None = None  # the entry of the declaration it was asked under, if it was named

    def receipt(self) -> Receipt:
        """Return the proof of this charge, with the answer's digest once there is one."""
        committed = self.state == "committed"
        return Receipt(
            ledger=self.ledger,
            account=self.account,
            key=self.key,
            cost=self.cost,
            seq=self.seq,
            hash=self.hash,
            commit_seq=self.outcome_seq if committed else None,
            commit_hash=self.outcome_hash if committed else None,
            digest=self.digest,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the reservation as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Grant:
    """What an owner granted to an analyst, in nano-ε, and whether it still stands.

    ``terms`` is whatever else was agreed, as plain data: what `reserve` sees to, if it is of that kind
    (``anonymaly.ledger.terms``), or anything else, which the ledger keeps and gives no meaning.

    Examples
    --------
    >>> Grant("patients", "ann", limit=5, terms={}, by="owner", reason="a study", seq=3, time="").standing
    True
    """

    account: str
    analyst: str
    limit: int | None
    terms: Mapping[str, Any]
    by: str
    reason: str
    seq: int
    time: str
    spent: int = 0
    revoked: int | None = None

    @property
    def standing(self) -> bool:
        """Whether it was not revoked."""
        return self.revoked is None

    def to_dict(self) -> dict[str, Any]:
        """Return the grant as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Counter:
    """How often something may happen, such as a question under a rule, and how often it did.

    Examples
    --------
    >>> Counter("rule:groups", limit=20, used=3).remaining
    17
    """

    name: str
    limit: int
    used: int

    @property
    def remaining(self) -> int:
        """How often it may still happen."""
        return self.limit - self.used

    def to_dict(self) -> dict[str, Any]:
        """Return the counter as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a full check of the ledger found.

    ``spent`` is recomputed from the entries alone, in nano-ε per account. ``answers`` is how many stored
    answers were compared with their digests; None if nobody looked, as the ledger itself cannot.

    Examples
    --------
    >>> head = Head(ledger="1f", epoch=0, seq=0, hash="ab")
    >>> Verification(entries=0, head=head, spent={}).ok
    True
    """

    entries: int
    head: Head
    spent: Mapping[str, int]
    problems: tuple[str, ...] = field(default=())
    format: int = 0
    answers: int | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing wrong was found."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {"ok": self.ok, **asdict(self), "problems": list(self.problems)}
