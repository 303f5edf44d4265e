# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.stream import read_message
from anonymaly.stream.counting.contribution import contribute
from anonymaly.stream.counting.messages import (
    Commitment,
    Contribution,
    FirstRound,
    HeldList,
    Opening,
    PoolVerdict,
    SecondRound,
    VerdictShares,
    WindowState,
)
from anonymaly.stream.counting.prime_field import PRIME
from anonymaly.stream.protocol.messages import Message, MessageReceipt

YES_NO = np.array([True, False, True])
NUMBERS = np.array([5, 0, PRIME - 1])
MESSAGES: list[Message] = [
    *contribute("room-1", 3, 17, 6, Noise.seeded(1), 1),
    HeldList("pool", 3, 1, bytes(32), YES_NO, (b"a" * 32, b"b" * 32)),
    FirstRound("pool", 3, 0, bytes(32), NUMBERS),
    SecondRound("pool", 3, 1, bytes(32), NUMBERS),
    Commitment("pool", 3, 0, bytes(32), b"c" * 32),
    Opening("pool", 3, 1, b"s" * 32, NUMBERS),
    VerdictShares("pool", 3, 0, WindowState.JUDGED, bytes(32), bytes(32), YES_NO, NUMBERS[:2]),
    PoolVerdict("pool", 3, WindowState.TOO_FEW, YES_NO, YES_NO, ~YES_NO),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_is_read_as_it_was_written_and_refused_when_cut_or_longer(message: Message) -> None:
    data = message.to_bytes()
    assert read_message(data) == message
    receipt = MessageReceipt.for_message(message)
    assert (receipt.sender, receipt.recipient) == (message.recipient, message.sender)
    assert read_message(receipt.to_bytes()) == receipt
    for wrong in [*(data[:end] for end in range(len(data))), data + b"\0"]:
        with pytest.raises(InputError):
            read_message(wrong)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_changed_byte_is_refused_or_makes_another_message(message: Message) -> None:
    data = bytearray(message.to_bytes())
    for place in range(len(data)):
        data[place] ^= 0xFF
        try:
            found: Message | None = read_message(bytes(data))
        except InputError:
            found = None
        assert found is None or found.to_bytes() == bytes(data)
        data[place] ^= 0xFF


def test_sizes_do_not_depend_on_the_reading() -> None:
    noise = Noise.system()
    for bits, most in ((8, 300), (12, 370), (16, 440)):
        sizes = {
            len(message.to_bytes())
            for cell in (None, 0, 1, 2**bits - 1)
            for message in contribute("room-1", 3, cell, bits, noise)
        }
        assert len(sizes) == 1
        assert sizes.pop() < most


def test_both_shares_of_a_contribution_have_one_digest_and_another_version_has_another() -> None:
    versions = [contribute("room-1", 3, 5, 6, Noise.system(), 1) for _ in range(2)]
    assert [len({message.digest for message in version}) for version in versions] == [1, 1]
    assert versions[0][0].digest != versions[1][0].digest


def test_a_contribution_is_not_printed() -> None:
    message: Contribution = contribute("room-1", 3, 5, 6, Noise.seeded(1))[0]
    assert "key" not in repr(message)
    assert "seed" not in repr(message.key)
