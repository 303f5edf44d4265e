# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream`` for a pool."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymaly.cli.output import AsJson, say, say_json
from anonymaly.cli.stream import Config, Form, Lines, app, load_party, printer
from anonymaly.cli.stream_readings import say_reading, say_request
from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.stream.programs.config import LoadedConfig
    from anonymaly.stream.programs.inputs import ReadingOrigin
    from anonymaly.stream.programs.pool_config import LoadedPool
    from anonymaly.stream.programs.pool_program import PoolSensor
    from anonymaly.stream.programs.readings import Batch


@app.command("counter")
def counter(config: Config, lines: Lines = False) -> None:
    """Count the readings of a pool together with the other counter, until stopped."""
    run_server_of_pool(load_party(config, "counter"), lines)


@app.command("anchor")
def anchor(
    config: Config,
    after: Annotated[
        int | None,
        typer.Option(
            "--after",
            metavar="WINDOW",
            min=-1,
            help="The last window whose sum may have been opened, if the journal is not what it was either.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Begin a counter's anchor, where the last one was lost or there was none; the counter is stopped."""
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415

    loaded = load_party(config, "counter")
    if not isinstance(loaded, LoadedPool):
        raise TypeError("a counter's file makes another party")
    opened = loaded.begin_anchor(after)
    if as_json:
        say_json({"anchor": str(loaded.anchor), "after": opened.window})
        return
    said = "no sum was opened" if opened.window < 0 else f"sums up to window {opened.window} may be opened"
    say(f"{loaded.anchor}: {said}. What follows is counted.")


def run_server_of_pool(loaded: LoadedConfig, lines: bool) -> bool:
    """Run a pool's server; say whether it was one."""
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415
    from anonymaly.stream.programs.pool_program import run_pool_server  # noqa: PLC0415

    if not isinstance(loaded, LoadedPool):
        return False
    run_pool_server(loaded, printer(lines, say_window))
    return True


def run_sensor_of_pool(
    loaded: LoadedConfig, source: str, form: Form | None, lines: bool, *, stay: bool, wait: bool
) -> bool:
    """Run a pool's sensor; say whether it was one."""
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415
    from anonymaly.stream.programs.pool_program import (  # noqa: PLC0415
        from_file,
        from_pipe,
        run_pool_sensor,
    )

    if not isinstance(loaded, LoadedPool):
        return False

    def batches(party: PoolSensor) -> Iterator[Batch]:
        return from_pipe(sys.stdin, party, form) if source == "-" else from_file(source, party, form)

    name = source if source == "-" else Path(source).name
    run_pool_sensor(loaded, printer(lines, say_sensor), batches, name, wait=wait, stay=stay)
    return True


def run_owner_of_pool(loaded: LoadedConfig, after: int, until: int | None, lines: bool) -> bool:
    """Run a pool's owner; say whether it was one."""
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415
    from anonymaly.stream.programs.pool_program import run_pool_owner  # noqa: PLC0415

    if not isinstance(loaded, LoadedPool):
        return False
    run_pool_owner(loaded, printer(lines, say_verdict), after=after, until=until)
    return True


def skip_of_pool(
    loaded: LoadedConfig, sensor: str | None, window: int | None, until: int | None, reason: str
) -> dict[str, Any] | None:
    """Give up a pool's windows; return what was, or None if it is no pool."""
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415

    if not isinstance(loaded, LoadedPool):
        return None
    if sensor is not None or window is not None or until is None:
        raise InputError(
            "is all that a pool takes: its windows are of all sensors, and finished in order",
            field="until",
            next_step="Give up all before a window with --until, without --sensor and --window.",
        )
    with loaded.make_owner_of_pool() as owner:
        before = max((item.number for item in owner.verdicts()), default=0)
        owner.skip(until - 1, reason=reason)
        given_up = [item.window for item in owner.verdicts(before)]
    first = min(given_up, default=until - 1)
    pool = loaded.config.pool.pool
    return {"pool": pool, "first": first, "last": until - 1, "given_up": len(given_up), "reason": reason}


def origin_in_pool(loaded: LoadedPool, window: int, places: list[int]) -> ReadingOrigin | None:
    """Return where a pool's sensor had its reading of a window from."""
    from anonymaly.stream.programs.pool_origins import origin_of  # noqa: PLC0415

    if places:
        raise InputError(
            "are for sensors that are judged each by itself: a pool's sensor has one reading in a window",
            field="places",
            next_step="Leave them out.",
        )
    with loaded.make_sensor_of_pool() as sensor:
        return origin_of(sensor, window)


def declare_pool(
    folder: Path, sensor: str | None, declaration: Path, window: int | None, reason: str, learned: bool
) -> tuple[dict[str, Any], list[str], list[Path]]:
    """Declare a pool anew; return what holds from when on, the same in words, and what changed."""
    from anonymaly.stream.counting.declaration import CountingDeclaration  # noqa: PLC0415
    from anonymaly.stream.counting.promise import CountingPromise  # noqa: PLC0415
    from anonymaly.stream.programs import changes  # noqa: PLC0415
    from anonymaly.stream.programs.register import Register  # noqa: PLC0415

    if sensor is not None:
        raise InputError(
            "is not for a pool, whose declaration is the same for all",
            field="sensor",
            next_step="Leave it out.",
        )
    changes.counted_pool(Register.load(folder))
    given = CountingDeclaration.read(read_yaml(declaration, "Declare columns, windows, epsilon and period."))
    if window is None:
        raise InputError(
            "is required for a pool",
            field="from_window",
            next_step="Give a window far enough ahead that all parties have been started anew by then.",
        )
    changed = changes.declare_pool_anew(
        folder, given, window=window, reason=reason, learned_from_readings=learned
    )
    begins = datetime.fromtimestamp(given.windows.begins(window), UTC).isoformat()
    promise = CountingPromise(given, 0)
    words = [
        f"{given.pool}: the new declaration holds from window {window} on, which begins {begins}; what was "
        "spent stays spent.",
        promise.summary(),
        "Have every party started anew by then: what is contributed under another declaration of its window "
        "is not taken, and stays paid for.",
    ]
    facts = {"window": window, "begins": begins, "epsilon": {"window": str(given.epsilon), **promise.by_time}}
    return facts, words, changed


def say_sensor(event: dict[str, Any]) -> str:
    """Return how far a sensor is, in words."""
    if event["event"] == "request":
        return say_request(event)
    left_out = event["repeated"] + event["late"]
    return (
        f"{event['sensor']}: {event['readings']:,} readings {event['event']}, {left_out:,} left out, "
        f"epsilon {event['spent']:g} spent, {event['remaining']:g} left, "
        f"{event['unacknowledged']} messages on their way"
    )


def say_window(event: dict[str, Any]) -> str:
    """Return how a window ended, or how many suspects it has, in words."""
    if event["event"] == "suspects":
        about = f"{event['pool']}, window {event['window']}: {event['contributed']:,} readings"
        return f"{about}, {event['suspects']:,} suspects"
    return f"{event['pool']}, window {event['window']}: {event['state']}, {event['contributed']:,} readings"


def say_verdict(event: dict[str, Any]) -> str:
    """Return a verdict in words."""
    if event["event"] == "reading":
        return say_reading(event)
    if event["event"] == "alarm":
        return f"ALARM: {event['sensor']}: as {event['reporter']} has seen, it {event['says']}"
    text = f"window {event['window']}: {event['state']}, {event['contributed']:,} readings"
    for name, words in (("faults", "faults"), ("look_at", "look at")):
        if event.get(name):
            text += f"; {words}: {', '.join(event[name])}"
    if event.get("lies"):
        text += f"; a counter lies about {', '.join(event['lies'])}"
    return text
