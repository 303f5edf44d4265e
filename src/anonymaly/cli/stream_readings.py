# SPDX-License-Identifier: Apache-2.0
"""Requests for single readings, and what came of them, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

STATES = {
    "given": "given in clear, by consent; `anonymaly stream fetched` shows it",
    "waiting": "the sensor's holder has not decided yet",
    "refused": "refused by the sensor's holder",
    "not kept": "the sensor does not keep it any more",
    "withdrawn": "withdrawn, because the sensor cannot be asked any more",
}


def say_request(event: Mapping[str, Any]) -> str:
    """Return a request in words, for whoever has the sensor."""
    kept = "" if event["kept"] else " (the sensor does not keep it any more)"
    return (
        f"{event['sensor']}: the owner asks for the reading at place {event['place']} of window "
        f"{event['window']}{kept}: {event['reason']}\n"
        f"  decide: anonymaly stream consent --config FILE {event['request']} --reason TEXT, or --refuse, too"
    )


def say_reading(event: Mapping[str, Any], names: Sequence[str] = ()) -> str:
    """Return what came of a request, for the owner; the reading, too, where it is told."""
    about = f"{event['sensor']}, window {event['window']}, place {event['place']}"
    if "values" not in event or event["values"] is None:
        return f"{about}: {STATES[event['state']]}"
    values = [f"{name} {value:g}" for name, value in zip(names, event["values"], strict=False)]
    return f"{about}: {', '.join(values)} at {event['time']}, in clear by consent"
