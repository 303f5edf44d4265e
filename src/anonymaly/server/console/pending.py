# SPDX-License-Identifier: Apache-2.0
"""A login that was begun and has not ended: all of it is in a cookie, and nothing is written down.

The cookie holds a random secret. From it come the state, which the provider hands back; the nonce, which its
token repeats; and the verifier, without which its code is of no use (PKCE). So only the browser in which a
login began can end it, within ten minutes, at the page that it was begun for.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from anonymaly.server.console.cookies import given_cookie

LASTS_SECONDS = 600
_FORM = re.compile(r"([A-Za-z0-9_-]{43})\.([0-9]{1,12})\.([A-Za-z0-9_-]{1,2800})")


def is_of_this_server(place: str) -> bool:
    """Say whether an address is a page of this server.

    Examples
    --------
    >>> [is_of_this_server(place) for place in ("/tables", "//a.org", "/\\\\a.org", "https://a.org")]
    [True, False, False, False]
    """
    local = place.startswith("/") and not place.startswith("//") and place.isprintable()
    return local and place.isascii() and "\\" not in place and len(place) <= 2000


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """One login on its way."""

    secret: str = field(repr=False)
    begun: int  # seconds since 1970, by this machine's clock
    next: str  # the page to go to afterwards

    @classmethod
    def fresh(cls, place: str) -> PendingLogin:
        """Begin one."""
        return cls(secrets.token_urlsafe(32), int(time.time()), place)

    @classmethod
    def read(cls, text: str | None) -> PendingLogin | None:
        """Read a cookie; None if it is none, or has ended."""
        found = _FORM.fullmatch(text or "")
        if found is None:
            return None
        secret, begun, place = found.groups()
        if not 0 <= time.time() - int(begun) <= LASTS_SECONDS:
            return None
        try:
            following = base64.urlsafe_b64decode(place + "==").decode("ascii")
        except ValueError:
            return None
        # Without TLS, another program of the same host can have put the cookie there.
        return cls(secret, int(begun), following) if is_of_this_server(following) else None

    @property
    def text(self) -> str:
        """What the cookie holds."""
        place = base64.urlsafe_b64encode(self.next.encode("ascii")).decode().rstrip("=")
        return f"{self.secret}.{self.begun}.{place}"

    @property
    def state(self) -> str:
        """What the provider hands back; it fits this secret, this beginning and this page alone."""
        return self._derived(f"state {self.begun} {self.next}")

    @property
    def nonce(self) -> str:
        """What the provider's token repeats."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """What the provider wants beside the code."""
        return self._derived("verifier")

    def _derived(self, words: str) -> str:
        return hmac.new(self.secret.encode(), f"anonymaly login {words}".encode(), hashlib.sha256).hexdigest()


class PendingCookies:
    """The cookie of a login on its way.

    ``SameSite=Lax``: the way back is a link from the provider's site, on which a browser sends no cookie that
    is ``Strict``. A form or a picture of another site does not have it sent either.
    """

    def __init__(self, *, encrypted: bool) -> None:
        self.name = "__Host-anonymaly-login" if encrypted else "anonymaly-login"
        self._flags = f"Path=/; HttpOnly; SameSite=Lax{'; Secure' if encrypted else ''}"

    def given(self, headers: Sequence[tuple[bytes, bytes]]) -> PendingLogin | None:
        """Return the login that a browser began."""
        return PendingLogin.read(given_cookie(headers, self.name))

    def handed(self, pending: PendingLogin) -> str:
        """Return the header that gives a browser the cookie."""
        return f"{self.name}={pending.text}; Max-Age={LASTS_SECONDS}; {self._flags}"

    def taken(self) -> str:
        """Return the header that takes it back."""
        return f"{self.name}=; Max-Age=0; {self._flags}"
