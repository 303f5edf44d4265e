# SPDX-License-Identifier: Apache-2.0
"""The way to a provider and back: the authorization code flow of OpenID Connect, with PKCE.

The web process checks that it is the same browser that comes back, and changes the code for a token. It does
not judge the token: whoever breaks into it could, so that a worker does.
"""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import quote

import httpx
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.client import OAuth2Client

from anonymaly.server.console.pending import PendingLogin
from anonymaly.server.logins.provider import PATIENCE_SECONDS, Provider, why
from anonymaly.server.logins.refusals import CodeRefused, ProviderAway
from anonymaly.server.logins.settings import WebLogin

logger = logging.getLogger(__name__)


class CodeFlow:
    """Sends people to one provider, and takes what they bring back."""

    def __init__(self, login: WebLogin) -> None:
        self._login = login
        self._provider = Provider(login.issuer)

    @property
    def issuer(self) -> str:
        """Whom people are sent to."""
        return self._login.issuer

    def begin(self, pending: PendingLogin) -> str:
        """Return the provider's page on which somebody logs in."""
        client = self._client(None)
        place, _ = client.create_authorization_url(
            self._provider.places().authorization,
            state=pending.state,
            code_verifier=pending.verifier,
            nonce=pending.nonce,
        )
        return str(place)

    def fetch(self, code: str, pending: PendingLogin) -> str:
        """Change a code for the ID token; ``CodeRefused`` if the provider does not."""
        places = self._provider.places()
        auth, more = self._credentials(places.ways)
        try:
            with httpx.Client(timeout=PATIENCE_SECONDS, follow_redirects=False) as session:
                found = self._client(session).fetch_token(
                    places.token,
                    grant_type="authorization_code",
                    auth=auth,
                    code=code,
                    code_verifier=pending.verifier,
                    redirect_uri=self._login.callback,
                    **more,
                )
            token = found.get("id_token")
        except OAuth2Error as problem:
            # Of a provider's words only those that are in the standard: the others may quote anything.
            known = problem.error if problem.error in _ERRORS else "another error"
            logger.warning("the login's provider refused a code: %s", known)
            raise CodeRefused from None
        except (httpx.HTTPError, OSError, ValueError, RecursionError) as problem:
            logger.warning("the login's provider gave no token: %s", why(problem))
            raise ProviderAway from None
        if not isinstance(token, str) or not token:
            logger.warning("the login's provider gave no ID token")
            raise ProviderAway
        return token

    def _client(self, session: httpx.Client | None) -> OAuth2Client:
        login = self._login
        return OAuth2Client(
            session,
            client_id=login.client_id,
            scope=login.scope,
            redirect_uri=login.callback,
            code_challenge_method="S256",
        )

    def _credentials(self, ways: tuple[str, ...]) -> tuple[httpx.Auth, dict[str, Any]]:
        """Return how this server says who it is: in the header, unless the provider takes no secret there."""
        name, secret = self._login.client_id, self._login.client_secret
        if secret is None:
            return httpx.Auth(), {"client_id": name}
        if "client_secret_basic" in ways or "client_secret_post" not in ways:
            return httpx.BasicAuth(quote(name, safe=""), quote(secret, safe="")), {}
        return httpx.Auth(), {"client_id": name, "client_secret": secret}


_ERRORS = (
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
)
