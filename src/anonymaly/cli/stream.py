# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream``: the four parties as programs, their keys and settings, and a broker to try them."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from anonymaly.cli.output import AsJson
from anonymaly.cli.stream_readings import say_reading, say_request
from anonymaly.core.extras import require
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.stream.programs.config import LoadedConfig, Role
    from anonymaly.stream.programs.inputs import Inputs
    from anonymaly.stream.programs.readings import Batch

# The programs are an extra. A command imports them when it runs, so that `--help` does not need it.

Form = Literal["csv", "line"]
WhenSpent = Literal["stop", "wait"]
Mqtt = Literal["3.1.1", "5"]
Protocol = Literal["counting", "correction"]

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
    sensors: Annotated[
        int | None,
        typer.Option("--sensors", min=1, metavar="N", help="So many sensors, named by numbers, instead."),
    ] = None,
    protocol: Annotated[
        Protocol | None,
        typer.Option("--protocol", help="Counting if not given; or what the declaration names."),
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
    tls: Annotated[
        bool | None,
        typer.Option("--tls/--no-tls", help="Write certificates; if not given, for other machines' brokers."),
    ] = None,
    mqtt: Annotated[
        Mqtt, typer.Option("--mqtt", help="The version of MQTT; 3.1.1 for the small broker.")
    ] = "5",
    force: Annotated[bool, typer.Option("--force", help="Overwrite, keys included.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write keys, one folder for each party, and an example configuration of Mosquitto."""
    from anonymaly.cli.stream_init import write_folders  # noqa: PLC0415

    write_folders(
        folder, protocol, sensor or [], sensors, declaration, budget, as_json,
        host=host, port=port, prefix=prefix, tls=tls, mqtt=mqtt, force=force,
    )  # fmt: skip


@app.command("sensor")
def sensor(
    config: Config,
    source: Annotated[
        str, typer.Option("--input", metavar="FILE", help="A file, or - for lines on standard input.")
    ] = "-",
    form: Annotated[
        Form | None,
        typer.Option("--format", help="CSV or InfluxDB's line protocol; by the first line if not given."),
    ] = None,
    resume: Annotated[
        bool | None,
        typer.Option(
            "--resume/--new",
            help="Whether a file goes on where readings were sent, or is new, where that cannot be known.",
        ),
    ] = None,
    batch: Annotated[
        int | None, typer.Option("--batch", min=1, help="Readings sent at a time; a window if not given.")
    ] = None,
    when_spent: Annotated[
        WhenSpent, typer.Option("--when-spent", help="Stop when the budget is spent, or wait for more.")
    ] = "stop",
    stay: Annotated[
        bool,
        typer.Option("--stay", help="When all readings have arrived, stay for the owner's requests."),
    ] = False,
    lines: Lines = False,
) -> None:
    """Hide readings and send them until there are none left or the budget is spent."""
    from anonymaly.cli.stream_pool import run_sensor_of_pool  # noqa: PLC0415
    from anonymaly.stream.programs.program import run_sensor  # noqa: PLC0415

    def batches(inputs: Inputs) -> Iterator[Batch]:
        if source == "-":
            return inputs.from_pipe(sys.stdin, form=form)
        return inputs.from_file(source, resume=resume, form=form)

    loaded = load_party(config, "sensor")
    if stay and not loaded.config.keep:
        raise InputError(
            "is for a sensor that keeps readings",
            field="stay",
            next_step="Run `anonymaly stream keep` first.",
        )
    if run_sensor_of_pool(loaded, source, form, lines, stay=stay, wait=when_spent == "wait"):
        return
    run_sensor(
        loaded, printer(lines, _say_sensor), batches, batch, wait=when_spent == "wait", stay=stay
    )  # fmt: skip


@app.command("detector")
def detector(config: Config, lines: Lines = False) -> None:
    """Find suspects among perturbed readings, until stopped."""
    _run_server(load_party(config, "detector"), lines, _say_suspects)


@app.command("corrector")
def corrector(config: Config, lines: Lines = False) -> None:
    """Correct the suspects by how far readings were moved, until stopped."""
    _run_server(load_party(config, "corrector"), lines, _say_verdict)


def _run_server(loaded: LoadedConfig, lines: bool, words: Callable[[dict[str, Any]], str]) -> None:
    from anonymaly.cli.stream_pool import run_server_of_pool  # noqa: PLC0415
    from anonymaly.stream.programs.program import run_server  # noqa: PLC0415

    if not run_server_of_pool(loaded, lines):
        run_server(loaded, printer(lines, words))


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
    from anonymaly.cli.stream_pool import run_owner_of_pool  # noqa: PLC0415
    from anonymaly.stream.programs.program import run_owner  # noqa: PLC0415

    loaded = load_party(config, "owner")
    if run_owner_of_pool(loaded, after, until, lines):
        return
    run_owner(loaded, printer(lines, _say_verdict), after=after, until=until)


@app.command("broker")
def broker(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `stream init` wrote.")],
) -> None:
    """Run a small broker on this machine, to try a stream without Mosquitto; it forgets when it ends."""
    from anonymaly.stream.programs.register import BROKER  # noqa: PLC0415

    small_broker()(folder / BROKER)


@app.command("demo")
def demo(
    protocol: Annotated[Protocol, typer.Option("--protocol", help="Which protocol to show.")] = "counting",
    as_json: AsJson = False,
) -> None:
    """Run all parties and a broker on this machine for a few windows."""
    small_broker()
    from anonymaly.cli.stream_demo import run_demo  # noqa: PLC0415
    from anonymaly.cli.stream_demo_correction import run_correction_demo  # noqa: PLC0415

    if protocol == "counting":
        run_demo(as_json)
    else:
        run_correction_demo(as_json)


def small_broker() -> Callable[[Path], None]:
    """Return the small broker, if what it needs is installed."""
    require("broker", "The small broker")
    from anonymaly.stream.programs.broker import run_broker  # noqa: PLC0415

    return run_broker


def load_party(path: Path, role: Role | Literal["counter"]) -> LoadedConfig:
    """Read a party's file, if it is that role's, and have the party log to standard error."""
    from anonymaly.stream.programs.pool_config import load_config  # noqa: PLC0415

    loaded = load_config(path)
    found = loaded.config.party.partition("-")[0]  # one command runs either counter
    if found != role:
        raise InputError(
            f"{path} is the file of {loaded.config.address}",
            field="config",
            next_step=f"Give the {role}'s, or run: anonymaly stream {found}",
        )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("anonymaly.stream")
    logger.setLevel(logging.INFO)
    logger.handlers[:] = [handler]
    return loaded


def printer(lines: bool, words: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], None]:
    """Return what prints events: as JSON, or in words."""

    def print_event(event: dict[str, Any]) -> None:
        print(json.dumps(event) if lines else words(event), flush=True)

    return print_event


def _say_sensor(event: dict[str, Any]) -> str:
    if event["event"] == "request":
        return say_request(event)
    return (
        f"{event['sensor']}: {event['readings']:,} readings {event['event']}, "
        f"epsilon {event['spent']:g} spent, {event['remaining']:g} left, "
        f"{event['unacknowledged']} messages on their way"
        + (f", {event['beyond']:,} readings beyond their ranges" if event["beyond"] else "")
    )


def _say_suspects(event: dict[str, Any]) -> str:
    return (
        f"{event['sensor']}, window {event['window']}: {event['readings']:,} readings, "
        f"{event['suspects']:,} suspects"
    )


def _say_verdict(event: dict[str, Any]) -> str:
    if event["event"] == "reading":
        return say_reading(event)
    about = f"{event['sensor']}, window {event['window']}"
    if event["event"] == "alarm":
        return f"ALARM: {about}: as {event['reporter']} has seen, it {event['says']}"
    if not event["complete"] and not event["readings"]:
        return f"{about}: given up by the owner; nothing was judged"
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
