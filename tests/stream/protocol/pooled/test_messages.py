# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from anonymaly.errors import InputError
from anonymaly.stream import Message, read_message
from anonymaly.stream.protocol.pool import WindowState
from anonymaly.stream.protocol.pooled.messages import (
    Agreed,
    Gathered,
    PooledCandidates,
    PooledReading,
    PooledShift,
    PooledSuspects,
    PooledVerdict,
)

SOME, NONE = np.array([True, False, True]), np.zeros(3, np.bool_)
MESSAGES: list[Message] = [
    PooledReading("room-1", 7, np.array([3, -4]), bytes(range(16)), 5),
    PooledShift("room-1", 7, np.array([-900]), bytes(range(16)), 5),
    Gathered("rooms", 7, bytes(range(32)), SOME, (bytes(32), bytes(range(32)))),
    Agreed("rooms", 7, SOME),
    PooledSuspects("rooms", 7, SOME, NONE),
    PooledCandidates("rooms", 7, SOME, NONE, SOME),
    PooledVerdict("rooms", 7, WindowState.JUDGED, SOME, SOME, NONE, NONE, SOME),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_has_one_form_and_nothing_else_is_read(message: Message) -> None:
    data = message.to_bytes()
    assert read_message(data).to_bytes() == data
    for damaged in (data[:-1], data + b"\0", data[:5]):
        with pytest.raises(InputError):
            read_message(damaged)


@pytest.mark.parametrize("message", MESSAGES[2:], ids=lambda message: type(message).__name__)
def test_the_length_of_what_servers_say_does_not_depend_on_who_is_suspected(message: Message) -> None:
    changed = {
        name: ~value if name != "members" else value
        for name, value in vars(message).items()
        if isinstance(value, np.ndarray)
    }
    other = type(message)(**(vars(message) | changed))
    assert len(other.to_bytes()) == len(message.to_bytes())


def test_numbers_that_are_too_large_are_refused() -> None:
    with pytest.raises(InputError, match="62 bits"):
        read_message(PooledShift("room-1", 0, np.array([2**62]), bytes(16)).to_bytes())
