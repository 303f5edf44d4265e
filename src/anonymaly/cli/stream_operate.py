# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream``: what it takes to run one: sensors, keys, declarations, budgets, lost windows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from anonymaly.cli.output import AsJson, say, say_json
from anonymaly.cli.stream import Config, app, load_party
from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano, to_text
from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import InputError
from anonymaly.ledger import Ledger

if TYPE_CHECKING:
    from anonymaly.stream.programs.inputs import ReadingOrigin

# The programs are an extra. A command imports them when it runs, so that `--help` does not need it.

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `stream init` wrote.")]
Name = Annotated[str, typer.Option("--sensor", metavar="NAME", help="The sensor.")]
Why = Annotated[str, typer.Option("--reason", help="Why; it is kept.")]
Declared = Annotated[
    Path, typer.Option("--declaration", metavar="FILE", help="What is public about the readings, as YAML.")
]
Every = Literal["day", "week", "month", "year"]
A_YEAR = {"day": 365, "week": 53, "month": 12, "year": 1}  # how many periods a year touches at most, but leap


@app.command("add-sensor")
def add_sensor(
    folder: Folder,
    sensor: Name,
    budget: Annotated[str, typer.Option("--budget", help="The most epsilon that it may spend.")],
    declaration: Annotated[
        Path | None,
        typer.Option("--declaration", metavar="FILE", help="As YAML; as the newest sensor's if not given."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a sensor; nobody else gets a new key."""
    from anonymaly.stream.programs import changes  # noqa: PLC0415
    from anonymaly.stream.programs.setup import public_facts  # noqa: PLC0415

    declared = None if declaration is None else public_facts(_read(declaration))
    say_changed(changes.add_sensor(folder, sensor, budget=budget, declaration=declared), folder, as_json)


@app.command("retire-sensor")
def retire_sensor(folder: Folder, sensor: Name, as_json: AsJson = False) -> None:
    """Shut a sensor out for good: its key, its password and its topics."""
    from anonymaly.stream.programs import changes  # noqa: PLC0415

    say_changed(changes.retire_sensor(folder, sensor), folder, as_json)


@app.command("rotate-key")
def rotate_key(
    folder: Folder,
    party: Annotated[str, typer.Argument(metavar="PARTY", help="Such as detector, or sensor/room-1.")],
    as_json: AsJson = False,
) -> None:
    """Give a party a new key, password and certificate; the old ones are worth nothing from then on."""
    from anonymaly.stream.programs import changes  # noqa: PLC0415

    say_changed(changes.rotate_key(folder, party), folder, as_json)


@app.command("declare")
def declare(
    folder: Folder,
    declaration: Declared,
    reason: Why,
    learned: Annotated[
        bool,
        typer.Option(
            "--learned-from-readings/--not-learned-from-readings",
            help="Whether it was learned from the readings that are protected.",
        ),
    ],
    sensor: Annotated[
        str | None, typer.Option("--sensor", metavar="NAME", help="The sensor; none for a pool.")
    ] = None,
    from_window: Annotated[
        int | None,
        typer.Option(
            "--from-window",
            min=1,
            metavar="W",
            help="Of a pool: the first window, a multiple of both periods.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Declare readings anew, under the same accounts: a sensor's from its next window on, or a pool's."""
    from anonymaly.cli.stream_pool import declare_pool  # noqa: PLC0415
    from anonymaly.stream.programs import changes  # noqa: PLC0415

    if changes.is_pool(folder):
        facts, words, changed = declare_pool(folder, sensor, declaration, from_window, reason, learned)
        if not as_json:
            for line in words:
                say(line)
        say_changed(changed, folder, as_json, **facts)
        return
    if from_window is not None:
        raise InputError(
            "is for a pool: a sensor's next window is its own", field="from_window", next_step="Leave it out."
        )
    if sensor is None:
        raise InputError("is required", field="sensor", next_step="Say whose readings are declared anew.")
    window, changed = changes.declare_anew(
        folder, sensor, _read(declaration), reason=reason, learned_from_readings=learned
    )
    if not as_json:
        say(f"{sensor}: the new declaration holds from window {window} on; what was spent stays spent.")
    say_changed(changed, folder, as_json, window=window)


@app.command("update")
def update(folder: Folder, as_json: AsJson = False) -> None:
    """Bring the parties' and the broker's files of a folder in line with the stream.yaml beside them."""
    from anonymaly.stream.programs.register import Register, update_folder  # noqa: PLC0415

    say_changed(update_folder(folder, Register.load(folder)), folder, as_json)


@app.command("budget")
def budget(
    config: Config,
    reason: Why,
    to: Annotated[str | None, typer.Option("--to", help="Raise the budget to this epsilon.")] = None,
    more: Annotated[
        str | None, typer.Option("--more", help="Raise it so that this much epsilon is left.")
    ] = None,
    every: Annotated[
        Every | None, typer.Option("--every", help="How often this is run; says what a year comes to.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Raise a sensor's budget, also while it runs; the ledger keeps when and why, and what was spent."""
    if (to is None) == (more is None):
        raise InputError("needs one of --to and --more", field="to", next_step="Give one of them.")
    loaded = load_party(config, "sensor")
    name = loaded.config.name or ""
    with Ledger.open(loaded.ledger, anchor=loaded.anchor, create=False) as book:
        account = book.account(name)
        if to is not None:
            wanted = to_nano(to, field="to", largest=LARGEST_TOTAL)
        else:
            wanted = account.spent + to_nano(more or "", field="more", largest=LARGEST_TOTAL)
        if wanted > account.limit or to is not None:
            account = book.raise_limit(name, wanted, reason=reason)
    shown: dict[str, Any] = {
        "sensor": name, "budget": to_text(account.limit), "spent": to_text(account.spent),
        "remaining": to_text(account.remaining),
    }  # fmt: skip
    if every is not None and more is not None:
        shown["a_year"] = to_text(A_YEAR[every] * to_nano(more, largest=LARGEST_TOTAL))
    if as_json:
        say_json(shown)
        return
    say("{sensor}: ε = {spent} of {budget} spent, {remaining} left.".format(**shown))
    if "a_year" in shown:
        say(f"ε = {more} every {every} is up to ε = {shown['a_year']} a year for one person's readings.")


@app.command("origin")
def origin(
    config: Config,
    window: Annotated[int, typer.Option("--window", min=0, help="The window, as the verdict names it.")],
    places: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="PLACE…", help="Places in it, counted from 0; none for a pool.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which line, and of what time, readings of a verdict were; on the sensor, while it is stopped."""
    from anonymaly.cli.stream_pool import origin_in_pool  # noqa: PLC0415
    from anonymaly.stream.programs.inputs import origins  # noqa: PLC0415
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415

    loaded = load_party(config, "sensor")
    if isinstance(loaded, LoadedPool):
        item = origin_in_pool(loaded, window, places or [])
        if as_json:
            say_json({"window": window, "reading": None if item is None else vars(item)})
        else:
            say(f"window {window}: {_say_origin(item)}")
        return
    if not places:
        raise InputError("are required", field="places", next_step="Give those that the verdict names.")
    with loaded.make_sensor() as party:
        found = origins(party, window, places)
    shown = [{"place": place, **({} if item is None else vars(item))} for place, item in found.items()]
    if as_json:
        say_json({"window": window, "readings": shown})
        return
    for place, item in found.items():
        say(f"{place}: {_say_origin(item)}")


def _say_origin(item: ReadingOrigin | None) -> str:
    if item is None:
        return "not known"
    return f"line {item.line} of {item.input}" + (f", time {item.time}" if item.time else "")


@app.command("skip")
def skip(
    config: Config,
    reason: Why,
    sensor: Annotated[
        str | None, typer.Option("--sensor", metavar="NAME", help="The sensor; none for a pool.")
    ] = None,
    window: Annotated[int | None, typer.Option("--window", min=0, help="Give up this window alone.")] = None,
    until: Annotated[
        int | None,
        typer.Option("--until", min=1, help="Give up all before this window."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Give up windows that will never be finished; by the owner, whose program is stopped meanwhile."""
    from anonymaly.cli.stream_pool import skip_of_pool  # noqa: PLC0415

    loaded = load_party(config, "owner")
    facts = skip_of_pool(loaded, sensor, window, until, reason)
    if facts is None:
        if (window is None) == (until is None):
            raise InputError(
                "needs one of --window and --until", field="window", next_step="Give one of them."
            )
        if sensor is None:
            raise InputError("is required", field="sensor", next_step="Say whose windows to give up.")
        first, last = (0, until - 1) if until is not None else (window or 0, window or 0)
        with loaded.make_owner() as party:
            before = sum(1 for _ in party.verdicts())
            party.skip(sensor, first, last, reason=reason)
            given_up = sum(1 for _ in party.verdicts()) - before
        facts = {"sensor": sensor, "first": first, "last": last, "given_up": given_up, "reason": reason}
    if as_json:
        say_json(facts)
        return
    of = facts.get("sensor", facts.get("pool"))
    say(
        f"{of}: {facts['given_up']:,} windows from {facts['first']} to {facts['last']} had no verdict and "
        "are given up."
    )
    say("The servers hear of it as soon as `anonymaly stream owner` runs again.")


def _read(path: Path) -> Any:
    from anonymaly.stream.protocol.declaration import StreamDeclaration  # noqa: PLC0415

    return StreamDeclaration.read(read_yaml(path, "Declare columns, epsilon, window and layer."))


def say_changed(changed: list[Path], folder: Path, as_json: bool, **facts: Any) -> None:
    """Say which files of a folder changed, and what is to do then."""
    names = [str(path.relative_to(folder)) for path in dict.fromkeys(changed)]
    if as_json:
        say_json({"changed": names, **facts})
        return
    say(f"Changed in {folder}: {', '.join(names)}.")
    say(
        "Parties read their files when they start, the broker when it gets SIGHUP. Where folders were moved, "
        "copy stream.yaml beside them and run: anonymaly stream update DIR"
    )
