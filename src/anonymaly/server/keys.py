# SPDX-License-Identifier: Apache-2.0
"""API keys: 256 random bits, shown once; a web process knows a hash, a worker what jobs are signed with.

Both come from the key by SHA-256 under different words, so neither gives the other or the key. Who breaks
into a web process can ask in the name of those whose keys pass by while they are there, and of nobody else.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from anonymaly.core.value import canonical_json

Role = Literal["owner", "analyst", "auditor"]
ROLES: tuple[Role, ...] = ("owner", "analyst", "auditor")
_FORM = re.compile(r"anm_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as its holder has it; ``repr`` hides it."""

    id: str
    text: str

    @classmethod
    def fresh(cls) -> ApiKey:
        """Make a key of 256 bits from the operating system."""
        public = secrets.token_hex(8)
        return cls(public, f"anm_{public}_{secrets.token_urlsafe(32)}")

    @classmethod
    def read(cls, text: str) -> ApiKey | None:
        """Read a key, or return None if it does not look like one."""
        found = _FORM.fullmatch(text)
        return None if found is None else cls(found[1], text)

    @property
    def hash(self) -> str:
        """What a web process compares."""
        return hashlib.sha256(b"anonymaly web\0" + self.text.encode()).hexdigest()

    @property
    def signing(self) -> bytes:
        """What jobs are signed with."""
        return hashlib.sha256(b"anonymaly job\0" + self.text.encode()).digest()

    def __repr__(self) -> str:
        return f"ApiKey({self.id!r})"


def same(known: str, given: str) -> bool:
    """Compare two digests in a time that does not depend on where they differ."""
    return hmac.compare_digest(known.encode(), given.encode())


def seal(signing: bytes, job: str, text: str) -> str:
    """Hide the text of a new key from all but the holder of the key that a job was signed with.

    It is as long as the digest that it is mixed with, and no job has two: a pad that is used once.
    """
    return _mixed(signing, job, text.encode("ascii")).hex()


def unseal(signing: bytes, job: str, sealed: str) -> str | None:
    """Return the text that was sealed; None to whoever holds another key."""
    found = ApiKey.read(_mixed(signing, job, bytes.fromhex(sealed)).decode("ascii", "replace"))
    return None if found is None else found.text


def _mixed(signing: bytes, job: str, content: bytes) -> bytes:
    pad = hmac.new(signing, b"anonymaly new key\0" + job.encode(), hashlib.sha512).digest()
    return bytes(one ^ other for one, other in zip(content, pad, strict=True))


def sign(signing: bytes, job: Mapping[str, Any]) -> str:
    """Return the proof that whoever holds a key wants this job: its id, kind, table, person and payload."""
    return hmac.new(signing, canonical_json(job).encode(), hashlib.sha256).hexdigest()
