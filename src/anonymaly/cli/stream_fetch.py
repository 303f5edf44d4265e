# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream``: asking a sensor for one reading that a verdict names, and its holder's consent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from anonymaly.cli.output import AsJson, say, say_json
from anonymaly.cli.stream import Config, app, load_party
from anonymaly.cli.stream_operate import Folder, say_changed
from anonymaly.cli.stream_readings import say_reading, say_request
from anonymaly.errors import InputError
from anonymaly.ledger import Ledger

if TYPE_CHECKING:
    from anonymaly.stream.programs.config import LoadedConfig
    from anonymaly.stream.protocol.fetching_owner import FetchingOwner
    from anonymaly.stream.protocol.giving_sensor import GivingSensor

# The programs are an extra. A command imports them when it runs, so that `--help` does not need it.

ConsentOption = Literal["ask", "always"]
_REQUEST = re.compile(r"\d+-\d+-[0-9a-f]{10}")


@app.command("keep")
def keep(
    folder: Folder,
    windows: Annotated[
        int, typer.Option("--windows", min=0, help="Of how many of its newest windows; 0 for none.")
    ],
    sensor: Annotated[
        list[str] | None, typer.Option("--sensor", metavar="NAME", help="A sensor; all if not given.")
    ] = None,
    consent: Annotated[
        ConsentOption,
        typer.Option("--consent", help="Whether its holder decides about each request, or consents to all."),
    ] = "ask",
    as_json: AsJson = False,
) -> None:
    """Have sensors keep their newest readings, so that the owner may ask for one."""
    from anonymaly.stream.programs.keeping import keep_readings  # noqa: PLC0415

    say_changed(keep_readings(folder, sensor or [], windows, consent=consent), folder, as_json)


@app.command("fetch")
def fetch(
    config: Config,
    sensor: Annotated[str, typer.Option("--sensor", metavar="NAME", help="The sensor.")],
    window: Annotated[int, typer.Option("--window", min=0, help="The window, as the verdict names it.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; the sensor's holder decides by it.")],
    place: Annotated[
        int | None,
        typer.Option("--place", min=0, help="The place in it, as the verdict names it; none for a pool."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a sensor for a reading that a verdict names; by the owner, whose program is stopped meanwhile."""
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415

    loaded = load_party(config, "owner")
    if place is None and not isinstance(loaded, LoadedPool):
        raise InputError("is required", field="place", next_step="Give the place that the verdict names.")
    with _owner(loaded) as owner:
        owner.fetch(sensor, window, place or 0, reason=reason)
        asked = owner.fetches()[-1]
    if as_json:
        say_json(asked.to_dict())
        return
    say(f"Asked {sensor} for the reading at place {asked.place} of window {window}.")
    say("It hears of it as soon as `anonymaly stream owner` runs again; its holder decides.")


@app.command("fetched")
def fetched(config: Config, as_json: AsJson = False) -> None:
    """Show what came of requests for readings; by the owner, whose program is stopped meanwhile."""
    loaded = load_party(config, "owner")
    with _owner(loaded) as owner:
        found = owner.fetches()
    if as_json:
        say_json({"fetched": [item.to_dict() for item in found]})
        return
    for item in found:
        say(say_reading(item.to_dict(), _names(loaded, item.sensor)))
    if not found:
        say("No reading was asked for.")


@app.command("requests")
def requests(config: Config, as_json: AsJson = False) -> None:
    """Show which readings the owner asks for; on the sensor, while it is stopped: it says so itself."""
    from anonymaly.stream.programs.answering import describe_request  # noqa: PLC0415

    with _sensor(load_party(config, "sensor")) as sensor:
        found = [describe_request(sensor.name, item) for item in sensor.requests()]
    if as_json:
        say_json({"requests": found})
        return
    for item in found:
        say(say_request(item))
    if not found:
        say("No request waits for a decision.")


@app.command("consent")
def consent(
    config: Config,
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="The request, as it is shown.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; the ledger keeps it.")],
    refuse: Annotated[bool, typer.Option("--refuse", help="Refuse it instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Hand over one reading in clear, which no epsilon bounds, or refuse; also while the sensor runs."""
    from anonymaly.stream.protocol.giving_sensor import HOLDER, decide  # noqa: PLC0415

    if not _REQUEST.fullmatch(request):
        raise InputError(
            "is no name of a request", field="request", next_step="Give it as it is shown: 12-3-0123456789."
        )
    loaded = load_party(config, "sensor")
    if not loaded.config.keep:
        raise InputError(
            "keeps no readings, so that nobody can ask for one", field="config", next_step="Nothing is to do."
        )
    runs = False
    try:
        sensor = _sensor(loaded)
    except InputError as problem:
        if problem.field != "journal":
            raise
        # Its program has the journal. It looks at the ledger, where a decision is.
        runs = True
        with Ledger.open(loaded.ledger, anchor=loaded.anchor, create=False) as book:
            name = loaded.config.name or ""
            decide(book, name, request, gives=not refuse, by=HOLDER, reason=reason)
    else:
        with sensor:
            (sensor.refuse if refuse else sensor.consent)(request, reason=reason)
    if as_json:
        say_json({"request": request, "gives": not refuse, "reason": reason, "running": runs})
        return
    say(f"{request}: " + ("refused." if refuse else "its reading may be handed over; no ε bounds it."))
    say(
        "The sensor that runs answers in a few seconds."
        if runs
        else "The owner hears of it as soon as `anonymaly stream sensor` runs again."
    )


def _owner(loaded: LoadedConfig) -> FetchingOwner:
    from anonymaly.stream.protocol.fetching_owner import FetchingOwner  # noqa: PLC0415

    party = loaded.make_party()
    if not isinstance(party, FetchingOwner):
        raise TypeError("an owner's file makes another party")
    return party


def _sensor(loaded: LoadedConfig) -> GivingSensor:
    from anonymaly.stream.protocol.giving_sensor import GivingSensor  # noqa: PLC0415

    party = loaded.make_party()
    if not isinstance(party, GivingSensor):
        raise TypeError("a sensor's file makes another party")
    return party


def _names(loaded: LoadedConfig, sensor: str) -> list[str]:
    """Return what a sensor's columns are called."""
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415

    if isinstance(loaded, LoadedPool):
        return loaded.config.pool.names
    return loaded.config.streams[sensor].names
