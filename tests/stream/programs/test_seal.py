# SPDX-License-Identifier: Apache-2.0
"""What is sealed can be read by its recipient alone and was written by its sender alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from anonymaly.errors import InputError
from anonymaly.stream.programs import seal
from anonymaly.stream.programs.seal import LARGEST_SEALED, NotGenuine, Seal
from anonymaly.stream.protocol import messages
from anonymaly.stream.protocol.messages import Message, MessageReceipt, Readings, Shifts, Suspects, Thresholds

ADDRESSES = ("sensor/room-1", "sensor/room-2", "detector", "corrector", "owner")
KEYS = {address: X25519PrivateKey.generate() for address in ADDRESSES}
SEALS = {
    address: Seal(address, key, {peer: KEYS[peer].public_key() for peer in ADDRESSES if peer != address})
    for address, key in KEYS.items()
}
# Thresholds of window 7, sealed to the detector before seals followed RFC 9180; the keys are in the test.
SEALED_IN_VERSION_1 = bytes.fromhex(
    "0109636f72726563746f72086465746563746f720a7468726573686f6c6473c69052489a469d10d69bd8a223fdb7f3e194015729d1"
    "38cc8862343a4ae9645fa07da29d47f3e5e252c5a0be1bd262aab4752ffe9fd5c7c6a1869903c3f0147bd8c8dd472195fc6006a831"
    "5e286d9730d375a3ff"
)
NUMBERS = np.arange(6, dtype=np.int64)
SENT: list[Message] = [
    Readings("room-1", 7, NUMBERS.reshape(3, 2), 0, True),
    Shifts("room-1", 7, NUMBERS, 0, True),
    Suspects("room-1", 7, NUMBERS > 3),
    Thresholds("room-1", 7, 5, 9),
    MessageReceipt("room-1", 7, Readings, 0),
]


@pytest.mark.parametrize("message", SENT, ids=lambda message: type(message).__name__)
def test_the_recipient_reads_what_was_written_and_nobody_else_does(message: Message) -> None:
    sealed = SEALS[message.sender].seal(message)
    assert SEALS[message.recipient].open(sealed) == message
    assert message.to_bytes() not in sealed
    for other in set(ADDRESSES) - {message.recipient}:
        with pytest.raises(NotGenuine, match="sealed to"):
            SEALS[other].open(sealed)


def test_every_altered_byte_is_noticed() -> None:
    message = SENT[2]
    sealed = SEALS["detector"].seal(message)
    for place, bit in itertools.product(range(len(sealed)), (0, 7)):
        altered = bytearray(sealed)
        altered[place] ^= 1 << bit
        with pytest.raises(NotGenuine):
            SEALS["corrector"].open(bytes(altered))


def test_every_cut_is_noticed() -> None:
    sealed = SEALS["detector"].seal(SENT[2])
    for length in range(len(sealed)):
        with pytest.raises(NotGenuine):
            SEALS["corrector"].open(sealed[:length])
    with pytest.raises(NotGenuine):
        SEALS["corrector"].open(sealed + b"\0")


@given(st.binary(max_size=300))
def test_whatever_arrives_is_refused_and_nothing_else_happens(data: bytes) -> None:
    for content in (data, bytes([seal.VERSION]) + data):
        with pytest.raises(NotGenuine):
            SEALS["corrector"].open(content)


def test_a_name_in_the_header_cannot_be_exchanged() -> None:
    sealed = SEALS["sensor/room-1"].seal(SENT[0])
    forged = sealed.replace(b"sensor/room-1", b"sensor/room-2")
    with pytest.raises(NotGenuine, match="damaged, or was not written by sensor/room-2"):
        SEALS["detector"].open(forged)


def test_a_peer_says_nothing_in_the_name_of_another() -> None:
    # Its own key is genuine; what it says is about a sensor that it is not.
    stranger = Seal("sensor/room-2", KEYS["sensor/room-2"], {"detector": KEYS["detector"].public_key()})
    sealed = stranger.seal(SENT[0])
    with pytest.raises(NotGenuine, match="not for sensor/room-2 to say"):
        SEALS["detector"].open(sealed)


def test_a_sensor_cannot_write_what_servers_write() -> None:
    sealed = SEALS["sensor/room-1"].seal(SENT[2])
    with pytest.raises(NotGenuine, match="not for sensor/room-1 to say"):
        SEALS["corrector"].open(sealed)


def test_who_is_no_peer_is_not_read() -> None:
    alone = Seal("detector", KEYS["detector"], {"corrector": KEYS["corrector"].public_key()})
    with pytest.raises(NotGenuine, match="not a peer"):
        alone.open(SEALS["sensor/room-1"].seal(SENT[0]))
    with pytest.raises(InputError, match="not a peer"):
        alone.seal(SENT[4])


def test_a_stolen_recipients_key_of_one_party_opens_nothing_of_another() -> None:
    # The detector holds its own key and pretends to be the corrector.
    pretender = Seal("corrector", KEYS["detector"], {"sensor/room-1": KEYS["sensor/room-1"].public_key()})
    with pytest.raises(NotGenuine, match="damaged"):
        pretender.open(SEALS["sensor/room-1"].seal(SENT[1]))


def test_the_same_message_is_sealed_anew_each_time_and_a_replay_is_the_same_message() -> None:
    message = SENT[3]
    first, second = (SEALS["corrector"].seal(message) for _ in range(2))
    assert first != second
    assert [SEALS["detector"].open(sealed) for sealed in (first, second, first)] == [message] * 3


def test_what_is_too_large_is_refused_before_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = SEALS["corrector"].seal(SENT[3])
    monkeypatch.setattr(seal, "_read_header", None)  # nothing of it is looked at
    with pytest.raises(NotGenuine, match="more than"):
        SEALS["detector"].open(sealed + bytes(LARGEST_SEALED))


def test_what_the_version_before_sealed_is_refused_with_the_reason_and_the_next_step() -> None:
    keys = {
        name: X25519PrivateKey.from_private_bytes(name.encode().ljust(32))
        for name in ("corrector", "detector")
    }
    detector = Seal("detector", keys["detector"], {"corrector": keys["corrector"].public_key()})
    with pytest.raises(NotGenuine, match=r"sealed by an earlier version .*Update the sender"):
        detector.open(SEALED_IN_VERSION_1)


@pytest.mark.parametrize("version", [0, 3, 255])
def test_a_seal_of_an_unknown_version_is_refused_as_such(version: int) -> None:
    sealed = SEALS["corrector"].seal(SENT[3])
    with pytest.raises(NotGenuine, match=r"not of version 2.*same version"):
        SEALS["detector"].open(bytes([version]) + sealed[1:])


def test_the_header_shows_who_writes_to_whom_and_nothing_else() -> None:
    header = b"\2\x09corrector\x08detector"
    for message in (SENT[3], MessageReceipt("room-1", 7, Suspects)):
        sealed = SEALS["corrector"].seal(message)
        assert sealed.startswith(header)
        assert len(sealed) == len(header) + 32 + len(message.to_bytes()) + 16


def test_a_message_of_another_version_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "VERSION", 2)
    sealed = SEALS["corrector"].seal(SENT[3])
    monkeypatch.undo()
    with pytest.raises(InputError, match="version 2"):
        SEALS["detector"].open(sealed)


def test_an_ephemeral_key_of_low_order_is_refused() -> None:
    sealed = bytearray(SEALS["corrector"].seal(SENT[3]))
    start = seal._read_header(bytes(sealed))[2]
    sealed[start : start + 32] = bytes(32)
    with pytest.raises(NotGenuine, match="damaged"):
        SEALS["detector"].open(bytes(sealed))
