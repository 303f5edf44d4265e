# SPDX-License-Identifier: Apache-2.0
"""A party's key: X25519, one file that nobody but its owner may read, one line of text for the others."""

from __future__ import annotations

import base64
import binascii
import os
import stat
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from anonymaly.errors import InputError

LARGEST_FILE = 10_000  # bytes; a key has about 120
_ADVICE = "`anonymaly stream init DIR` writes keys."


def public_text(key: X25519PrivateKey | X25519PublicKey) -> str:
    """Return the public half as the text that the other parties' configurations hold.

    Examples
    --------
    >>> key = X25519PrivateKey.from_private_bytes(bytes(31) + b"1")
    >>> public_text(key)
    'fW/PpnpIvXETnRSKwHMJfeSvMLcP8RnbEl1gA4XCxXE='
    >>> read_public(public_text(key)).public_bytes_raw() == key.public_key().public_bytes_raw()
    True
    """
    public = key.public_key() if isinstance(key, X25519PrivateKey) else key
    return base64.b64encode(public.public_bytes_raw()).decode()


def read_public(text: str, *, field: str = "public_key") -> X25519PublicKey:
    """Read another party's public key."""
    try:
        return X25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        raise InputError("is not a public key: 32 bytes in base64", field=field, next_step=_ADVICE) from None


def key_content(key: X25519PrivateKey) -> bytes:
    """Return what the file of a private key holds."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def read_key(path: Path, *, field: str = "key") -> X25519PrivateKey:
    """Read a private key, unless others may read it too."""
    key = parse_key(read_secret(path, field=field))
    if key is None:
        raise InputError(f"{path} is not a private key of X25519", field=field, next_step=_ADVICE)
    return key


def parse_key(content: bytes) -> X25519PrivateKey | None:
    """Return the private key that a file's content is, if it is one."""
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, X25519PrivateKey) else None


def write_secret(path: Path, content: bytes, *, force: bool = False) -> None:
    """Write a file that only its owner may read, from its first byte on."""
    if force:
        path.unlink(missing_ok=True)
    # Made anew with its permissions: an older file would keep those that it had.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def read_secret(path: Path, *, field: str) -> bytes:
    """Read a file that only its owner may read; refuse one that others may."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            content = file.read(LARGEST_FILE)
    except OSError as problem:
        raise InputError(
            f"cannot read {path} ({type(problem).__name__})", field=field, next_step=_ADVICE
        ) from None
    if mode & 0o077:
        raise InputError(
            f"{path} may be read by others (permissions {mode:04o})",
            field=field,
            next_step=f"Run: chmod 600 {path}",
        )
    return content
