# SPDX-License-Identifier: Apache-2.0
"""Messages sealed to their recipient: nobody else reads them, and nobody else can have written them.

A sealed message is ``version | sender | recipient | kind | ephemeral public key | ciphertext``. Its key
comes, as in the authenticated mode of RFC 9180, from two exchanges: ephemeral with recipient, so that a
sender's stolen key opens no earlier message, and sender with recipient, so that only those two can compute
it. Everything before the ciphertext goes into the key, with both public keys, and is authenticated.

A replayed message is genuine. The parties know their windows by number and act on each message once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import LARGEST_MESSAGE
from anonymaly.stream.protocol.messages import Message, read_message

VERSION = 1
LONGEST_NAME = 80  # characters of a party's address or of a message's kind
LARGEST_SEALED = LARGEST_MESSAGE + 1 + 3 * (1 + LONGEST_NAME) + 32 + 16  # bytes
_NAME = re.compile(rb"[A-Za-z0-9_./-]{1,%d}" % LONGEST_NAME)
_PURPOSE = b"anonymaly stream seal"
_NONCE = bytes(12)  # every message has a key of its own, which seals nothing else


class NotGenuine(ValueError):
    """A sealed message that this party cannot take: damaged, forged, or meant for another."""


class Seal:
    """What one party needs to seal messages to its peers and to open theirs.

    Parameters
    ----------
    address : str
        This party's address, such as ``detector`` or ``sensor/room-1``.
    key : X25519PrivateKey
        Its private key.
    peers : mapping of str to X25519PublicKey
        The addresses and public keys of those it talks to.

    Examples
    --------
    >>> from anonymaly.stream.protocol.messages import Thresholds
    >>> here, there = X25519PrivateKey.generate(), X25519PrivateKey.generate()
    >>> sealed = Seal("corrector", here, {"detector": there.public_key()}).seal(Thresholds("room-1", 0, 5, 9))
    >>> Seal("detector", there, {"corrector": here.public_key()}).open(sealed)
    Thresholds(sensor='room-1', window=0, near=5, far=9)
    """

    def __init__(self, address: str, key: X25519PrivateKey, peers: Mapping[str, X25519PublicKey]) -> None:
        self.address = address
        self._key = key
        self._public = key.public_key().public_bytes_raw()
        self._peers = dict(peers)
        # The exchange of the two lasting keys is the same for every message.
        self._lasting = {peer: key.exchange(public) for peer, public in peers.items()}

    def seal(self, message: Message) -> bytes:
        """Return the message so that only its recipient can read it and knows who wrote it."""
        recipient = message.recipient
        if recipient not in self._peers:
            raise InputError(f"{recipient} is not a peer of {self.address}", field="peers")
        ephemeral = X25519PrivateKey.generate()
        header = _header(self.address, recipient, _kind(message)) + ephemeral.public_key().public_bytes_raw()
        exchanged = ephemeral.exchange(self._peers[recipient]) + self._lasting[recipient]
        cipher = _cipher(exchanged, header, self._public, self._peers[recipient].public_bytes_raw())
        return header + cipher.encrypt(_NONCE, message.to_bytes(), header)

    def open(self, sealed: bytes) -> Message:
        """Return what a peer wrote to this party.

        Raises
        ------
        NotGenuine
            Too large, cut off, altered, sealed to or by another, or something its writer may not say.
        InputError
            Genuine, and no message that this program understands.
        """
        if len(sealed) > LARGEST_SEALED:
            raise NotGenuine(f"{len(sealed)} bytes, more than {LARGEST_SEALED}")
        sender, recipient, kind, end = _read_header(sealed)
        if recipient != self.address:
            raise NotGenuine(f"sealed to {recipient}, not to {self.address}")
        if sender not in self._peers:
            raise NotGenuine(f"sealed by {sender}, who is not a peer of {self.address}")
        header = sealed[:end]
        try:
            exchanged = self._key.exchange(X25519PublicKey.from_public_bytes(header[-32:]))
            public = self._peers[sender].public_bytes_raw()
            cipher = _cipher(exchanged + self._lasting[sender], header, public, self._public)
            content = cipher.decrypt(_NONCE, sealed[end:], header)
        except (InvalidTag, ValueError):  # a cut-off key and one of low order are values that do not fit
            raise NotGenuine(f"damaged, or not written by {sender}") from None
        message = read_message(content)
        # A sensor speaks about its own windows only, a server in its own role only.
        if (message.sender, message.recipient, _kind(message)) != (sender, recipient, kind):
            raise NotGenuine(f"not for {sender} to say")
        return message


def _kind(message: Message) -> str:
    return type(message).__name__.lower()


def _cipher(exchanged: bytes, header: bytes, sender: bytes, recipient: bytes) -> ChaCha20Poly1305:
    derive = HKDF(SHA256(), 32, salt=None, info=_PURPOSE + sender + recipient + header)
    return ChaCha20Poly1305(derive.derive(exchanged))


def _header(*texts: str) -> bytes:
    encoded = [text.encode("ascii") for text in texts]
    return bytes([VERSION]) + b"".join(bytes([len(text)]) + text for text in encoded)


def _read_header(sealed: bytes) -> tuple[str, str, str, int]:
    """Return sender, recipient, kind and where the ciphertext begins."""
    if sealed[:1] != bytes([VERSION]):
        raise NotGenuine(f"no sealed message of version {VERSION}")
    texts, place = [], 1
    for _ in range(3):
        length = sealed[place] if place < len(sealed) else 0
        encoded = sealed[place + 1 : place + 1 + length]
        if len(encoded) < length or not _NAME.fullmatch(encoded):  # so that a log shows letters only
            raise NotGenuine("the header is damaged")
        texts.append(encoded.decode("ascii"))
        place += 1 + length
    sender, recipient, kind = texts
    return sender, recipient, kind, place + 32
