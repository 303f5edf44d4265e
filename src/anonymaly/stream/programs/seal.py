# SPDX-License-Identifier: Apache-2.0
"""Messages sealed to their recipient: nobody else reads them, and nobody else can have written them.

A sealed message is ``version | sender | recipient | encapsulated key | ciphertext``, by HPKE in its
authenticated mode (``hpke``). What stands before the key is authenticated with the ciphertext.

A replayed message is genuine. The parties know their windows by number and act on each message once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from anonymaly.errors import InputError
from anonymaly.stream.programs.hpke import ENCAPSULATED, TAG, open_auth, seal_auth
from anonymaly.stream.protocol.encoding import LARGEST_MESSAGE
from anonymaly.stream.protocol.messages import Message, read_message

VERSION = 2  # 1 was our own construction, before HPKE
LONGEST_NAME = 80  # characters of a party's address
LARGEST_SEALED = LARGEST_MESSAGE + 1 + 2 * (1 + LONGEST_NAME) + ENCAPSULATED + TAG  # bytes
_NAME = re.compile(rb"[A-Za-z0-9_./-]{1,%d}" % LONGEST_NAME)
_PURPOSE = b"anonymaly stream"


class NotGenuine(InputError):
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
        self._peers = dict(peers)

    def knows(self, address: str) -> bool:
        """Say whether this is the address of a peer."""
        return address in self._peers

    def seal(self, message: Message) -> bytes:
        """Return the message so that only its recipient can read it and knows who wrote it."""
        recipient = message.recipient
        if recipient not in self._peers:
            raise InputError(
                f"{recipient} is not a peer of {self.address}",
                field="peers",
                next_step="Add its public key to this party's configuration.",
            )
        header = _header(self.address, recipient)
        encapsulated, ciphertext = seal_auth(
            self._peers[recipient], _PURPOSE, header, message.to_bytes(), self._key
        )
        return header + encapsulated + ciphertext

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
            raise _not_genuine(f"has {len(sealed)} bytes, more than {LARGEST_SEALED}")
        sender, recipient, end = _read_header(sealed)
        if recipient != self.address:
            raise _not_genuine(f"is not sealed to {self.address}")
        if sender not in self._peers:
            raise _not_genuine(f"is sealed by somebody who is not a peer of {self.address}")
        header, key, ciphertext = sealed[:end], sealed[end : end + ENCAPSULATED], sealed[end + ENCAPSULATED :]
        try:
            content = open_auth(key, ciphertext, self._key, _PURPOSE, header, self._peers[sender])
        except (InvalidTag, ValueError):
            raise _not_genuine(f"is damaged, or was not written by {sender}") from None
        message = read_message(content)
        # A sensor speaks about its own windows only, a server in its own role only.
        if (message.sender, message.recipient) != (sender, recipient):
            raise _not_genuine(f"is not for {sender} to say")
        return message


def _not_genuine(reason: str, next_step: str = "It was ignored; nothing else is affected.") -> NotGenuine:
    return NotGenuine(reason, field="sealed message", next_step=next_step)


def _header(*addresses: str) -> bytes:
    encoded = [address.encode("ascii") for address in addresses]
    return bytes([VERSION]) + b"".join(bytes([len(address)]) + address for address in encoded)


def _read_header(sealed: bytes) -> tuple[str, str, int]:
    """Return sender, recipient and where the encapsulated key begins."""
    _check_version(sealed[:1])
    addresses, place = [], 1
    for _ in range(2):
        length = sealed[place] if place < len(sealed) else 0
        encoded = sealed[place + 1 : place + 1 + length]
        if len(encoded) < length or not _NAME.fullmatch(encoded):  # so that a log shows letters only
            raise _not_genuine("has a damaged header")
        addresses.append(encoded.decode("ascii"))
        place += 1 + length
    sender, recipient = addresses
    return sender, recipient, place


def _check_version(version: bytes) -> None:
    if version == b"\1":
        # Its sender has it in plain form, in the journal, until a receipt comes; nothing is lost.
        raise _not_genuine(
            "was sealed by an earlier version of anonymaly",
            "Update the sender: it then seals the message anew and sends it again.",
        )
    if version != bytes([VERSION]):
        raise _not_genuine(
            f"is not of version {VERSION}", "Check that all parties have the same version of anonymaly."
        )
