# SPDX-License-Identifier: Apache-2.0
"""What was measured so far, one JSON document a line: an interrupted run goes on behind the last line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def code_digest(*packages: str) -> str:
    """Return a digest of some folders or files of the package; what other code measured is measured again.

    Examples
    --------
    >>> code_digest("noise") == code_digest("noise") != code_digest("noise", "explain")
    True
    """
    whole = hashlib.sha256()
    for package in packages:
        root = Path(str(files("anonymaly"))) / package
        for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
            whole.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()[:16]


class Journal:
    """The measurements of one study.

    Parameters
    ----------
    path
        The file; it is made with its folder.
    settings
        What the measurements depend on. A file with other settings is begun anew.
    force
        Begin anew in any case.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder) / "study.jsonl", {"seed": 1})
    ...     journal.write({"row": 7})
    ...     list(Journal(Path(folder) / "study.jsonl", {"seed": 1}))
    [{'row': 7}]
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], *, force: bool = False) -> None:
        self.path = path
        self._entries: list[Entry] = []
        head = json.dumps(dict(settings), sort_keys=True)
        lines = [] if force or not path.exists() else path.read_text(encoding="utf-8").split("\n")
        if lines and lines[0] == head:
            # The text after the last line break is empty, or a line that was cut off.
            self._entries = [json.loads(line) for line in lines[1:-1]]
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = [head, *(json.dumps(entry) for entry in self._entries)]
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
