# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream init``: the folders of a stream's parties, and in words what its readings lose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymaly.ask.odds import MOST, Odds
from anonymaly.cli.output import say, say_json
from anonymaly.cli.stream import Protocol
from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano, to_text
from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import InputError
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.promise import CountingPromise
from anonymaly.stream.counting.usual import least_together
from anonymaly.stream.programs.config import ADVICE
from anonymaly.stream.programs.pool_setup import example_pool, set_up_pool
from anonymaly.stream.programs.setup import example_declaration, is_local, set_up
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.pooled.promise import PooledPromise
from anonymaly.stream.protocol.promise import DAY, StreamPromise

EXAMPLE_WINDOWS = 100  # how many the example budget is enough for
POOLED = {"pool", "windows"}  # what a declaration of `correction` names in place of `window` for many sensors


def write_folders(
    folder: Path,
    protocol: Protocol | None,
    names: list[str],
    number: int | None,
    declaration: Path | None,
    budget: str | None,
    as_json: bool,
    *,
    tls: bool | None,
    **broker: Any,
) -> None:
    """Write the folders of a stream of either protocol, and say what its readings lose."""
    data = None if declaration is None else read_yaml(declaration, ADVICE)
    chosen = _protocol(protocol, data)
    broker["tls"] = not is_local(broker["host"]) if tls is None else tls
    named = _names(names, number)
    if chosen == "counting":
        given = example_pool() if data is None else CountingDeclaration.read(data)
        facts, words = _write_pool(folder, named, given, budget, broker)
    elif data is not None and POOLED & data.keys():
        facts, words = _write_pooled(folder, named, PooledDeclaration.read(data), budget, broker)
    else:
        facts, words = _write_correction(folder, named, data, budget, broker)
    if as_json:
        say_json({"protocol": chosen, **facts, "tls": broker["tls"]})
        return
    say(words[0])
    if data is None:
        say("The readings that they declare are an example; give your own with --declaration FILE.")
    for line in words[1:]:
        say(line)
    if broker["tls"]:
        say("Keep the folder authority where no party is: who has it can make certificates.")
    servers = "counters" if chosen == "counting" else "servers"
    say(f"Move each party's folder to its own machine, and have the two {servers} run by different people.")


def _protocol(wanted: Protocol | None, data: Mapping[str, Any] | None) -> str:
    """Return the protocol; a declaration that names none is of ``correction``, which was there first."""
    if data is None:
        return wanted or "counting"
    named = data.get("protocol")
    if wanted is not None and named not in (None, wanted):
        raise InputError(
            f"is {wanted}, and the declaration names {named}",
            field="protocol",
            next_step="Leave out --protocol, or give another declaration.",
        )
    return str(named or wanted or "correction")


def _names(names: list[str], number: int | None) -> list[str]:
    if number is None:
        return names
    if names:
        raise InputError("goes without --sensor", field="sensors", next_step="Give one of the two.")
    return [f"unit-{place:0{len(str(number))}}" for place in range(1, number + 1)]


def _write_pool(
    folder: Path, named: list[str], given: CountingDeclaration, budget: str | None, broker: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    limit = budget or to_text(given.cost_of(EXAMPLE_WINDOWS))
    least = given.windows.least_sensors
    names = _enough(named, least, "--protocol correction")
    written = set_up_pool(folder, names, given, budget=limit, **broker)
    counted = to_nano(limit, largest=LARGEST_TOTAL) // given.cost_of(1)
    promise, together = CountingPromise(given, 0), least_together(given)
    days = counted * given.period * given.windows.seconds / DAY
    words = [
        f"Wrote {len(written)} files to {folder}: one folder for each of {len(names):,} sensors, two "
        "counters and the owner, and broker for Mosquitto.",
        f"Each sensor may spend epsilon={limit}, which is enough for {counted:,} counted windows: "
        f"{days:,.1f} days.",
        promise.summary(),
        f"ε = {given.epsilon} means: of two readings that seem equally likely, a server's guess which one "
        f"was sent in a counted window is {_guess(given.nano)}.",
        f"A window with fewer than {least:,} sensors is neither counted nor judged, and about {together:,} "
        "readings must lie together before they count as usual: fewer could be noise.",
    ]
    if together > len(names):
        words.append(
            f"There are {len(names):,} sensors, so that nothing will be usual and no fault found: have more "
            "sensors, or declare a larger epsilon or a smaller radius."
        )
    facts = {
        "written": [str(path) for path in written], "sensors": names, "budget": limit,
        "counted_windows": counted, "epsilon": {"window": str(given.epsilon), **promise.by_time},
        "least_sensors": least, "least_together": together,
    }  # fmt: skip
    return facts, words


def _enough(named: list[str], least: int, instead: str) -> list[str]:
    """Return the names of a pool's sensors, as many as a window needs if none are given."""
    names = named or _names([], least)
    if len(names) < least:
        raise InputError(
            f"are {len(names):,}, and a window needs at least {least:,}",
            field="sensors",
            next_step="Give --sensors N or --sensor more often, lower windows.least_sensors, or have each "
            f"sensor judged by itself: {instead}.",
        )
    return names


def _write_pooled(
    folder: Path, named: list[str], given: PooledDeclaration, budget: str | None, broker: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    limit = budget or to_text(given.cost_of(EXAMPLE_WINDOWS))
    least = given.windows.least_sensors
    names = _enough(named, least, "declare window: N in place of pool and windows")
    written = set_up_pool(folder, names, given, budget=limit, **broker)
    cost = given.cost_of(1)
    windows = to_nano(limit, largest=LARGEST_TOTAL) // cost
    promise = PooledPromise(given, windows, math.ceil(DAY / given.windows.seconds))
    by_time = promise.by_time or {}
    words = [
        f"Wrote {len(written)} files to {folder}: one folder for each of {len(names):,} sensors, the "
        "detector, the corrector and the owner, and broker for Mosquitto.",
        f"Each sensor may spend epsilon={limit}, which is enough for {windows:,} windows: "
        f"{windows * given.windows.seconds / DAY:,.1f} days.",
        promise.summary(),
        f"A reading every window loses ε = {by_time['day']} a day and {by_time['year']} a year.",
        _guess_of_detector(cost),
        f"A window with fewer than {least:,} sensors is not judged; the detector is told a distance only of "
        f"windows with at least {given.least_suspects} suspects, each another sensor's.",
    ]
    facts = {
        "written": [str(path) for path in written], "sensors": names, "budget": limit, "windows": windows,
        "epsilon": {"window": to_text(cost), **by_time}, "least_sensors": least,
        "least_suspects": given.least_suspects,
    }  # fmt: skip
    return facts, words


def _write_correction(
    folder: Path,
    named: list[str],
    data: Mapping[str, Any] | None,
    budget: str | None,
    broker: dict[str, Any],
) -> tuple[dict[str, Any], list[str]]:
    given = example_declaration() if data is None else StreamDeclaration.read(data)
    limit = budget or to_text(EXAMPLE_WINDOWS * given.cost_of(given.window))
    names = named or ["room-1"]
    written = set_up(folder, names, given, budget=limit, **broker)
    cost = given.cost_of(1)
    readings = to_nano(limit, largest=LARGEST_TOTAL) // cost
    words = [f"Wrote {len(written)} files to {folder}: one folder for each party, and broker for Mosquitto."]
    if budget is None:
        words.append(f"Each sensor may spend epsilon={limit}, which is enough for {EXAMPLE_WINDOWS} windows.")
    words += [
        StreamPromise(given, readings).summary(),
        _guess_of_detector(cost),
        f"The budget is enough for {readings:,} readings of a sensor: at one a minute, "
        f"{readings / 1440:,.1f} days.",
    ]
    facts = {
        "written": [str(path) for path in written], "sensors": names, "budget": limit, "readings": readings,
    }  # fmt: skip
    return facts, words


def _guess_of_detector(cost: int) -> str:
    return (
        f"ε = {to_text(cost)} means: of two readings in range that seem equally likely, the detector's guess "
        f"which one was sent is {_guess(cost)}."
    )


def _guess(cost: int) -> str:
    """Say how good the best guess is at an ε, in billionths."""
    if cost > MOST * 10**9:
        return "all but certain"
    share = 100 * Odds(cost, "replace", persons=False).best_guess
    return f"right in at most {share:.3g} of 100 cases"
