# SPDX-License-Identifier: Apache-2.0
"""Measurements so far, one JSON document on each line: an interrupted run goes on after the last one."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from anonymaly.errors import InputError

Entry = dict[str, Any]


def code_digest(*sources: ModuleType | Callable[..., Any]) -> str:
    """Return a digest of the files of some packages, modules and functions: measurements depend on them.

    Examples
    --------
    >>> import json.decoder
    >>> code_digest(json) == code_digest(json) != code_digest(json.decoder)
    True
    """
    whole = hashlib.sha256()
    for source in sources:
        home = Path(inspect.getfile(source))
        package = home.name == "__init__.py"
        for path in sorted(home.parent.rglob("*.py")) if package else [home]:
            whole.update(path.relative_to(home.parent).as_posix().encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()[:16]


class Journal:
    """The measurements of one experiment.

    Parameters
    ----------
    path
        The file; it is made with its folder.
    settings
        What the measurements depend on. A file with other settings is refused.
    force
        Begin anew, whatever is there.
    earlier
        Where the file was in an earlier version of its study; read if there is none at ``path``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder) / "study.jsonl", {"seed": 1})
    ...     journal.write({"row": 7})
    ...     list(Journal(Path(folder) / "study.jsonl", {"seed": 1}))
    [{'row': 7}]
    """

    def __init__(
        self, path: Path, settings: Mapping[str, Any], *, force: bool = False, earlier: Path | None = None
    ) -> None:
        self.path = path
        # As JSON gives them back, so that a tuple and a list are the same settings.
        plain = json.loads(json.dumps(dict(settings)))
        kept = next((file for file in (path, earlier) if file is not None and file.exists()), None)
        self._entries = [] if force or kept is None else _read(kept, plain)
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = [json.dumps(plain, sort_keys=True), *(json.dumps(entry) for entry in self._entries)]
        replacement = path.with_suffix(".new")
        replacement.write_text("".join(f"{line}\n" for line in whole), encoding="utf-8")
        replacement.replace(path)

    def write(self, entry: Mapping[str, Any]) -> None:
        """Append one measurement."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(entry)) + "\n")
        self._entries.append(dict(entry))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _read(path: Path, settings: Mapping[str, Any]) -> list[Entry]:
    """Return the measurements of a file with these settings."""
    head, *lines = path.read_text(encoding="utf-8").split("\n")
    try:
        found = json.loads(head)
        # The text after the last line break is empty, or a line that was cut off.
        entries: list[Entry] = [json.loads(line) for line in lines[:-1]]
    except json.JSONDecodeError:
        raise _refused(path, "it is no journal of measurements, or damaged") from None
    if found != settings:
        names = sorted(name for name in {*found, *settings} if found.get(name) != settings.get(name))
        raise _refused(path, f"it was measured with other settings ({', '.join(names)})")
    return entries


def _refused(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} is not read: {reason}",
        field="output",
        next_step="Give --force to measure again, or another --output to keep both.",
    )
