# SPDX-License-Identifier: Apache-2.0
"""Which sensors the owner may ask for readings, as configuration files say: those that keep some."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated

from pydantic import Field, StrictInt

from anonymaly.errors import InputError
from anonymaly.stream.protocol.giving_sensor import Consent
from anonymaly.stream.protocol.kept_readings import MOST_KEPT_WINDOWS

Kept = Annotated[StrictInt, Field(ge=0, le=MOST_KEPT_WINDOWS)]


def sensors_in(peers: Iterable[str]) -> list[str]:
    """Return the names of the sensors among addresses."""
    return [peer.removeprefix("sensor/") for peer in peers if peer.startswith("sensor/")]


def asked_by(
    role: str, name: str | None, keep: int, sensors: Collection[str], peers: Iterable[str]
) -> list[str]:
    """Return the sensors that a party knows to be asked for readings: by the owner, or itself."""
    if role == "sensor":
        return [name] if keep and name is not None else []
    return [sensor for sensor in sensors_in(peers) if sensor in sensors] if role == "owner" else []


def check_keeping(role: str, keep: int, consent: Consent) -> None:
    """Refuse what only a sensor does."""
    if keep and role != "sensor":
        raise InputError("is for sensors only", field="keep", next_step="Leave it out.")
    if consent == "always" and not keep:
        raise InputError(
            "goes with keep", field="consent", next_step="Say how many windows are kept, or leave it out."
        )
