# SPDX-License-Identifier: Apache-2.0
"""Hybrid Public Key Encryption to the letter of RFC 9180: authenticated mode, one message for each key.

The suite is DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305; names in capitals are the RFC's.
Nobody but the recipient reads a message, and nobody but the holder of the sender's key, or of the
recipient's, can have written it (sections 5.1.3 and 9.1).
"""

# Ours, because these are few lines that the RFC's own vectors test to the byte. `cryptography` lacks this
# mode; `pyhpke`, which has it, forbids newer versions of `cryptography` and would delay its security fixes.

from __future__ import annotations

import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

ENCAPSULATED = 32  # bytes of an encapsulated key: an ephemeral public key
TAG = 16  # bytes that a ciphertext is longer than its plaintext
_KEM = b"KEM" + bytes([0x00, 0x20])
_SUITE = b"HPKE" + bytes([0x00, 0x20, 0x00, 0x01, 0x00, 0x03])
_MODE_AUTH = b"\2"


def seal_auth(
    recipient: X25519PublicKey,
    info: bytes,
    associated: bytes,
    plaintext: bytes,
    sender: X25519PrivateKey,
    ephemeral: X25519PrivateKey | None = None,
) -> tuple[bytes, bytes]:
    """Return the encapsulated key and the ciphertext (SealAuth, section 6.1).

    ``ephemeral`` is for test vectors only: a key that is used twice seals two messages with one nonce.

    Examples
    --------
    >>> sender, recipient = X25519PrivateKey.generate(), X25519PrivateKey.generate()
    >>> sealed = seal_auth(recipient.public_key(), b"purpose", b"header", b"content", sender)
    >>> open_auth(*sealed, recipient, b"purpose", b"header", sender.public_key())
    b'content'
    """
    once = X25519PrivateKey.generate() if ephemeral is None else ephemeral
    encapsulated = once.public_key().public_bytes_raw()
    exchanged = once.exchange(recipient) + sender.exchange(recipient)
    secret = shared_secret(exchanged, encapsulated, recipient, sender.public_key())
    key, nonce = schedule(secret, info)
    return encapsulated, ChaCha20Poly1305(key).encrypt(nonce, plaintext, associated)


def open_auth(
    encapsulated: bytes,
    ciphertext: bytes,
    recipient: X25519PrivateKey,
    info: bytes,
    associated: bytes,
    sender: X25519PublicKey,
) -> bytes:
    """Return what the sender sealed (OpenAuth, section 6.1).

    Raises
    ------
    InvalidTag
        Something was altered, or one of the keys is another.
    ValueError
        The encapsulated key is none, or of low order.
    """
    exchanged = recipient.exchange(X25519PublicKey.from_public_bytes(encapsulated))
    exchanged += recipient.exchange(sender)
    secret = shared_secret(exchanged, encapsulated, recipient.public_key(), sender)
    key, nonce = schedule(secret, info)
    return ChaCha20Poly1305(key).decrypt(nonce, ciphertext, associated)


def shared_secret(
    exchanged: bytes, encapsulated: bytes, recipient: X25519PublicKey, sender: X25519PublicKey
) -> bytes:
    """Derive the secret from both exchanges (ExtractAndExpand, section 4.1)."""
    context = encapsulated + recipient.public_bytes_raw() + sender.public_bytes_raw()
    return _expand(_KEM, _extract(_KEM, b"", b"eae_prk", exchanged), b"shared_secret", context, 32)


def schedule(secret: bytes, info: bytes) -> tuple[bytes, bytes]:
    """Return the key and the first message's nonce (KeySchedule, section 5.1)."""
    context = (
        _MODE_AUTH + _extract(_SUITE, b"", b"psk_id_hash", b"") + _extract(_SUITE, b"", b"info_hash", info)
    )
    extracted = _extract(_SUITE, secret, b"secret", b"")
    key = _expand(_SUITE, extracted, b"key", context, 32)
    return key, _expand(_SUITE, extracted, b"base_nonce", context, 12)


def _extract(suite: bytes, salt: bytes, label: bytes, material: bytes) -> bytes:
    """LabeledExtract of section 4."""
    return hmac.digest(salt, b"HPKE-v1" + suite + label + material, "sha256")


def _expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    """LabeledExpand of section 4."""
    labelled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return HKDFExpand(SHA256(), length, labelled).derive(key)
