# SPDX-License-Identifier: Apache-2.0
"""Tokens of a real provider: what a worker believes, and everything that it does not."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.server.logins.providing import RunningProvider

pytest.importorskip("authlib", reason="needs Authlib; install: pip install 'anonymaly[oidc]'")

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from anonymaly.server.logins.provider import ANEW_SECONDS, Provider
from anonymaly.server.logins.refusals import ProviderAway, TokenRefused
from anonymaly.server.logins.token import check_token, token_digest


def parts(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    header, claims = (
        json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))) for text in token.split(".")[:2]
    )
    return header, claims


def written(data: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


@pytest.fixture(scope="module")
def known(provider: RunningProvider) -> Provider:
    return Provider(provider.issuer)


@pytest.fixture(scope="module")
def genuine(provider: RunningProvider) -> tuple[str, str]:
    return provider.token("ann")


def test_a_genuine_token_is_believed(known: Provider, genuine: tuple[str, str]) -> None:
    said = check_token(*genuine, known, "console", time.time())
    assert (said["sub"], said["email"], said["email_verified"]) == ("ann", "ann@example.org", True)


def with_claims(token: str, **changes: Any) -> str:
    _, claims = parts(token)
    head, _, signature = token.split(".")
    return f"{head}.{written({**claims, **changes})}.{signature}"


def by_another_key(token: str, **changes: Any) -> str:
    header, claims = parts(token)
    return jwt.encode(header, {**claims, **changes}, RSAKey.generate_key(2048))


def unsigned(token: str) -> str:
    _, claims = parts(token)
    return f"{written({'alg': 'none'})}.{written(claims)}."


def by_the_public_key(token: str) -> str:
    """Signed with what everybody knows, as if it were a secret that two share."""
    header, claims = parts(token)
    issuer = claims["iss"]
    public = json.dumps(httpx.get(f"{issuer}/jwks").json()["keys"][0]).encode()
    key = OctKey.import_key(public)
    return jwt.encode({**header, "alg": "HS256"}, claims, key, algorithms=["HS256"])


def by_the_clients_secret(token: str) -> str:
    header, claims = parts(token)
    key = OctKey.import_key(b"a secret of the console: %+&")
    return jwt.encode({"alg": "HS256", "kid": header["kid"]}, claims, key, algorithms=["HS256"])


FORGERIES: dict[str, Callable[[str], str]] = {
    "another person": lambda token: with_claims(token, sub="olga"),
    "a later end": lambda token: with_claims(token, exp=9_999_999_999),
    "another key": by_another_key,
    "another key and person": lambda token: by_another_key(token, sub="olga"),
    "no signature": unsigned,
    "an empty signature": lambda token: token.rpartition(".")[0] + ".",
    "half a signature": lambda token: token[:-100],
    "the public key as a secret": by_the_public_key,
    "the client's secret": by_the_clients_secret,
    "no token": lambda token: "token",
    "nothing": lambda token: "",
    "two dots": lambda token: "..",
    "not ASCII": lambda token: token + "é",
    "too long": lambda token: token + "A" * 20_000,
}


@pytest.mark.parametrize("what", FORGERIES)
def test_no_forged_token_is_believed(known: Provider, genuine: tuple[str, str], what: str) -> None:
    token, nonce = genuine
    with pytest.raises(TokenRefused):
        check_token(FORGERIES[what](token), nonce, known, "console", time.time())


@pytest.mark.parametrize("nonce", ["", "0" * 64, "short"])
def test_a_token_of_another_login_is_refused(known: Provider, genuine: tuple[str, str], nonce: str) -> None:
    with pytest.raises(TokenRefused, match="nonce"):
        check_token(genuine[0], nonce, known, "console", time.time())


def test_a_token_for_another_program_is_refused(provider: RunningProvider, known: Provider) -> None:
    token, nonce = provider.token("ann", client="another")
    check_token(token, nonce, known, "another", time.time())
    with pytest.raises(TokenRefused, match="aud does not fit"):
        check_token(token, nonce, known, "console", time.time())


@pytest.mark.parametrize(("later", "why"), [(3700, "exp"), (700, "made more than"), (-120, "iat")])
def test_a_token_of_another_time_is_refused(
    known: Provider, genuine: tuple[str, str], later: float, why: str
) -> None:
    with pytest.raises(TokenRefused, match=why):
        check_token(*genuine, known, "console", parts(genuine[0])[1]["iat"] + later)


def test_a_token_of_another_issuer_is_refused(known: Provider, genuine: tuple[str, str]) -> None:
    other = Provider("https://login.example.org")
    other._kept = known._kept | {
        "https://login.example.org/.well-known/openid-configuration": (
            {**next(iter(known._kept.values()))[0], "issuer": "https://login.example.org"},
            other._clock(),
        )
    }
    with pytest.raises(TokenRefused, match="iss does not fit"):
        check_token(*genuine, other, "console", time.time())


def test_a_document_that_names_another_issuer_is_not_taken(provider: RunningProvider) -> None:
    with pytest.raises(ProviderAway):
        Provider(provider.issuer + "/").places()


def test_a_provider_that_is_away_is_not_asked_again_at_once(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    away = Provider("http://127.0.0.1:9", clock=lambda: now[0])
    with pytest.raises(ProviderAway):
        away.places()
    failed = away._failed
    now[0] = 5.0
    with pytest.raises(ProviderAway):
        away.places()
    assert away._failed == failed
    said = [record.getMessage() for record in caplog.records]
    assert said == ["the login's provider cannot be read: ConnectError, ConnectionRefusedError"]


def test_keys_are_asked_for_anew_for_an_unknown_one_and_at_most_once_a_minute(
    provider: RunningProvider, genuine: tuple[str, str]
) -> None:
    now = [0.0]
    fresh = Provider(provider.issuer, clock=lambda: now[0])
    place = fresh.places().keys
    fresh._kept[place] = ({"keys": [RSAKey.generate_key(2048).as_dict(private=False)]}, 0.0)
    # The provider has changed its keys a moment after they were read: nobody is let in for a minute.
    with pytest.raises(TokenRefused, match="InvalidKeyIdError"):
        check_token(*genuine, fresh, "console", time.time())
    now[0] = ANEW_SECONDS
    check_token(*genuine, fresh, "console", time.time())
    assert fresh._kept[place][1] == ANEW_SECONDS


def test_a_token_is_known_again_however_its_signature_is_spelled(genuine: tuple[str, str]) -> None:
    token = genuine[0]
    assert token_digest(token) == token_digest(token[:-1] + ("A" if token[-1] != "A" else "B"))
    assert token_digest(token) != token_digest(with_claims(token, sub="olga"))
