# SPDX-License-Identifier: Apache-2.0
"""What `stream_kill.py` and `stream_counting_kill.py` share: kill parties until all is judged, and tell."""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

from rich.console import Console
from rich.table import Table

from anonymaly.stream.programs.processes import Processes


def options_of(description: str | None) -> argparse.ArgumentParser:
    """Return the options of both."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0] if description else None)
    parser.add_argument("--windows", type=int, default=160, help="of all sensors together")
    parser.add_argument("--pause", type=float, default=0.3, help="mean seconds between kills")
    parser.add_argument("--patience", type=float, default=900, help="seconds after which to give up")
    parser.add_argument("--seed", type=int, default=None, help="for the moments of the kills")
    parser.add_argument("--json", action="store_true")
    return parser


def kill_until(
    is_judged: Callable[[], bool],
    processes: Processes,
    sensors: Collection[str],
    options: argparse.Namespace,
    hear: Callable[[dict[str, Any]], None],
    *,
    only_at_work: bool,
) -> dict[str, int]:
    """Kill one process after another, each as often as the others; return how often each was killed.

    It ends when everything is judged and every sensor's readings arrived, or when patience does.

    Parameters
    ----------
    is_judged
        Whether every window has its verdict.
    hear
        Takes what the owner reports.
    only_at_work
        Whether to spare those that are not connected yet, and sensors whose readings arrived.
    """
    generator = random.Random(options.seed)  # noqa: S311 - chooses when to kill, and whom
    kills: Counter[str] = Counter()
    arrived: set[str] = set()
    deck: list[str] = []
    next_kill = time.monotonic()
    give_up = next_kill + options.patience
    while (not is_judged() or arrived != set(sensors)) and time.monotonic() < give_up:
        for event in processes.wait_for_reports(timeout=0.02):
            if event["event"] == "arrived":
                arrived.add(event["sensor"])
            if event["from"] == "owner":
                hear(event)
        deck = deck or generator.sample(processes.addresses, len(processes.addresses))
        if only_at_work:
            deck = [address for address in deck if address.removeprefix("sensor/") not in arrived]
        victims = (address for address in deck if address in processes.ready or not only_at_work)
        victim = next(victims, None)
        if victim is not None and time.monotonic() >= next_kill:
            deck.remove(victim)
            processes.kill(victim)
            processes.start(victim)
            kills[victim] += 1
            next_kill = time.monotonic() + generator.uniform(0, 2 * options.pause)
    return dict(sorted(kills.items()))


def tell(title: str, found: dict[str, object], expected: Collection[str], as_json: bool) -> int:
    """Print what was found; return 1 if a figure is not 0 that should be."""
    wrong = sum(figure for what, figure in found.items() if isinstance(figure, int) and what not in expected)
    if as_json:
        print(json.dumps(found))
    else:
        table = Table(title=title, show_header=False)
        for what, figure in found.items():
            table.add_row(what, str(figure))
        Console().print(table)
    return 1 if wrong else 0
