# SPDX-License-Identifier: Apache-2.0
"""The store of released answers: files that are written once, found by digest, and never change.

A file's name holds the question's key and the digest of its bytes. It appears only when it is complete
and on disk, and nobody learns the digest before the ledger has committed it. The key separates two
questions whose answers happen to be equal, so that dropping one draw never drops another's answer. It is
whole, for the same reason; names of earlier versions, with its first 16 digits, are still read.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from anonymaly.core.files import PartialFile, make_folder, sweep_partial, sync_folder
from anonymaly.errors import LedgerDamaged, LedgerError

_PARTIAL = "partial."
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LENGTHS = (64, 16)  # digits of the key in a name: of this version, and of earlier ones


@dataclass(frozen=True)
class Stored:
    """The digest and size of a file, which the ledger keeps."""

    digest: str
    size: int


class _HashingFile(io.RawIOBase):
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


class KeptFile(io.BufferedReader):
    """An open answer that was checked; ``reopen`` opens it again, checked again."""

    def __init__(self, raw: io.FileIO, reopen: Callable[[], BinaryIO]) -> None:
        super().__init__(raw)
        self.reopen = reopen

    def close(self) -> None:
        """Close the file; it was only read, so that nothing is lost if that fails."""
        with contextlib.suppress(OSError):
            super().close()


def folder_of(answers: str | Path, ledger: str) -> Path:
    """Return the folder of one ledger, so that no other ledger's questions are mistaken for its own."""
    return Path(answers).absolute() / ledger[:16]


def holds_answers(answers: Path, *, but: Path | None = None) -> bool:
    """Say whether a folder holds answers of any ledger, or of any but the one that keeps its own there."""
    with contextlib.suppress(OSError):
        return any(any(kept.iterdir()) for kept in answers.iterdir() if kept.is_dir() and kept != but)
    return False


class Store:
    """A folder of released answers that only its owner can read."""

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        self.folder = folder
        if not create:
            return
        try:
            make_folder(folder, mode=0o700)
        except OSError as problem:
            raise LedgerError(
                f"cannot keep answers in {folder} ({type(problem).__name__})",
                field="store",
                next_step="Give a folder that can be written to.",
            ) from None

    def refuse_orphans(self, ledger: Path) -> None:
        """Raise an error, before the first charge, if answers lie here whose ledger is gone."""
        answers = self.folder.parent
        if holds_answers(answers, but=self.folder):
            raise LedgerError(
                f"{answers.name} holds answers, and the ledger that charged them is gone: a new one would "
                "promise again what was spent; nothing was charged",
                field="ledger",
                next_step=f"Restore {ledger.name}, or say where it is now. If nobody knows those answers, "
                f"remove {answers}.",
            )

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

    def open(self, key: str, digest: str) -> KeptFile:
        """Open a stored answer after checking that its bytes are what the ledger says."""
        whole = self.path(key, digest)
        for path in (whole.with_name(name) for name in _names(key, digest)):
            try:
                file = KeptFile(io.FileIO(path), functools.partial(self.open, key, digest))
            except (FileNotFoundError, IsADirectoryError):
                continue
            except OSError as problem:
                raise self._unreadable(digest, problem) from None
            try:
                found = hashlib.file_digest(file, "sha256").hexdigest()
                file.seek(0)
            except OSError as problem:
                with contextlib.suppress(OSError):
                    file.close()
                raise self._unreadable(digest, problem) from None
            if found == digest:
                return file
            file.close()
            raise self._damaged("altered", digest)
        raise self._damaged("missing", digest)

    def holds(self, key: str, digest: str) -> bool:
        """Say whether there is a file of an answer; its bytes are not looked at."""
        return any((self.folder / name).exists() for name in _names(key, digest))

    def erase(self, key: str, digest: str) -> None:
        """Remove the bytes of an answer for good; the ledger says before that it is erased."""
        for name in _names(key, digest):
            (self.folder / name).unlink(missing_ok=True)
        sync_folder(self.folder)

    def settle(self, key: str, digest: str | None) -> None:
        """Remove every draw for a question except the released one, so that no other can get out."""
        # What cannot be listed now is swept at the next opening, and must not hide how the question ended.
        with contextlib.suppress(OSError):
            for path in self.folder.glob(f"{key}-*"):
                if path.name != f"{key}-{digest}":
                    _remove(path)

    def sweep(self, ended: Mapping[str, str | None]) -> None:
        """Remove what crashes left behind: draws for questions that ended otherwise, and partial files.

        ``ended`` maps the keys of questions that are over to the digest of their answer, if there is one.
        Draws for questions that are still open stay: somebody may be about to commit one.
        """
        over = {key[:length] for key in ended for length in _LENGTHS}
        released = {name for key, digest in ended.items() for name in _names(key, digest)}
        for path in self.folder.iterdir():
            if path.name.partition("-")[0] in over and path.name not in released:
                _remove(path)
        sweep_partial(self.folder, _PARTIAL)

    def strangers(self, keys: Callable[[], Iterable[str]]) -> list[Path]:
        """Return what in the folder is neither an answer to a charged question, nor a draw for one."""
        present = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        # Asked for only now: what is drawn from here on was not in the folder.
        known = {key[:length] for key in keys() for length in _LENGTHS}
        return [
            path
            for path in present
            if not path.is_file()
            or not (path.name.partition("-")[0] in known or path.name.startswith(_PARTIAL))
        ]

    def damaged(self, key: str, digest: str) -> str | None:
        """Say what is wrong with a stored answer, if anything is."""
        try:
            self.open(key, digest).close()
        except LedgerDamaged as problem:
            return problem.problem
        return None

    def path(self, key: str, digest: str) -> Path:
        """Return where an answer lies; refuses names that are not made of digests."""
        if not (_DIGEST.fullmatch(key) and _DIGEST.fullmatch(digest)):
            raise LedgerDamaged(
                "an entry of the ledger has no valid digest", next_step="Restore the ledger from a backup."
            )
        return self.folder / f"{key}-{digest}"

    def _unwritable(self, problem: OSError, charge: str) -> LedgerError:
        return LedgerError(
            f"the answer cannot be written to {self.folder} ({type(problem).__name__}); {charge}",
            field="store",
            next_step="Free some space or repair the folder, then ask again.",
        )

    def _unreadable(self, digest: str, problem: OSError) -> LedgerDamaged:
        # Perhaps for a moment only, so nobody is told to pay again.
        return LedgerDamaged(
            f"the stored answer {digest[:12]}… cannot be read in {self.folder} ({type(problem).__name__})",
            field="store",
            next_step="Check the disk and the folder's permissions, then ask again: it is free.",
        )

    def _damaged(self, how: str, digest: str) -> LedgerDamaged:
        return LedgerDamaged(
            f"the stored answer {digest[:12]}… is {how} in {self.folder}",
            field="store",
            next_step="Restore the folder from a backup; repeat= asks again at a new charge.",
        )


def _names(key: str, digest: str | None) -> tuple[str, ...]:
    """Return the names of an answer, of this version and of earlier ones; none if there is no answer."""
    return () if digest is None else tuple(f"{key[:length]}-{digest}" for length in _LENGTHS)


def _remove(path: Path) -> None:
    """Remove a draw; what cannot be removed, such as a folder, is left for verification to report."""
    with contextlib.suppress(OSError):
        path.unlink()
