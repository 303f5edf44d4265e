# SPDX-License-Identifier: Apache-2.0
"""What a form sends: read strictly, and only if it is a form of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from starlette.types import Scope

from anonymaly.core.value import is_text
from anonymaly.server.problems import Problem

MOST_FIELDS = 1000
TYPE = b"application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Sent:
    """Names and their texts, in the order in which they were sent."""

    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def get(self, name: str, default: str = "") -> str:
        """Return the first text of a name, without spaces around it.

        Examples
        --------
        >>> read_sent(b"key=+anm_1+&more=").get("key")
        'anm_1'
        """
        found = self.texts.get(name)
        return found[0].strip() if found else default

    def lines(self, name: str) -> str:
        """Return the first text of a name but for empty lines around it: a cell at the end may be empty.

        Examples
        --------
        >>> read_sent(b"records=age%09ward%0A30%09%0A").lines("records")
        'age\\tward\\n30\\t'
        """
        return self.texts.get(name, ("",))[0].strip("\n")

    def all(self, name: str) -> list[str]:
        """Return the texts of a name that are not empty."""
        return [text.strip() for text in self.texts.get(name, ()) if text.strip()]

    def has(self, name: str) -> bool:
        """Say whether a name was sent, such as that of the button that was pressed."""
        return name in self.texts


def read_sent(content: bytes) -> Sent:
    """Read names and texts as a browser writes them, or refuse them."""
    try:
        pairs = parse_qsl(
            content.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise _unreadable() from None
    texts: dict[str, tuple[str, ...]] = {}
    for name, text in pairs:
        if not is_text(name) or not is_text(text) or "\0" in text:
            raise _unreadable()
        texts[name] = (*texts.get(name, ()), text.replace("\r\n", "\n"))
    return Sent(texts)


def refuse_other_types(scope: Scope) -> None:
    """Refuse a body that is no form."""
    given = [value for name, value in scope["headers"] if name == b"content-type"]
    if len(given) != 1 or given[0].partition(b";")[0].strip().lower() != TYPE:
        raise Problem(415, "must be a form", field="Content-Type", next_step="Send the form of the page.")


def refuse_other_sites(scope: Scope) -> None:
    """Refuse a form that a page of another site sent: browsers say whose page it was."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is not None:
        ours = site == "same-origin"
    elif origin is not None:
        ours = urlsplit(origin).netloc == headers.get(b"host")
    else:
        return  # no browser; the form's token is checked in any case
    if not ours:
        raise not_ours()


def not_ours() -> Problem:
    """Return the answer to a form that was not sent from a page of this session."""
    return Problem(
        403,
        "the form was not sent from a page of this session; nothing was done",
        field="csrf",
        next_step="Open the page again, and send the form from there.",
    )


def _unreadable() -> Problem:
    return Problem(
        400,
        f"is not what a form sends: text in UTF-8, with at most {MOST_FIELDS:,} fields",
        field="form",
        next_step="Open the page again, and send the form from there.",
    )
