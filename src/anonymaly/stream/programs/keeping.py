# SPDX-License-Identifier: Apache-2.0
"""Which sensors keep readings that the owner may ask for: a change to the register, as all others are.

Only for a sensor that keeps readings is there a way between it and the owner: keys of each other, and topics.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import InputError
from anonymaly.stream.programs.register import (
    ADVICE,
    CONFIG,
    Register,
    replace_config,
    update_folder,
)
from anonymaly.stream.programs.setup import folder_of
from anonymaly.stream.protocol.giving_sensor import Consent

OWNER = "owner"


def keep_readings(
    folder: Path, sensors: Iterable[str], windows: int, *, consent: Consent = "ask"
) -> list[Path]:
    """Have sensors keep the readings of their newest windows, or none with 0; return what changed.

    Parameters
    ----------
    folder : Path
        What `set_up` wrote.
    sensors : iterable of str
        Which of its sensors, whose folders are here; all of them if there are none.
    windows : int
        Of how many of its newest windows each keeps the readings.
    consent : {"ask", "always"}
        Whether a sensor's holder decides about each request, or consents to all.
    """
    register = Register.load(folder)
    names = list(sensors) or register.sensors
    talks = {party: list(others) for party, others in register.talks.items()}
    for name in names:
        address = f"sensor/{name}"
        if name not in register.sensors or not (folder / folder_of(address) / CONFIG).exists():
            there = name in register.sensors
            raise InputError(
                f"{folder / folder_of(address)} is not here" if there else f"{name} is not among the sensors",
                field="sensor",
                next_step="Run this where the sensor's folder is, with a copy of stream.yaml beside it.",
            )
        ways = {*talks[OWNER], address} if windows else {*talks[OWNER]} - {address}
        talks[OWNER] = sorted(ways)
        talks[address] = sorted([*register.servers, *([OWNER] if windows else [])])
    changed = register.changed(talks=talks)
    written = []
    for name in names:
        path = folder / folder_of(f"sensor/{name}") / CONFIG
        before = dict(read_yaml(path, ADVICE))
        after = changed.bring_in_line(_keeping(before, windows, consent))
        if after != before:
            replace_config(path, after)
            written.append(path)
    return [*written, *update_folder(folder, changed)]


def _keeping(data: dict[str, Any], windows: int, consent: Consent) -> dict[str, Any]:
    without = {field: value for field, value in data.items() if field not in ("keep", "consent")}
    declared: dict[str, Any] = {"keep": windows} if windows else {}
    if windows and consent != "ask":
        declared["consent"] = consent
    return without | declared
