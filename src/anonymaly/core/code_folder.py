# SPDX-License-Identifier: Apache-2.0
"""The folder that keeps compiled code: where it is, whether it may be trusted, its size, and emptying it.

Whoever can write to it runs code as whoever reads it. So it is ours alone (mode 0700), and one that somebody
else owns or can write to, itself or by a folder above it, is not used: every process then compiles anew.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anonymaly.version import __version__

SETTING = "ANONYMALY_CACHE"
ENDING = ".code"
_OURS = re.compile(r"^anonymaly-[0-9A-Za-z.+!_-]+$")  # folders in it, one for each version


@dataclass(frozen=True)
class CodeFolder:
    """A folder of compiled code; ``problem`` says why it is not used, if it is not."""

    path: Path | None
    problem: str | None = None

    @property
    def for_this_version(self) -> Path | None:
        """Where code of this version is kept; None if none is."""
        if self.path is None or self.problem is not None:
            return None
        return self.path / f"anonymaly-{__version__}"

    def files(self) -> Iterator[Path]:
        """Return the files of compiled code, of all versions."""
        if self.path is None or not self.path.is_dir():
            return
        for folder in sorted(self.path.iterdir()):
            if _OURS.match(folder.name) and folder.is_dir() and not folder.is_symlink():
                yield from (file for file in sorted(folder.iterdir()) if ENDING in file.suffixes)

    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(file.lstat().st_size for file in self.files())

    def clear(self) -> int:
        """Remove compiled code and nothing else; return how many files there were."""
        files = list(self.files())
        for file in files:
            file.unlink(missing_ok=True)  # another process may be as quick
        for folder in {file.parent for file in files}:
            if not any(folder.iterdir()):
                shutil.rmtree(folder, ignore_errors=True)
        return len(files)


@cache
def code_folder() -> CodeFolder:
    """Return this process's folder, which is made if it is not there."""
    path = _place()
    if path is None:
        return CodeFolder(None, f"there is no home folder; set {SETTING} to a folder of yours")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = _distrusted(path)
        if problem is None and not os.access(path, os.W_OK | os.X_OK):
            problem = f"{path} cannot be written to"
    except OSError as error:
        problem = f"{path} cannot be made ({error.strerror})"
    return CodeFolder(path, problem)


def _place() -> Path | None:
    """Return where compiled code belongs; None without a home."""
    if chosen := os.environ.get(SETTING):
        return Path(chosen).absolute() / "compiled"
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):  # the specification has others ignored
        return Path(shared) / "anonymaly" / "compiled"
    try:
        return Path.home() / ".cache" / "anonymaly" / "compiled"
    except RuntimeError:
        return None


def _distrusted(path: Path) -> str | None:
    """Say why others could put code into a folder; None if only we, and the superuser, can."""
    if os.name != "posix":  # Windows' profile folders are their user's alone, and modes say nothing there
        return None
    found, problem = path.lstat(), None
    if not stat.S_ISDIR(found.st_mode):
        problem = f"{path} is not a folder"
    elif found.st_uid != os.geteuid():
        problem = f"{path} belongs to somebody else"
    elif found.st_mode & 0o077:
        problem = f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):04o}); remove it"
    return problem or next(filter(None, map(_open_above, path.resolve().parents)), None)


def _open_above(folder: Path) -> str | None:
    """Say why others could put another folder in the place of one below this; None if they cannot."""
    found = folder.stat()
    if found.st_uid not in (0, os.geteuid()):
        return f"{folder}, above it, belongs to somebody else"
    # In a sticky folder, as /tmp is, only a name's owner can change what it stands for.
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        return f"{folder}, above it, can be written to by others"
    return None
