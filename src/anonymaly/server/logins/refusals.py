# SPDX-License-Identifier: Apache-2.0
"""Why a login does not end in a session: in words for whoever logs in, and in others for the owner's log."""

from __future__ import annotations

from anonymaly.errors import AnonymalyError, Refused

LONGEST_SHOWN = 200


class ProviderAway(AnonymalyError):
    """The provider does not answer, or not as OpenID Connect says."""

    exit_code = 1

    def __init__(self) -> None:
        super().__init__(
            "the login's provider cannot be reached now",
            field="login",
            next_step="Try again in a minute, or log in with a key.",
        )


class CodeRefused(Exception):
    """The provider does not give a token for a code."""


class TokenRefused(Exception):
    """Why a token is not believed, in words for the owner's log: nothing of the token is in them."""


def used_before() -> Refused:
    """Return the refusal of a token that has made a key."""
    return Refused(
        "this login was used before", field="login", next_step="Go to the login page, and log in again."
    )


def not_believed() -> Refused:
    """Return what is said of every token that is not genuine; the owner's log has the reason."""
    return Refused(
        "what the provider said was not accepted",
        field="login",
        next_step="Log in again. If that does not help, tell the owner: the server's log says why.",
    )


def without(claim: str) -> Refused:
    """Return the refusal of a token that lacks what people go by."""
    return Refused(
        f"the provider did not say your {claim}",
        field="login",
        next_step="Tell the owner: the provider must put it into the ID token.",
    )


def unverified() -> Refused:
    """Return the refusal of an address that may be anybody's."""
    return Refused(
        "the provider does not say that your email address is verified",
        field="login",
        next_step="Have it verified there, or tell the owner.",
    )


def not_named(claim: str, name: str) -> Refused:
    """Return the refusal of whom the owner did not name: they see their own name, to send it on."""
    shown = name if len(name) <= LONGEST_SHOWN and name.isprintable() else "a name that cannot be shown"
    return Refused(
        f"the provider knows you, and the owner has not let you in yet: {claim} is {shown}",
        field="login",
        next_step="Send this line to the owner, who adds it to the people who may log in.",
    )
