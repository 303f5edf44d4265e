# SPDX-License-Identifier: Apache-2.0
"""HPKE gives the RFC's own numbers, and opens nothing else."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from anonymaly.stream.programs.hpke import open_auth, schedule, seal_auth, shared_secret

# RFC 9180, appendix A.2.3: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305, mode_auth.
INFO = bytes.fromhex("4f6465206f6e2061204772656369616e2055726e")
EPHEMERAL = "c94619e1af28971c8fa7957192b7e62a71ca2dcdde0a7cc4a8a9e741d600ab13"
RECIPIENT = "3ca22a6d1cda1bb9480949ec5329d3bf0b080ca4c45879c95eddb55c70b80b82"
SENDER = "2def0cb58ffcf83d1062dd085c8aceca7f4c0c3fd05912d847b61f3e54121f05"
PUBLIC = {
    EPHEMERAL: "f7674cc8cd7baa5872d1f33dbaffe3314239f6197ddf5ded1746760bfc847e0e",
    RECIPIENT: "1a478716d63cb2e16786ee93004486dc151e988b34b475043d3e0175bdb01c44",
    SENDER: "f0f4f9e96c54aeed3f323de8534fffd7e0577e4ce269896716bcb95643c8712b",
}
SHARED = "d2d67828c8bc9fa661cf15a31b3ebf1febe0cafef7abfaaca580aaf6d471e3eb"
KEY = "b071fd1136680600eb447a845a967d35e9db20749cdf9ce098bcc4deef4b1356"
BASE_NONCE = "d20577dff16d7cea2c4bf780"
PLAINTEXT = bytes.fromhex("4265617574792069732074727574682c20747275746820626561757479")
CIPHERTEXTS = {
    0: "ab1a13c9d4f01a87ec3440dbd756e2677bd2ecf9df0ce7ed73869b98e00c09be111cb9fdf077347aeb88e61bdf",
    1: "3265c7807ffff7fdace21659a2c6ccffee52a26d270c76468ed74202a65478bfaedfff9c2b7634e24f10b71016",
    2: "3aadee86ad2a05081ea860033a9d09dbccb4acac2ded0891da40f51d4df19925f7a767b076a5cbc9355c8fd35e",
    4: "502ecccd5c2be3506a081809cc58b43b94f77cbe37b8b31712d9e21c9e61aa6946a8e922f54eae630f88eb8033",
    255: "652e597ba20f3d9241cda61f33937298b1169e6adf72974bbe454297502eb4be132e1c5064702fc165c2ddbde8",
    256: "3be14e8b3bbd1028cf2b7d0a691dbbeff71321e7dec92d3c2cfb30a0994ab246af76168480285a60037b4ba13a",
}
SEALED = (bytes.fromhex(PUBLIC[EPHEMERAL]), bytes.fromhex(CIPHERTEXTS[0]))


def private(key: str) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(bytes.fromhex(key))


def public(key: str) -> X25519PublicKey:
    return private(key).public_key()


def test_the_vectors_keys_belong_together() -> None:
    assert {key: public(key).public_bytes_raw().hex() for key in PUBLIC} == PUBLIC


def test_secret_key_and_nonce_are_the_vectors() -> None:
    exchanged = private(EPHEMERAL).exchange(public(RECIPIENT)) + private(SENDER).exchange(public(RECIPIENT))
    secret = shared_secret(exchanged, bytes.fromhex(PUBLIC[EPHEMERAL]), public(RECIPIENT), public(SENDER))
    assert secret.hex() == SHARED
    assert [part.hex() for part in schedule(secret, INFO)] == [KEY, BASE_NONCE]


def test_the_first_message_is_sealed_and_opened_as_in_the_vectors() -> None:
    sealed = seal_auth(
        public(RECIPIENT), INFO, b"Count-0", PLAINTEXT, private(SENDER), ephemeral=private(EPHEMERAL)
    )
    assert sealed == SEALED
    assert open_auth(*SEALED, private(RECIPIENT), INFO, b"Count-0", public(SENDER)) == PLAINTEXT


@pytest.mark.parametrize("number", CIPHERTEXTS)
def test_later_messages_of_the_vectors_open_with_our_key_and_nonce(number: int) -> None:
    key, base = schedule(bytes.fromhex(SHARED), INFO)
    nonce = (int.from_bytes(base, "big") ^ number).to_bytes(12, "big")
    ciphertext = bytes.fromhex(CIPHERTEXTS[number])
    assert ChaCha20Poly1305(key).decrypt(nonce, ciphertext, b"Count-%d" % number) == PLAINTEXT


def test_nothing_but_the_vectors_opens() -> None:
    key, ciphertext = SEALED
    other = X25519PrivateKey.generate()
    recipient, sender = private(RECIPIENT), public(SENDER)
    for arguments in (
        (key, ciphertext, other, INFO, b"Count-0", sender),
        (key, ciphertext, recipient, INFO, b"Count-0", other.public_key()),
        (key, ciphertext, recipient, INFO + b"!", b"Count-0", sender),
        (key, ciphertext, recipient, INFO, b"Count-1", sender),
        (key, ciphertext[:-1], recipient, INFO, b"Count-0", sender),
        (other.public_key().public_bytes_raw(), ciphertext, recipient, INFO, b"Count-0", sender),
        # The highest bit of an X25519 key has no meaning for the exchange; it is authenticated all the same.
        (key[:-1] + bytes([key[-1] ^ 0x80]), ciphertext, recipient, INFO, b"Count-0", sender),
    ):
        with pytest.raises(InvalidTag):
            open_auth(*arguments)
    for damaged in (b"", key[:-1], bytes(32)):
        with pytest.raises(ValueError, match=r"."):
            open_auth(damaged, ciphertext, recipient, INFO, b"Count-0", sender)
