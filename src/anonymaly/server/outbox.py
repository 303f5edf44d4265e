# SPDX-License-Identifier: Apache-2.0
"""The folder in which workers put the bytes of answers, once they are charged, stored and committed.

Web processes see this folder and not the store, which may hold draws that were never committed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import uuid
from pathlib import Path

from anonymaly.ask.store import Store
from anonymaly.core.files import PartialFile, make_folder, sync_folder
from anonymaly.errors import LedgerError
from anonymaly.ledger import Reservation
from anonymaly.server.messages import outbox_file

_PARTIAL = "partial."


class AnswerOutbox:
    """Answers by their job; private, unless the owner made the folder readable for a group."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_folder(folder, mode=0o700)
        # A web process of another user reads by its group; a link would keep the store's own permissions.
        self._shared = bool(folder.stat().st_mode & stat.S_IRGRP)

    def put(self, job: str, store: Store, reservation: Reservation) -> Path:
        """Put a committed answer under its job's name, checked; whoever does it again changes nothing."""
        if reservation.state != "committed":
            raise LedgerError(
                "an answer that is not committed is not handed over",
                field="outbox",
                next_step="Commit it first.",
            )
        place, digest = outbox_file(self.folder, job), str(reservation.digest)
        with store.open(reservation.key, digest) as kept:
            if not self._shared and self._link(Path(kept.name), place):
                return place
            with PartialFile(self.folder, prefix=_PARTIAL) as partial:
                shutil.copyfileobj(kept, partial.file)
                if self._shared:
                    os.fchmod(partial.file.fileno(), 0o640)
                partial.appear(place)
        return place

    def _link(self, kept: Path, place: Path) -> bool:
        """Give the stored file a second name; False where that cannot be, as on another disk."""
        new = self.folder / f"{_PARTIAL}{uuid.uuid4().hex}"
        try:
            os.link(kept, new)
            os.replace(new, place)  # does nothing, and leaves the new name, if both are the same file
        except OSError:
            return False
        finally:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
        sync_folder(self.folder)
        return True
