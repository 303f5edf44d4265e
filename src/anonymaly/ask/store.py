# SPDX-License-Identifier: Apache-2.0
"""The store of released answers: files that are written once, found by digest, and never change.

A file's name holds the question's key and the digest of its bytes. It appears only when it is complete
and on disk, and nobody learns the digest before the ledger has committed it. The key separates two
questions whose answers happen to be equal, so that dropping one draw never drops another's answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from anonymaly.core.files import PartialFile, make_folder
from anonymaly.errors import LedgerDamaged, LedgerError

_PARTIAL = "partial."
_DIGEST = re.compile(r"[0-9a-f]{64}")
ABANDONED = 24 * 3600  # seconds after which a partial file was left by a crash, not by a running process


@dataclass(frozen=True)
class Stored:
    """The digest and size of a file, which the ledger keeps."""

    digest: str
    size: int


class _HashingFile(RawIOBase):
    """A file that knows the digest of what was written to it; written in order, never rewound."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        written = self._file.write(data)
        self.size += written
        return written

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


class Store:
    """A folder of released answers that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            make_folder(folder, mode=0o700)
        except OSError as problem:
            raise LedgerError(
                f"cannot keep answers in {folder} ({type(problem).__name__})",
                field="store",
                next_step="Give a folder that can be written to.",
            ) from None

    def refuse_unwritable(self) -> None:
        """Raise an error, before a charge, if no answer could be stored after it."""
        try:
            PartialFile(self.folder, prefix=_PARTIAL).discard()
        except OSError as problem:
            raise self._unwritable(problem, "nothing was charged") from None

    def keep(self, key: str, write: Callable[[BinaryIO], None]) -> Stored:
        """Let ``write`` fill a private file, then make it durable under the question's key and its digest.

        If anything interrupts this, no file is left behind.
        """
        try:
            with PartialFile(self.folder, prefix=_PARTIAL) as partial:
                file = _HashingFile(partial.file)
                write(cast(BinaryIO, file))
                partial.appear(self.path(key, file.digest))
        except OSError as problem:
            raise self._unwritable(problem, "the charge stands, and repeat= takes a new one") from None
        return Stored(file.digest, file.size)

    def open(self, key: str, digest: str) -> BinaryIO:
        """Open a stored answer after checking that its bytes are what the ledger says."""
        path = self.path(key, digest)
        try:
            file = path.open("rb")
        except OSError:
            raise self._damaged("missing", digest) from None
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            file.close()
            raise self._damaged("altered", digest)
        file.seek(0)
        return file

    def settle(self, key: str, digest: str | None) -> None:
        """Remove every draw for a question except the released one, so that no other can get out."""
        for path in self.folder.glob(f"{_short(key)}-*"):
            if path.name != f"{_short(key)}-{digest}":
                path.unlink(missing_ok=True)

    def sweep(self, ended: Mapping[str, str | None]) -> None:
        """Remove what crashes left behind: draws for questions that ended otherwise, and old partial files.

        ``ended`` maps the keys of questions that are over to the digest of their answer, if there is one.
        Draws for questions that are still open stay: somebody may be about to commit one.
        """
        long_ago = time.time() - ABANDONED
        kept = {_short(key): digest for key, digest in ended.items()}
        for path in self.folder.iterdir():
            key, _, digest = path.name.partition("-")
            overtaken = key in kept and kept[key] != digest
            # Another process may rename or remove its own file at any moment.
            with contextlib.suppress(FileNotFoundError):
                if overtaken or (path.name.startswith(_PARTIAL) and path.stat().st_mtime < long_ago):
                    path.unlink()

    def path(self, key: str, digest: str) -> Path:
        """Return where an answer lies; refuses names that are not made of digests."""
        if not (_DIGEST.fullmatch(key) and _DIGEST.fullmatch(digest)):
            raise LedgerDamaged(
                "an entry of the ledger has no valid digest", next_step="Restore the ledger from a backup."
            )
        return self.folder / f"{_short(key)}-{digest}"

    def _unwritable(self, problem: OSError, charge: str) -> LedgerError:
        return LedgerError(
            f"the answer cannot be written to {self.folder} ({type(problem).__name__}); {charge}",
            field="store",
            next_step="Free some space or repair the folder, then ask again.",
        )

    def _damaged(self, how: str, digest: str) -> LedgerDamaged:
        return LedgerDamaged(
            f"the stored answer {digest[:12]}… is {how} in {self.folder}",
            field="store",
            next_step="Restore the folder from a backup; repeat= asks again at a new charge.",
        )


def _short(key: str) -> str:
    return key[:16]
