# SPDX-License-Identifier: Apache-2.0
"""A server's address and the key for it: where from, and what would show the key to others."""

from __future__ import annotations

import importlib
import os
from typing import Any
from urllib.parse import SplitResult, urlsplit

from anonymaly.errors import InputError

KEY_VARIABLE = "ANONYMALY_KEY"
KEYRING = "anonymaly"  # the service that a key is kept under in the system's keyring, by the server's host
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_url(place: str) -> bool:
    """Tell the address of a server from a file."""
    return place.lower().startswith(("http://", "https://"))


def find_key(url: str) -> str:
    """Return the key for a server: from the environment, or the system's keyring if there is one."""
    found = os.environ.get(KEY_VARIABLE)
    if found:
        return found
    try:
        # Optional: systems without one name the key in the environment.
        kept = importlib.import_module("keyring").get_password(KEYRING, urlsplit(url).netloc)
    except Exception:  # not installed, or locked
        kept = None
    if kept:
        return str(kept)
    raise InputError(
        "is not given",
        field="key",
        next_step=f"Give key=, set {KEY_VARIABLE}, or keep it in the keyring under the service {KEYRING} "
        f"and the name {urlsplit(url).netloc}.",
    )


def refuse_address(parts: SplitResult, table: str) -> None:
    """Refuse what is not the address of a table, or would show the key on the way to it."""
    try:
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:  # a port that is none
        known = False
    if not known or not table or parts.query or parts.fragment:
        raise InputError(
            "must be the address of a table",
            field="url",
            next_step="Give, for instance, https://curator.example/patients.",
        )
    if parts.username or parts.password:
        raise InputError("must not hold a key", field="url", next_step="Give it as key= instead.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise InputError(
            f"would send the key to {parts.hostname} where anybody on the way can read it",
            field="url",
            next_step="Use https.",
        )


def no_answer(trouble: str, said: str) -> str:
    """Say why nothing answers, from an error's class and the system's words.

    Examples
    --------
    >>> no_answer("ConnectError", "[Errno 111] Connection refused")
    'nothing listens there'
    """
    reasons = {
        "Connection refused": "nothing listens there",
        "Name or service not known": "there is no host of that name",
        "No address associated": "there is no host of that name",
        "name resolution": "there is no host of that name",
        "nodename nor servname": "there is no host of that name",
        "WRONG_VERSION_NUMBER": "it speaks http there, not https",
        "RECORD_LAYER_FAILURE": "it speaks http there, not https",
        "disconnected without sending": "it may speak https there, not http",
    }
    return next((reason for words, reason in reasons.items() if words in said), trouble)


def readable_key(key: Any) -> str:
    """Return a key without the line break of its file; refuse what would be another one in a header."""
    if not isinstance(key, str):
        raise InputError(
            f"must be text, not {type(key).__name__}", field="key", next_step="It begins with anm_."
        )
    found = key.strip()
    if not found.isascii() or not found.isprintable() or " " in found:
        raise InputError(
            "holds letters that no key has", field="key", next_step="Copy it whole: it begins with anm_."
        )
    return found
