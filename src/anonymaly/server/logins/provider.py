# SPDX-License-Identifier: Apache-2.0
"""What a provider publishes: its addresses, and the keys that its tokens are signed with.

A web process asks for the first, a worker for both, each by itself: what a worker believes must not come
through a web process.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
from authlib.oidc.discovery import get_well_known_url

from anonymaly.server.logins.refusals import ProviderAway
from anonymaly.server.logins.settings import is_safe

KEPT_SECONDS = 3600.0
ANEW_SECONDS = 60.0  # at the soonest, keys are asked for again because a token names another one
AGAIN_SECONDS = 10.0  # after a failure nobody asks for so long: a provider that is away holds up no other job
PATIENCE_SECONDS = 5.0
LARGEST = 2**20
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProviderPlaces:
    """Where a provider lets people log in, gives tokens, and publishes its keys."""

    authorization: str
    token: str
    keys: str
    ways: tuple[str, ...]  # in which it takes a client's secret


class Provider:
    """One provider, with what it published an hour ago at most."""

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.issuer = issuer
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[dict[str, Any], float]] = {}  # address → what it says, since when
        self._failed: float | None = None

    def places(self) -> ProviderPlaces:
        """Return where the provider does what."""
        said = self._fetched(get_well_known_url(self.issuer, external=True), KEPT_SECONDS)
        found = [said.get(f"{name}_endpoint") for name in ("authorization", "token")] + [said.get("jwks_uri")]
        # Another issuer's document would have its tokens taken for this one's.
        if said.get("issuer") != self.issuer or not all(isinstance(at, str) and is_safe(at) for at in found):
            logger.warning("the login's provider says another issuer than login.issuer, or no safe address")
            raise ProviderAway
        ways = said.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        authorization, token, keys = map(str, found)
        return ProviderPlaces(authorization, token, keys, tuple(map(str, ways)))

    def keys(self, *, anew: bool = False) -> dict[str, Any]:
        """Return the provider's public keys; ``anew`` if a token names one that is not among them."""
        return self._fetched(self.places().keys, ANEW_SECONDS if anew else KEPT_SECONDS)

    def _fetched(self, address: str, oldest: float) -> dict[str, Any]:
        with self._lock:
            now = self._clock()
            kept = self._kept.get(address)
            if kept is not None and now - kept[1] < oldest:
                return kept[0]
            if self._failed is not None and now - self._failed < AGAIN_SECONDS:
                raise ProviderAway
            try:
                found = _get(address)
            except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, RecursionError) as problem:
                self._failed = now
                logger.warning("the login's provider cannot be read: %s", why(problem))
                raise ProviderAway from None
            self._kept[address] = (found, now)
            return found


def why(problem: BaseException) -> str:
    """Return what went wrong, by the classes of the error and of its first cause: words may quote others."""
    first = problem
    while first.__context__ is not None:
        first = first.__context__
    names = dict.fromkeys(type(item).__name__ for item in (problem, first))
    return ", ".join(names)


class NoDocument(ValueError):
    """The provider answers, and not with a JSON object in time."""


def _get(address: str) -> dict[str, Any]:
    """Read a document, without following it elsewhere."""
    until, content = time.monotonic() + PATIENCE_SECONDS, b""
    with (
        httpx.Client(timeout=PATIENCE_SECONDS, follow_redirects=False) as client,
        client.stream("GET", address, headers={"Accept": "application/json"}) as response,
    ):
        if response.status_code != 200:
            raise NoDocument
        for part in response.iter_bytes():
            content += part
            if len(content) > LARGEST or time.monotonic() > until:
                raise NoDocument
    found = json.loads(content)
    if not isinstance(found, dict):
        raise NoDocument
    return found
