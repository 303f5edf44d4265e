# SPDX-License-Identifier: Apache-2.0
"""Who may do what: keys are made and revoked here, by workers alone, and jobs are checked against them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from anonymaly.errors import InputError, Refused
from anonymaly.ledger.inputs import label
from anonymaly.server.jobs import Job
from anonymaly.server.keys import ROLES, ApiKey, Role, same, sign
from anonymaly.server.state import State, begin_alone, facts, keys, logins, proofs

FIRST_OWNER = "owner"
MOST_DAYS = 3650
USUAL_DAYS = 365
LONGEST_NAME = 100
# Default deny: what is not named here nobody may have done.
ALLOWED: dict[str, frozenset[str]] = {
    "owner": frozenset(
        {"ask", "rehearse", "grant", "revoke", "raise", "pause", "resume", "amend", "key", "revoke-key"}
        | {"log-out"}
    ),
    "analyst": frozenset({"ask", "rehearse", "log-out"}),
    "auditor": frozenset({"log-out"}),
}
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Who:
    """Whose job it is, as their key says; ``valid`` is False once the key has expired or was revoked."""

    person: str
    role: Role
    valid: bool
    signing: bytes = field(repr=False)  # what the key's holder signs with


def identify(state: State, job: Job) -> Who | None:
    """Return who had a job done; None unless its proof shows that the holder of the key wanted just that.

    What a web process wrote down is not believed: the proof is of the job's id, kind, table, person,
    idempotency key and payload, and the key's own person and role are what decides.
    """
    if not job.name:  # it would be the name of a file in the outbox, or of one elsewhere
        return None
    of = (
        sa.select(keys.c.person, keys.c.role, keys.c.expires_at, keys.c.revoked_at, proofs.c.proof, state.now)
        .select_from(keys.join(proofs, proofs.c.id == keys.c.id))
        .where(keys.c.id == job.key_id)
    )
    with state.read() as connection:
        row = connection.execute(of).first()
    if row is None:
        return None
    person, role, expires, revoked, proof, now = row
    signing = bytes.fromhex(proof)
    if not same(sign(signing, job.signed), job.proof) or job.person != person:
        return None
    if job.kind not in ALLOWED.get(role, ()):
        return None
    return Who(person, role, revoked is None and (expires is None or now < expires), signing)


@dataclass(frozen=True, slots=True)
class NewKey:
    """What is to be made: whose, and for how long."""

    person: str
    role: Role
    label: str
    days: int | None

    @classmethod
    def read(cls, asked: Mapping[str, Any]) -> NewKey:
        """Check what an owner asked for."""
        person, role, named = asked.get("person"), asked.get("role"), asked.get("label", "")
        days = asked.get("expires_in_days", USUAL_DAYS)
        short = isinstance(person, str) and 0 < len(person) <= LONGEST_NAME
        if not isinstance(person, str) or not short or not person.isprintable() or person != person.strip():
            raise InputError(
                f"must be 1 to {LONGEST_NAME} printable characters, without a space at either end",
                field="person",
                next_step="Give a short name.",
            )
        label(person, field="person")
        if "/" in person or person in (".", ".."):
            raise InputError(
                "must have no slash and not be . or ..: it is a part of addresses, such as a grant's",
                field="person",
                next_step="Give another name, such as one with a hyphen.",
            )
        if role not in ROLES:
            raise InputError(
                f"must be one of {', '.join(ROLES)}", field="role", next_step="Name what the person may do."
            )
        if not isinstance(named, str) or len(named) > LONGEST_NAME or not (named.isprintable() or not named):
            raise InputError(
                f"must be at most {LONGEST_NAME} printable characters",
                field="label",
                next_step="Say in a few words what the key is for.",
            )
        whole = isinstance(days, int) and not isinstance(days, bool) and 1 <= days <= MOST_DAYS
        if days is not None and not whole:
            raise InputError(
                f"must be a whole number from 1 to {MOST_DAYS:,}, or null",
                field="expires_in_days",
                next_step=f"Leave it out for {USUAL_DAYS} days.",
            )
        return cls(person, role, named, days)


def make_key(
    state: State, connection: sa.Connection, new: NewKey, *, seconds: float | None = None
) -> tuple[ApiKey, float | None]:
    """Make a key in an open transaction; return it and when it expires, by its days or by ``seconds``."""
    fresh, now = ApiKey.fresh(), state.time(connection)
    lasts = seconds if new.days is None else new.days * _DAY
    expires = None if lasts is None else now + lasts
    row = {
        "id": fresh.id,
        "person": new.person,
        "role": new.role,
        "hash": fresh.hash,
        "label": new.label,
        "created_at": now,
        "expires_at": expires,
    }
    connection.execute(keys.insert(), row)
    connection.execute(proofs.insert(), {"id": fresh.id, "proof": fresh.signing.hex()})
    return fresh, expires


def revoke_key(state: State, connection: sa.Connection, number: Any) -> str:
    """Revoke a key for good; once is enough. The last key of an owner stays."""
    row = connection.execute(sa.select(keys).where(keys.c.id == str(number))).first()
    if row is None:
        raise InputError(
            "there is no such key", field="id", next_step="List the keys; an id has 16 letters and digits."
        )
    if row.revoked_at is not None:
        return str(row.id)
    brief = connection.execute(sa.select(logins.c.id).where(logins.c.key_id == row.id)).first() is not None
    if row.role == "owner" and not brief and not _another_owner(state, connection, row.id):
        raise Refused(
            "it is the last key of an owner, and nobody could make another",
            field="id",
            next_step="Make another owner's key first.",
        )
    connection.execute(keys.update().where(keys.c.id == row.id).values(revoked_at=state.now))
    return str(row.id)


def _another_owner(state: State, connection: sa.Connection, number: str) -> bool:
    if connection.dialect.name == "postgresql":
        # Where two owners' keys are revoked at once, each would find the other's: one after the other.
        connection.execute(sa.text("LOCK TABLE server_keys IN SHARE ROW EXCLUSIVE MODE"))
    lasting = sa.or_(keys.c.expires_at.is_(None), keys.c.expires_at > state.now)
    brief = sa.select(logins.c.key_id)  # of a login: it is gone in a few hours, and perhaps nobody comes back
    of = sa.select(keys.c.id).where(
        keys.c.role == "owner",
        keys.c.revoked_at.is_(None),
        lasting,
        keys.c.id != number,
        keys.c.id.not_in(brief),
    )
    return connection.execute(of.limit(1)).first() is not None


def first_owner_key(state: State, show: Callable[[ApiKey], None], *, anew: bool = False) -> bool:
    """Make the first key of all, an owner's, and have it shown before it counts; False if there was one.

    ``anew`` makes a further one, for an owner who lost theirs: whoever starts the server may.
    """
    with state.write() as connection:
        begin_alone(connection)
        before = connection.execute(sa.select(facts.c.name).where(facts.c.name == "first-owner-key")).first()
        if before is not None and not anew:
            return False
        made, _ = make_key(state, connection, NewKey(FIRST_OWNER, "owner", "made at the start", None))
        if before is None:
            connection.execute(facts.insert(), {"name": "first-owner-key", "value": made.id})
        show(made)
        return True
