# SPDX-License-Identifier: Apache-2.0
"""The owner's secret: what the ledger keeps of a question about a person is a digest under it.

Whoever holds the ledger or a copy of it, but not the secret, cannot find a record by trying all of them.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymaly.core.files import sync_folder
from anonymaly.core.value import canonical_json, digest
from anonymaly.errors import InputError, LedgerError
from anonymaly.noise.entropy import KEY_BYTES, fresh_key

if TYPE_CHECKING:
    from anonymaly.ledger import Reservation

Digest = Callable[[str, Any], str]  # from what kind of thing it is, and the thing as plain data

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # Windows has no such flag
_NEW = (
    "`anonymaly ledger … --new-secret` begins another: questions that were charged under the lost one are "
    "then not found, and cost again."
)


def without_secret(kind: str, data: Any) -> str:
    """Return a digest that anybody can compute, for simulations and audits of public tables."""
    return digest(data)


@dataclass(frozen=True)
class Secret:
    """A key, and the check value of the secret that it took the place of, if it did.

    Examples
    --------
    >>> secret = Secret(bytes(32))
    >>> secret.digest("field:record", {"age": 97}) == secret.digest("promise", {"age": 97})
    False
    """

    key: bytes = field(repr=False)
    replaces: str | None = None

    def digest(self, kind: str, data: Any) -> str:
        """Return HMAC-SHA-256 of plain data, in hexadecimal; ``kind`` keeps digests of two uses apart."""
        return hmac.digest(self.key, canonical_json([kind, data]).encode(), "sha256").hex()

    @property
    def check(self) -> str:
        """What the ledger keeps, so that another secret is noticed; it tells nothing of the key."""
        return self.digest("check", None)

    def stands_for(self, check: str) -> bool:
        """Say whether it is the secret with this check value, or was begun in the place of that one."""
        return check in (self.check, self.replaces)


class SecretFile:
    """The file of a secret: 32 bytes that only its owner can read, made at the first charge.

    If the owner began a new secret in the place of a lost one, the 32 bytes of the lost one's check value
    follow.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def draft(self) -> Secret:
        """The secret that this object writes if there is none: previews use it, and write nothing."""
        return Secret(fresh_key())

    def read(self) -> Secret | None:
        """Return the secret; None if there is no file. Refuse one that is no secret any more."""
        try:
            # Never through a link, and not waiting for the other end of a pipe.
            descriptor = os.open(self.path, os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        except OSError as problem:
            what = "is a link" if os.path.islink(self.path) else f"cannot be read ({type(problem).__name__})"
            raise self._refusal(what, "Put the file itself there, readable by its owner alone.") from None
        try:
            mode = os.fstat(descriptor).st_mode
            content = os.read(descriptor, 2 * KEY_BYTES + 1) if stat.S_ISREG(mode) else None
        finally:
            with contextlib.suppress(OSError):  # nothing was written
                os.close(descriptor)
        if content is None:
            raise self._refusal("is no ordinary file", f"Restore it from a backup. {_NEW}")
        if mode & 0o077 and os.name != "nt":
            raise self._refusal(
                f"may be read by others (permissions {stat.S_IMODE(mode):04o})",
                f"Run: chmod 600 {self.path}. If others have read it, they can try records as before.",
            )
        if len(content) not in (KEY_BYTES, 2 * KEY_BYTES):
            raise self._refusal(
                f"is {len(content)} bytes long, not {KEY_BYTES}", f"Restore it from a backup. {_NEW}"
            )
        return Secret(content[:KEY_BYTES], content[KEY_BYTES:].hex() or None)

    def begin(self, secret: Secret | None = None) -> Secret:
        """Write the secret unless there is one, and return the one that is there: the first writer's."""
        found = self.read()
        if found is not None:
            # Its writer may not have come so far, and a charge under it must not outlive it.
            with contextlib.suppress(OSError):
                sync_folder(self.path.parent)
            return found
        secret = secret or self.draft
        content = secret.key + bytes.fromhex(secret.replaces or "")
        # Complete before it has its name, so that nobody ever reads half of it.
        private = self.path.with_name(f".{self.path.name}.{fresh_key().hex()[:16]}.new")
        try:
            descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            with contextlib.suppress(FileExistsError):  # another process was first
                os.link(private, self.path)
            private.unlink()
            sync_folder(self.path.parent)
        except OSError as problem:
            raise self._refusal(
                f"cannot be written ({type(problem).__name__})",
                "Name a file in a folder that can be written to: secret= in Python, secret: in the manifest.",
            ) from None
        finally:
            with contextlib.suppress(OSError):
                private.unlink(missing_ok=True)
        found = self.read()
        if found is None:
            raise self.unfit(None)
        return found

    def begin_anew(self, lost: str | None) -> Secret:
        """Begin a new secret in the place of a lost one, known by its check value; for the owner alone."""
        if lost is None:
            raise InputError(
                "there is no secret to replace: none of the account's questions was charged under one",
                field="new-secret",
                next_step="Ask; the first charge makes one.",
            )
        if os.path.lexists(self.path):
            raise InputError(
                f"there is a file at {self.path}, and it may be the only copy of a secret",
                field="new-secret",
                next_step="If it is the wrong one, move it away first, and keep it.",
            )
        return self.begin(Secret(fresh_key(), replaces=lost))

    def unfit(self, secret: Secret | None) -> LedgerError:
        """Return the refusal of a secret that is lost, or is not the one of the account's charges."""
        problem = "is gone" if secret is None else "is another secret than that of the account's charges"
        return self._refusal(
            f"{problem}, so nobody can tell which questions were charged before",
            f"Restore it from a backup. {_NEW}",
        )

    def _refusal(self, problem: str, next_step: str) -> LedgerError:
        return LedgerError(f"{self.path} {problem}; nothing was charged", field="secret", next_step=next_step)


class AccountSecret:
    """The secret of one account, compared with the charges that were made under it."""

    def __init__(
        self, file: SecretFile, check: str | None, charges: Callable[[], Iterable[Reservation]]
    ) -> None:
        self.file = file
        self._check = check  # of the newest charge that is known here
        self._charges = charges

    def current(self, *, newest: bool = False) -> Secret | None:
        """Return the secret, or None before the first charge; refuse another one than that of the charges.

        ``newest`` asks the ledger in any case: another process may have made the first charge.
        """
        if newest and self._check is None:
            self._check = newest_check(self._charges())
        # Read after the ledger: whoever charges makes the secret first.
        secret = self.file.read()
        if not self._fits(secret):
            self._check = newest_check(self._charges())
            secret = self.file.read()
            if not self._fits(secret):
                raise self.file.unfit(secret)
        return secret

    def _fits(self, secret: Secret | None) -> bool:
        return self._check is None or (secret is not None and secret.stands_for(self._check))

    def for_charge(self) -> tuple[Secret, str | None]:
        """Return the secret of a new charge, made if it is the first, and the check value of the last."""
        secret = self.current(newest=True)
        if secret is None or self._check is None:
            secret = self.file.begin()
        before, self._check = self._check, secret.check
        return secret, before

    def digest(self, kind: str, data: Any) -> str:
        """Return a digest for a preview, which writes no secret: before the first charge, under a draft."""
        return (self.current() or self.file.draft).digest(kind, data)


def newest_check(reservations: Iterable[Reservation]) -> str | None:
    """Return the check value of the secret that an account's newest keyed charge was made under."""
    checks = [item.record["secret"] for item in reservations if "secret" in item.record]
    return checks[-1] if checks else None
