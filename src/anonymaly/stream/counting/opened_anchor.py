# SPDX-License-Identifier: Apache-2.0
"""Up to which window a counter opened sums, kept in a second place than its journal.

A journal that is set back to an older copy, or begun anew, is a perfect journal that ends early: the counter
would open sums again that it opened before, with new noise. Nothing that opens one leaves before it is
written here, so whoever finds the journal behind passes over what may have been opened.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from anonymaly.core.files import PartialFile, sweep_partial
from anonymaly.errors import InputError, LedgerError

NONE = -1


class OpenedAnchor:
    """A small file that only moves forward.

    Parameters
    ----------
    path : path
        The file; its folder exists.
    counter : str
        Whose it is.
    pool : str
        The pool's name.
    check_key : bytes
        What both counters of the pool hold: pools that are set up anew under a name have another one.
    """

    def __init__(self, path: str | Path, counter: str, pool: str, check_key: bytes) -> None:
        self._path = Path(path).absolute()
        self._prefix = f".{self._path.name}.new."  # of the names of files that are being written
        self._of = {
            "counter": counter,
            "pool": pool,
            "key": hashlib.sha256(b"anonymaly anchor of opened sums\n" + check_key).hexdigest(),
        }
        if self._path.is_dir() or not self._path.parent.is_dir():
            raise InputError(
                f"must be a file in an existing directory, got {self._path}",
                field="anchor",
                next_step="Give a file on another disk than the journal's, such as counter.anchor.",
            )
        sweep_partial(self._path.parent, prefix=self._prefix)
        self.opened = self._read()
        """The last window whose sum may have been opened; -1 if there is none."""

    def advance(self, window: int) -> None:
        """Write durably that the sums of all windows up to one may have been opened."""
        if window <= self.opened:
            return
        try:
            with PartialFile(self._path.parent, prefix=self._prefix) as partial:
                partial.file.write((json.dumps({**self._of, "opened": window}) + "\n").encode())
                partial.appear(self._path)
        except OSError as error:
            raise LedgerError(
                f"the anchor cannot be written: {self._path} ({type(error).__name__}); no sum leaves",
                field="anchor",
                next_step="Make its directory writable and start again: nothing was lost.",
            ) from None
        self.opened = window

    def _read(self) -> int:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            found = int(content.pop("opened"))
        except FileNotFoundError:
            return NONE
        except OSError as error:
            raise LedgerError(
                f"cannot be read: {self._path} ({type(error).__name__})",
                field="anchor",
                next_step="Check the disk and the file's permissions, then start again.",
            ) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _unusable(f"cannot be understood: {self._path}") from None
        if content != self._of:
            raise _unusable(f"is of another counter or pool: {self._path}")
        return found


def _unusable(problem: str) -> LedgerError:
    return LedgerError(
        problem,
        field="anchor",
        next_step="Bring back this counter's own. If it is lost, move the file away, and have the owner give "
        "up all windows that have begun (`anonymaly stream skip`) before you start.",
    )
