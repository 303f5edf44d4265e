# SPDX-License-Identifier: Apache-2.0
"""Compiled functions kept in files, one for each function and signature.

numba's own files are told apart by numbers in an index, and two processes that compile the same function for
different types at once can each write the other's code under its number. Here a file is named by the digest
of all that its code depends on (`fingerprint`), so whoever writes it writes the same, and nothing goes stale.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from anonymaly.core.code_folder import ENDING, code_folder
from anonymaly.core.compiling import tell
from anonymaly.core.fingerprint import fingerprint, types_in_words


class KeptCode(_Cache):
    """Where one compiled function's code is kept, as numba asks for it."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    @property
    def cache_path(self) -> str | None:
        """The folder; None if nothing is kept."""
        folder = code_folder().for_this_version
        return None if folder is None else str(folder)

    def file_for(self, types: Any, codegen: Any) -> Path | None:
        """Return the file of a signature's code on this processor."""
        folder = code_folder().for_this_version
        if folder is None:
            return None
        parts = (fingerprint(self._function), types_in_words(types), repr(codegen.magic_tuple()))
        name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
        return folder / f"{self._function.__qualname__.rpartition('.')[2]}-{name}{ENDING}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kept code, or None, after which numba compiles."""
        target_context.refresh()
        file = self.file_for(sig, target_context.codegen())
        # A file that is damaged is like none: the code is compiled again, and the file written anew.
        with suppress(Exception):
            if file is not None:
                rebuild: Any = CompileResult._rebuild
                return rebuild(target_context, *pickle.loads(file.read_bytes()))  # noqa: S301
        tell(self._function.__qualname__, True)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled; a full disk does not stop whoever waits for an answer."""
        tell(self._function.__qualname__, False)
        file = self.file_for(sig, data.codegen)
        if file is None or data.lifted or data.library.has_dynamic_globals:
            return
        with suppress(OSError):
            file.parent.mkdir(mode=0o700, exist_ok=True)
            serialize: Any = dumps
            self._write(file, serialize(data._reduce()))

    def _write(self, file: Path, content: bytes) -> None:
        handle, part = tempfile.mkstemp(prefix=f"{file.name}.", suffix=".part", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as opened:
                opened.write(content)
            os.replace(part, file)
        except OSError:
            with suppress(OSError):
                os.unlink(part)
            raise

    def enable(self) -> None:
        """Do nothing: code is always kept."""

    def disable(self) -> None:
        """Do nothing: code is always kept."""

    def flush(self) -> None:
        """Do nothing: a file that is no longer meant is never read again."""
