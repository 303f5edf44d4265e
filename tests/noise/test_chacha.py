# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib

import numpy as np
import pytest

from anonymaly.noise.chacha import (
    BUFFER_END,
    BUFFER_START,
    FAILED,
    LAST_COUNTER,
    Words,
    check,
    next_bit,
    open_stream,
    refill,
    set_nonce,
)


def key_stream(key: bytes, nonce: bytes, counter: int, blocks: int = 16) -> bytes:
    stream = open_stream(key)
    set_nonce(stream, *(int(word) for word in np.frombuffer(nonce, "<u4")))
    stream[12] = counter
    refill(stream)
    return stream[BUFFER_START:BUFFER_END].astype("<u4").tobytes()[: 64 * blocks]


def plain_block(key: bytes, nonce: bytes, counter: int) -> bytes:
    """RFC 8439 section 2.3 word by word."""
    text = b"expand 32-byte k" + key + counter.to_bytes(4, "little") + nonce
    start = [int.from_bytes(text[at : at + 4], "little") for at in range(0, 64, 4)]
    x = list(start)

    def rotate_xor(a: int, b: int, bits: int) -> None:
        word = x[a] ^ x[b]
        x[a] = (word << bits | word >> (32 - bits)) & 0xFFFFFFFF

    for _ in range(10):
        for shift in (0, 1):
            for i in range(4):
                a, b, c, d = i, 4 + (i + shift) % 4, 8 + (i + 2 * shift) % 4, 12 + (i + 3 * shift) % 4
                for first, second in ((16, 12), (8, 7)):
                    x[a] = (x[a] + x[b]) & 0xFFFFFFFF
                    rotate_xor(d, a, first)
                    x[c] = (x[c] + x[d]) & 0xFFFFFFFF
                    rotate_xor(b, c, second)
    return b"".join(((p + q) & 0xFFFFFFFF).to_bytes(4, "little") for p, q in zip(x, start, strict=True))


@pytest.mark.parametrize(
    ("key", "nonce", "counter", "expected"),
    [
        (
            bytes(range(32)),
            "000000090000004a00000000",
            1,
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
        ),
        (
            bytes(32),
            "000000000000000000000000",
            0,
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
        ),
        (
            bytes(32),
            "000000000000000000000000",
            1,
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
        ),
    ],
    ids=["section 2.3.2", "appendix A.1 #1", "appendix A.1 #2"],
)
def test_a_block_is_that_of_rfc_8439(key: bytes, nonce: str, counter: int, expected: str) -> None:
    assert key_stream(key, bytes.fromhex(nonce), counter, blocks=1).hex() == expected
    assert plain_block(key, bytes.fromhex(nonce), counter).hex() == expected


@pytest.mark.parametrize("number", range(5))
def test_sixteen_blocks_are_those_of_a_plain_implementation(number: int) -> None:
    key = hashlib.sha256(b"key %d" % number).digest()
    nonce = hashlib.sha256(b"nonce %d" % number).digest()[:12]
    counter = int.from_bytes(hashlib.sha256(b"counter %d" % number).digest()[:3], "little")
    expected = b"".join(plain_block(key, nonce, counter + lane) for lane in range(16))
    assert key_stream(key, nonce, counter) == expected


def test_a_stream_ends_before_its_counter_wraps() -> None:
    stream = open_stream(bytes(32))
    stream[12] = LAST_COUNTER
    refill(stream)
    assert stream[FAILED] == 0
    refill(stream)
    assert stream[FAILED] == 1
    with pytest.raises(OverflowError):
        check(stream)
    words = Words(bytes(32))
    words._stream[12] = LAST_COUNTER + 1
    with pytest.raises(OverflowError):
        words.take(1)


def test_bits_and_integers_of_any_length_read_the_same_stream() -> None:
    whole = int.from_bytes(key_stream(bytes(32), bytes(12), 0), "little")
    words = Words(bytes(32))
    pieces = [words.take(length) for length in (1, 7, 64, 1000)]
    assert pieces[0] | pieces[1] << 1 | pieces[2] << 8 | pieces[3] << 72 == whole % 2**1072
    stream = open_stream(bytes(32))
    assert sum(next_bit(stream) << position for position in range(100)) == whole % 2**100


def test_integers_below_a_bound_stay_below_it() -> None:
    words = Words(bytes(32))
    assert {words.below(5) for _ in range(200)} == {0, 1, 2, 3, 4}
    assert words.below(1) == 0
