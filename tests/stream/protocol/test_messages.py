# SPDX-License-Identifier: Apache-2.0
"""Messages have one form, and nothing else is read."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anonymaly.errors import AnonymalyError, InputError
from anonymaly.stream.protocol import encoding
from anonymaly.stream.protocol.encoding import LARGEST_MESSAGE, LARGEST_NUMBER
from anonymaly.stream.protocol.messages import (
    KINDS,
    Candidates,
    Message,
    MessageReceipt,
    Readings,
    Shifts,
    Suspects,
    Thresholds,
    Verdict,
    read_message,
)

numbers = st.integers(-LARGEST_NUMBER, LARGEST_NUMBER)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", fullmatch=True)
windows = st.integers(0, 2**63 - 1)
parts = st.integers(0, encoding.MOST_BATCHES - 1)


@st.composite
def any_message(draw: st.DrawFn) -> Message:
    head = (draw(names), draw(windows))
    size = draw(st.integers(0, 20))
    sets = [draw(arrays(np.bool_, size)) for _ in range(4)]
    columns = draw(st.integers(1, 3))
    low = draw(st.integers(-(2**60), 2**60))
    made = [
        Readings(
            *head, draw(arrays(np.int64, (size, columns), elements=numbers)), draw(parts), draw(st.booleans())
        ),
        Shifts(*head, draw(arrays(np.int64, size, elements=numbers)), draw(parts), draw(st.booleans())),
        Suspects(*head, sets[0]),
        Thresholds(*head, low, low + draw(st.integers(0, 2**60))),
        Thresholds(*head, None, None),
        Candidates(*head, sets[0], sets[1]),
        Verdict(*head, *sets, complete=draw(st.booleans())),
        MessageReceipt(
            *head,
            draw(st.sampled_from([kind for kind in KINDS.values() if not issubclass(kind, MessageReceipt)])),
            draw(parts),
        ),
    ]
    return draw(st.sampled_from(made))


YES, NO = np.array([True, False]), np.array([False, True])
WRITTEN: list[tuple[Message, str]] = [  # by the version before layouts were a table
    (
        Readings("room-1", 7, np.array([[1, -2], [300, 2**62 - 1]]), 3, True),
        "01070000000000000006726f6f6d2d3103000000010200020000000100000000000000feffffffffffffff2c01000000000000"
        "ffffffffffffff3f",
    ),
    (
        Shifts("room-1", 2**63 - 1, np.array([5, -900]), 0, False),
        "02ffffffffffffff7f06726f6f6d2d31000000000001000200000005000000000000007cfcffffffffffff",
    ),
    (
        Suspects("r", 0, np.array([1, 0, 0, 1, 1, 0, 0, 0, 1], np.bool_)),
        "0300000000000000000172090000009880",
    ),
    (Thresholds("room-1", 7, -5, 9), "04070000000000000006726f6f6d2d3101fbffffffffffffff0900000000000000"),
    (
        Thresholds("room-1", 7, None, None),
        "04070000000000000006726f6f6d2d310000000000000000000000000000000000",
    ),
    (
        Candidates("room-1", 7, np.array([True, False, True]), np.array([False, False, True])),
        "05070000000000000006726f6f6d2d3103000000a020",
    ),
    (
        Verdict("room-1", 7, YES, NO, YES & NO, YES | NO, True),
        "06070000000000000006726f6f6d2d310102000000804000c0",
    ),
    (MessageReceipt("room-1", 7, Readings, 3), "07070000000000000006726f6f6d2d310300000001"),
]


@pytest.mark.parametrize(("message", "written"), WRITTEN, ids=lambda item: type(item).__name__)
def test_a_message_has_the_bytes_that_it_always_had(message: Message, written: str) -> None:
    assert message.to_bytes().hex() == b"am\1".hex() + written
    assert read_message(message.to_bytes()) == message


@settings(max_examples=200, deadline=None)
@given(any_message())
def test_a_message_is_read_back_as_it_was_and_has_one_form(message: Message) -> None:
    data = message.to_bytes()
    read = read_message(data)
    assert type(read) is type(message)
    assert read == message
    assert read.to_bytes() == data
    assert (read.sender, read.recipient) == (message.sender, message.recipient)


@settings(max_examples=100, deadline=None)
@given(any_message(), st.data())
def test_what_is_cut_off_or_longer_is_refused(message: Message, data: st.DataObject) -> None:
    whole = message.to_bytes()
    with pytest.raises(InputError):
        read_message(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(InputError):
        read_message(whole + b"\0")


@settings(max_examples=300, deadline=None)
@given(any_message(), st.data())
def test_a_changed_byte_is_refused_or_another_message_in_its_one_form(
    message: Message, data: st.DataObject
) -> None:
    whole = bytearray(message.to_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    try:
        read = read_message(bytes(whole))
    except AnonymalyError:
        return
    assert read.to_bytes() == bytes(whole)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_noise_is_refused(data: bytes) -> None:
    for begun in (data, b"am\x01" + data):
        with contextlib.suppress(InputError):
            assert read_message(begun).to_bytes() == begun


def test_what_is_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(InputError, match="more than"):
        read_message(bytes(LARGEST_MESSAGE + 1))
    huge = Suspects("room-1", 0, np.zeros(encoding.LARGEST_WINDOW + 8, np.bool_)).to_bytes()
    with pytest.raises(InputError, match="more than"):
        read_message(huge)
    batch = Readings("room-1", 0, np.zeros((encoding.LARGEST_BATCH + 1, 1), np.int64)).to_bytes()
    with pytest.raises(InputError, match="too large"):
        read_message(batch)
    far = Shifts("room-1", 0, np.array([LARGEST_NUMBER + 1])).to_bytes()
    with pytest.raises(InputError, match="62 bits"):
        read_message(far)


def test_another_version_and_an_unknown_kind_are_named() -> None:
    data = bytearray(Thresholds("room-1", 0, None, None).to_bytes())
    data[2] = 2
    with pytest.raises(InputError, match=r"version 2.*version 1"):
        read_message(bytes(data))
    data[2], data[3] = 1, 99
    with pytest.raises(InputError, match="unknown kind 99"):
        read_message(bytes(data))


def test_the_length_of_a_message_says_nothing_of_its_sets() -> None:
    nobody, everybody = np.zeros(100, np.bool_), np.ones(100, np.bool_)
    for kind, count in ((Suspects, 1), (Candidates, 2), (Verdict, 4)):
        lengths = {len(kind("room-1", 0, *[members] * count).to_bytes()) for members in (nobody, everybody)}
        assert len(lengths) == 1


@pytest.mark.parametrize("name", ["", "a/b", "../x", "+", "#", "a b", "é", "x" * 65, ".hidden", 3])
def test_names_that_topics_or_files_could_misread_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="letters"):
        encoding.read_name(name)


def test_no_two_kinds_of_messages_have_the_same_code() -> None:
    with pytest.raises(TypeError, match="Other and Readings have the same code"):

        class Other(Message, code=Readings.code, body=()):
            pass
