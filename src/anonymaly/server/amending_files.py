# SPDX-License-Identifier: Apache-2.0
"""Carrying an amendment out, on the host: the ledger's entry, and the table's file that must say the same.

A table whose file and ledger differ is answered by no worker. So the new file is written beside the old one
first, then the entry, and then it takes its place. Whatever ends it in between, confirming again goes on.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from anonymaly.ask.amendment import propose
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.manifest import Manifest, read_yaml
from anonymaly.declare.value_files import with_values
from anonymaly.errors import AnonymalyError, DeclarationChanged, InputError
from anonymaly.ledger import Ledger
from anonymaly.server.amending import amended, compare_asked, fields_of


def amend_file(path: Path, asked: Mapping[str, Any], by: str) -> dict[str, Any]:
    """Amend the account of a table's file, and the file; return the entry, and where the old file is."""
    manifest, folder = Manifest.load(path), path.parent
    declared = manifest.declaration()
    new = amended(declared, asked.get("declaration") or {})
    with open_ledger(manifest, folder) as book:
        account = book.account(manifest.name)
        edited = bool(propose(account, declared).differences)
        if propose(account, new).differences:
            _refuse_edited(path, edited)
            amendment = compare_asked(account, declared, asked).amendment
        elif edited:
            amendment = None  # the entry is there: it was ended before the file took its place
        else:
            return {"entry": account.number}  # both are there, and what was written since stays
        written = path.with_name(f"{path.name}.amended")
        _write(written, _text(path, new), like=path)
        try:
            Manifest.load(written).dataset(folder).ready()  # or it would have to be amended again
            if amendment is not None:
                account = amendment.write(
                    book,
                    reason=asked.get("reason", ""),
                    learned_from_rows=asked.get("learned_from_rows") is True,
                    by=by,
                )
        except BaseException:
            written.unlink(missing_ok=True)
            raise
    before = path.with_name(f"{path.name}.before-{account.number}")
    done = {"entry": account.number, "file": str(path), "before": str(before)}
    try:
        if not before.exists():
            shutil.copy2(path, before)
        written.replace(path)
    except OSError as problem:
        return {**done, "left": str(written), "why": type(problem).__name__}
    return done


def open_ledger(manifest: Manifest, folder: Path) -> Ledger:
    """Open the ledger of a table's file."""
    anchor = manifest.place(folder, manifest.anchor)
    return Ledger.open(manifest.ledger_location(folder), anchor=anchor, create=False)


def _refuse_edited(path: Path, edited: bool) -> None:
    if edited:
        raise DeclarationChanged(
            f"{path.name} does not declare what is in force, so that nothing is written over it",
            field="manifest",
            next_step=f"Restore {path.name}, or correct it by anonymaly amend on the host.",
        )


def _text(path: Path, new: Declaration) -> str:
    """Return a file with another declaration: what did not change stays as its owner wrote it."""
    data = dict(read_yaml(path))
    old, fields = Manifest.load(path).declaration(), fields_of(new)
    written = data.get("columns") or {}
    kept = {
        name: written[name] if old.columns.get(name) == new.columns[name] and name in written else item
        for name, item in fields["columns"].items()
    }
    for columns, reading in ((kept, data.get("reading")), (fields["columns"], None)):
        found = {**data, **fields, "columns": columns, "reading": reading}
        found = {name: item for name, item in found.items() if item is not None and item != {}}
        if _declares(found, path.parent, new):
            head = f"# What this file was before is beside it: {path.name}.before-…\n"
            return head + yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=110)
    raise InputError(
        f"cannot be written into {path.name}",
        field="declaration",
        next_step=f"Change {path.name} by hand, and run anonymaly amend on it.",
    )


def _declares(data: Mapping[str, Any], folder: Path, new: Declaration) -> bool:
    try:
        found = Manifest.read(with_values(data, folder)).declaration()
    except AnonymalyError:
        return False
    return found.to_dict() == new.to_dict() and found.rules_to_dict() == new.rules_to_dict()


def _write(path: Path, text: str, *, like: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(like, path)
    except OSError as problem:
        raise InputError(
            f"{path} cannot be written ({type(problem).__name__}); nothing was amended",
            field="folder",
            next_step=f"Confirm it as a user who may change {like}.",
        ) from None
