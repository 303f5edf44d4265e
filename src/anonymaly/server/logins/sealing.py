# SPDX-License-Identifier: Apache-2.0
"""A new key's text, for the one web process that began the login: no job says what opens it.

The web process sends a public key (X25519) with its job, and the worker answers with one of its own. Whoever
reads the shared tables, or a backup of them, has both and can do nothing with them.
"""

from __future__ import annotations

import hashlib

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from anonymaly.server.keys import seal, unseal


class Opener:
    """What opens one key, once; it stays in the memory of the process that made it."""

    def __init__(self) -> None:
        self._secret = X25519PrivateKey.generate()

    @property
    def public(self) -> str:
        """What a worker seals with."""
        return _written(self._secret.public_key())

    def open(self, job: str, sealed: str, public: str) -> str | None:
        """Return the text of a key; None if it was sealed for another."""
        return unseal(_shared(self._secret, public), job, sealed)


def seal_for(public: str, job: str, text: str) -> tuple[str, str]:
    """Return a key's text sealed, and what its opener needs besides; ``ValueError`` if it is no public key.

    Examples
    --------
    >>> from anonymaly.server.keys import ApiKey
    >>> opener, key = Opener(), ApiKey.fresh()
    >>> opener.open("a job", *seal_for(opener.public, "a job", key.text)) == key.text
    True
    """
    own = X25519PrivateKey.generate()
    return seal(_shared(own, public), job, text), _written(own.public_key())


def _shared(own: X25519PrivateKey, public: str) -> bytes:
    agreed = own.exchange(X25519PublicKey.from_public_bytes(bytes.fromhex(public)))
    return hashlib.sha256(b"anonymaly login\0" + agreed).digest()


def _written(key: X25519PublicKey) -> str:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
