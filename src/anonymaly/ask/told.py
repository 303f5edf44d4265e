# SPDX-License-Identifier: Apache-2.0
"""What a server tells, read back into what the library has: answers, previews, and the bytes of an answer."""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymaly.ask.answer import Answer
from anonymaly.ask.binding import Expectation
from anonymaly.ask.catalogue import Origin, load
from anonymaly.ask.permit import Permit
from anonymaly.ask.query import Query
from anonymaly.ask.seen import SeenPreview
from anonymaly.ask.store import KeptFile
from anonymaly.core.epsilon import read_amount, to_nano
from anonymaly.ledger.records import ChargeReceipt
from anonymaly.promise import Guarantee


class Downloaded:
    """An answer's bytes in a private folder that goes when nothing needs it any more."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="anonymaly-")
        self.path = Path(self._folder.name, "answer")

    def open(self) -> KeptFile:
        """Open the file; what is read lazily opens it again by this."""
        return KeptFile(io.FileIO(self.path), self.open)

    def digest(self) -> str:
        """Return the digest of the bytes."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


class RemoteStatement:
    """What was charged to an analyst, as the server says it; to an owner or auditor, of the whole account."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._told = told

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        return {name: item for name, item in self._told.items() if name != "text"}

    def __str__(self) -> str:
        return str(self._told.get("text", ""))

    def __repr__(self) -> str:
        return f"<Statement of {str(self).partition(chr(10))[0]}>"

    def _repr_html_(self) -> str:
        from anonymaly.pictures.page import fragment, paragraph  # noqa: PLC0415  (only notebooks)

        return fragment(paragraph(str(self)))


def read_receipt(told: Mapping[str, Any]) -> ChargeReceipt | None:
    """Return the receipt of an answer; None for one that was not charged to whoever asks."""
    found = told["receipt"]
    return None if found is None or "charge" not in found else ChargeReceipt.from_dict(found)


def read_answer(told: Mapping[str, Any], file: Downloaded, query: Query | None) -> Answer:
    """Return an answer with its value, from the bytes that the owner's store keeps."""
    kind = load(told["question"]) if query is None else type(query)
    origin = told.get("origin")
    with file.open() as content:
        value = kind.decode(content)
    return Answer.recall(
        kind,
        value,
        told,
        number=told["number"],
        charged_nano=0 if told.get("again") else read_amount(told["charged"]),
        remaining_nano=read_limit(told["remaining"]),
        receipt=read_receipt(told),
        origin=None if origin is None else Origin(**origin),
        rehearsed_on=told.get("rehearsed_on"),
    )


def read_preview(told: Mapping[str, Any], query: Query) -> SeenPreview:
    """Return the preview of a question."""
    rule, origin = told.get("rule"), told.get("origin")
    return SeenPreview(
        query=query,
        guarantee=Guarantee.read(told["guarantee"]),
        expectation=Expectation.read(told["expected"]),
        shares_nano=tuple((name, to_nano(share)) for name, share in told["shares"].items()),
        remaining_nano=read_limit(told["remaining"]),
        origin=None if origin is None else Origin(**origin),
        warning=told.get("warning"),
        questions_left=told["questions_left"],
        permit=None if rule is None else Permit(rule["rule"], rule["questions"], None),
    )


def read_limit(text: str | None) -> int | None:
    """Return an amount in nano-ε; None for no limit."""
    return None if text is None else read_amount(text)
