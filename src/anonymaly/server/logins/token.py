# SPDX-License-Identifier: Apache-2.0
"""Whether an ID token is genuine, for this server, of this login and of now; a worker decides."""

from __future__ import annotations

import hashlib
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from anonymaly.server.keys import same
from anonymaly.server.logins.provider import Provider
from anonymaly.server.logins.refusals import TokenRefused

LONGEST = 16_384  # characters of a token
OLDEST_SECONDS = 600  # since it was made, whatever it says of its end
LEEWAY_SECONDS = 60  # between the provider's clock and the database's
SHORTEST_NONCE = 32
# By a key that the provider alone has: no secret that a web process knows, too, and never "none".
ALGORITHMS = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)] + [
    "EdDSA",
    "Ed25519",
]
_CHECKED = ("iss", "aud", "azp", "sub", "exp", "iat", "nbf", "nonce", "auth_time", "amr")


def check_token(token: str, nonce: str, provider: Provider, client_id: str, now: float) -> dict[str, Any]:
    """Return what a token says, or refuse it.

    Parameters
    ----------
    token
        The ID token, as the provider gave it.
    nonce
        What the login began with; the token must repeat it.
    provider
        Who must have signed it.
    client_id
        Whom it must be for.
    now
        The database's time, in seconds since 1970.
    """
    if len(token) > LONGEST or not token.isascii() or token.count(".") != 2:
        raise TokenRefused("it is no token")
    if len(nonce) < SHORTEST_NONCE:
        raise TokenRefused("the login has no nonce")
    try:
        found = _decoded(token, provider)
        claims = CodeIDToken(
            found.claims,
            found.header,
            {
                "iss": {"essential": True, "value": provider.issuer},
                "aud": {"essential": True, "value": client_id},
                "sub": {"essential": True},
                "nonce": {"essential": True},
            },
            {"nonce": nonce, "client_id": client_id},
        )
        claims.validate(int(now), LEEWAY_SECONDS)
        said = dict(claims)
        if not isinstance(said["nonce"], str) or not same(said["nonce"], nonce):
            raise TokenRefused("nonce does not fit")
        if not now - OLDEST_SECONDS - LEEWAY_SECONDS < float(said["iat"]):
            raise TokenRefused(f"it was made more than {OLDEST_SECONDS} seconds ago")
    except JoseError as problem:
        claim = getattr(problem, "claim", None)
        words = f"{claim} does not fit" if claim in _CHECKED else type(problem).__name__
        raise TokenRefused(words) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise TokenRefused(type(problem).__name__) from None
    return said


def token_digest(token: str) -> str:
    """Return by what a token is known again: what is signed of it, since a signature can be spelled twice."""
    return hashlib.sha256(token.rpartition(".")[0].encode()).hexdigest()


def _decoded(token: str, provider: Provider) -> jwt.Token:
    """Check the signature; a provider that has changed its keys is asked for them again."""
    try:
        return jwt.decode(token, _public(provider.keys()), algorithms=ALGORITHMS)
    except InvalidKeyIdError:
        return jwt.decode(token, _public(provider.keys(anew=True)), algorithms=ALGORITHMS)


def _public(said: dict[str, Any]) -> KeySet:
    listed = [key for key in said["keys"] if key.get("kty") != "oct" and key.get("use", "sig") == "sig"]
    return KeySet.import_key_set({"keys": listed})
