# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream``: the four parties as programs, their keys and settings, and a broker to try them."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymaly.cli.output import AsJson, say, say_json
from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano, to_text
from anonymaly.core.extras import require
from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.stream.programs.config import LoadedConfig, Role
    from anonymaly.stream.programs.readings import Batch
    from anonymaly.stream.protocol.sensor import Sensor

# The programs are an extra. A command imports them when it runs, so that `--help` does not need it.

EXAMPLE_WINDOWS = 100  # how many the example budget is enough for

Config = Annotated[Path, typer.Option("--config", metavar="FILE", help="This party's own file.")]
Lines = Annotated[bool, typer.Option("--json", help="Print one JSON document in each line instead of text.")]

app = typer.Typer(
    name="stream",
    help="Find faulty readings without seeing the readings.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)


@app.command("init")
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write.")],
    sensor: Annotated[
        list[str] | None, typer.Option("--sensor", metavar="NAME", help="A sensor; repeat for more.")
    ] = None,
    declaration: Annotated[
        Path | None,
        typer.Option("--declaration", metavar="FILE", help="What is public about the readings, as YAML."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="The most epsilon that one sensor may spend.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Where the broker will be.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The broker's port.")] = 1883,
    prefix: Annotated[str, typer.Option("--prefix", help="What all topics begin with.")] = "anonymaly",
    force: Annotated[bool, typer.Option("--force", help="Overwrite, keys included.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write keys, one folder for each party, and an example configuration of Mosquitto."""
    from anonymaly.stream.programs.config import ADVICE  # noqa: PLC0415
    from anonymaly.stream.programs.setup import BROKER, example_declaration, set_up  # noqa: PLC0415
    from anonymaly.stream.protocol.declaration import StreamDeclaration  # noqa: PLC0415
    from anonymaly.stream.protocol.promise import StreamPromise  # noqa: PLC0415

    given = example_declaration()
    if declaration is not None:
        given = StreamDeclaration.read(read_yaml(declaration, ADVICE))
    limit = budget or to_text(EXAMPLE_WINDOWS * given.cost_of(given.window))
    names = sensor or ["room-1"]
    written = set_up(
        folder, names, given, budget=limit, host=host, port=port, prefix=prefix, force=force
    )  # fmt: skip
    if as_json:
        say_json({"written": [str(path) for path in written], "sensors": names, "budget": limit})
        return
    say(f"Wrote {len(written)} files to {folder}: one folder for each party, and {BROKER} for Mosquitto.")
    if declaration is None:
        say("The readings that they declare are an example; give your own with --declaration FILE.")
    if budget is None:
        say(f"Each sensor may spend epsilon={limit}, which is enough for {EXAMPLE_WINDOWS} windows.")
    say(StreamPromise(given, to_nano(limit, largest=LARGEST_TOTAL) // given.cost_of(1)).summary())
    say("Move each party's folder to its own machine, and have the two servers run by different people.")


@app.command("sensor")
def sensor(
    config: Config,
    source: Annotated[
        str, typer.Option("--input", metavar="FILE", help="A CSV file, or - for lines on standard input.")
    ] = "-",
    batch: Annotated[
        int | None, typer.Option("--batch", min=1, help="Readings sent at a time; a window if not given.")
    ] = None,
    lines: Lines = False,
) -> None:
    """Perturb readings and send them until there are none left or the budget is spent."""
    from anonymaly.stream.programs.program import run_sensor  # noqa: PLC0415
    from anonymaly.stream.programs.readings import in_batches, read_file, read_lines  # noqa: PLC0415

    def batches(party: Sensor) -> Iterator[Batch]:
        if source != "-":
            return read_file(source, party, batch)
        lines_in = read_lines(sys.stdin, party.declaration.names)
        return in_batches(lines_in, batch or party.declaration.window)

    run_sensor(_load(config, "sensor"), _printer(lines, _say_sensor), batches)


@app.command("detector")
def detector(config: Config, lines: Lines = False) -> None:
    """Find suspects among perturbed readings, until stopped."""
    from anonymaly.stream.programs.program import run_server  # noqa: PLC0415

    run_server(_load(config, "detector"), _printer(lines, _say_suspects))


@app.command("corrector")
def corrector(config: Config, lines: Lines = False) -> None:
    """Correct the suspects by how far readings were moved, until stopped."""
    from anonymaly.stream.programs.program import run_server  # noqa: PLC0415

    run_server(_load(config, "corrector"), _printer(lines, _say_verdict))


@app.command("owner")
def owner(
    config: Config,
    after: Annotated[
        int, typer.Option("--after", min=0, help="Leave out the verdicts up to this number.")
    ] = 0,
    until: Annotated[int | None, typer.Option("--until", min=1, help="End with this verdict.")] = None,
    lines: Lines = False,
) -> None:
    """Print verdicts, those of earlier runs first, until stopped."""
    from anonymaly.stream.programs.program import run_owner  # noqa: PLC0415

    run_owner(_load(config, "owner"), _printer(lines, _say_verdict), after=after, until=until)


@app.command("broker")
def broker(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `stream init` wrote.")],
) -> None:
    """Run a small broker on this machine, to try a stream without Mosquitto; it forgets when it ends."""
    from anonymaly.stream.programs.setup import BROKER  # noqa: PLC0415

    small_broker()(folder / BROKER)


@app.command("demo")
def demo(as_json: AsJson = False) -> None:
    """Run all parties and a broker on this machine for a few windows."""
    from anonymaly.cli.stream_demo import run_demo  # noqa: PLC0415

    small_broker()
    run_demo(as_json)


def small_broker() -> Callable[[Path], None]:
    """Return the small broker, if what it needs is installed."""
    require("broker", "The small broker")
    from anonymaly.stream.programs.broker import run_broker  # noqa: PLC0415

    return run_broker


def _load(path: Path, role: Role) -> LoadedConfig:
    from anonymaly.stream.programs.config import PartyConfig  # noqa: PLC0415

    loaded = PartyConfig.load(path)
    if loaded.config.party != role:
        raise InputError(
            f"{path} is the file of {loaded.config.address}",
            field="config",
            next_step=f"Give the {role}'s, or run: anonymaly stream {loaded.config.party}",
        )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("anonymaly.stream")
    logger.setLevel(logging.INFO)
    logger.handlers[:] = [handler]
    return loaded


def _printer(lines: bool, words: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], None]:
    def print_event(event: dict[str, Any]) -> None:
        print(json.dumps(event) if lines else words(event), flush=True)

    return print_event


def _say_sensor(event: dict[str, Any]) -> str:
    return (
        f"{event['sensor']}: {event['readings']:,} readings {event['event']}, "
        f"epsilon {event['spent']:g} spent, {event['remaining']:g} left, "
        f"{event['unacknowledged']} messages on their way"
    )


def _say_suspects(event: dict[str, Any]) -> str:
    return (
        f"{event['sensor']}, window {event['window']}: {event['readings']:,} readings, "
        f"{event['suspects']:,} suspects"
    )


def _say_verdict(event: dict[str, Any]) -> str:
    about = f"{event['sensor']}, window {event['window']}"
    if not event["complete"]:
        return f"{about}: the servers received windows of different length; nothing can be judged"
    text = (
        f"{about}: look at {event['found']:,} of {event['readings']:,} readings "
        f"({event['confirmed']:,} confirmed, {event['inward']:,} inward, "
        f"{event['covered'] + event['covered_far']:,} covered)"
    )
    places = event.get("look_at", [])
    shown = ", ".join(map(str, places[:20])) + (", …" if len(places) > 20 else "")
    return f"{text}: {shown}" if places else text
