# SPDX-License-Identifier: Apache-2.0
"""``anonymaly demo --serve``: the console on built-in tables, with a key for each role, until stopped."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from anonymaly.ask.curator import Curator
from anonymaly.cli.output import say
from anonymaly.core.epsilon import to_nano
from anonymaly.core.extras import require
from anonymaly.datasets import FOLDER, census, salaries
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.rules import AnomalyModel, Policy, SameContexts

TABLES = 2
BUDGET = "4"
GRANTED = "2"
STARTS_WITHIN_SECONDS = 120.0
PEOPLE = (("ann", "analyst"), ("carl", "auditor"))


def serve_demo(port: int | None) -> None:
    """Serve the built-in tables on this machine; what is asked is gone when it ends."""
    require("server", "A server")
    from anonymaly.server.run import serve  # noqa: PLC0415  (--help needs no database)

    with tempfile.TemporaryDirectory(prefix="anonymaly-demo-") as name:
        folder = Path(name)
        for dataset, cited in _tables():
            _declare(dataset, cited, folder)
        keys = _make_people(folder)
        serve(folder, {"port": port}, None, lambda text: _welcome(text, folder, keys))


def _tables() -> tuple[tuple[Dataset, dict[str, int | bool]], ...]:
    """Return the tables, each with the rules that the analyst may cite."""
    rare = AnomalyModel(["age", "hours_per_week"], radius=5, beta=100)
    modest = Policy("income == '<=50K' and age >= 18")
    people = census(rules={"rare": rare, "modest": modest})
    return (people, {"any": True}), (salaries(rules={"groups": SameContexts()}), {"groups": 10})


def _declare(dataset: Dataset, cited: dict[str, int | bool], folder: Path) -> None:
    """Write a table's declaration, and grant the analyst half of its budget."""
    from anonymaly.server.published import plain  # noqa: PLC0415

    declared: dict[str, Any] = {name: item for name, item in plain(dataset.declaration).items() if item}
    declared |= {"source": str(FOLDER / f"{dataset.name}.parquet"), "budget": BUDGET}
    place = folder / f"{dataset.name}.yaml"
    place.write_text(yaml.safe_dump(declared, sort_keys=False), "utf-8")
    curator = Curator.open(place)
    curator.accountant.open()
    terms = {"terms": 1, "total": to_nano(GRANTED, field="epsilon"), "rules": cited}
    curator.accountant.ledger.grant(
        dataset.name, "ann", limit=None, terms=terms, by="owner", reason="the demonstration"
    )
    curator.close()


def _make_people(folder: Path) -> dict[str, str]:
    """Make a key for each role; return them by whom they are of."""
    from anonymaly.server.people import NewKey, first_owner_key, make_key  # noqa: PLC0415
    from anonymaly.server.state import State  # noqa: PLC0415

    found: dict[str, str] = {}
    os.umask(0o077)
    state = State.open(folder / "server.db", create=True)
    first_owner_key(state, lambda key: found.update({"owner (owner)": key.text}))
    with state.write() as connection:
        for person, role in PEOPLE:
            made, _ = make_key(state, connection, NewKey.read({"person": person, "role": role}))
            found[f"{person} ({role})"] = made.text
    state.close()
    return found


def _welcome(text: str, folder: Path, keys: dict[str, str]) -> None:
    """Say where the console is and how to get in, once the tables are there."""
    address = text.rpartition(" at ")[2]
    say(f"Starting the console at {address} …")
    threading.Thread(target=_when_ready, args=(address, folder, keys), daemon=True).start()


def _when_ready(address: str, folder: Path, keys: dict[str, str]) -> None:
    from anonymaly.server.published import list_tables  # noqa: PLC0415
    from anonymaly.server.state import State  # noqa: PLC0415

    state, until = State.open(folder / "server.db"), time.monotonic() + STARTS_WITHIN_SECONDS
    while sum(table.ready for table in list_tables(state)) < TABLES and time.monotonic() < until:
        time.sleep(0.1)
    state.close()
    say(f"The console is at {address}: two public tables, real noise, a real ledger. Ctrl-C ends it.")
    say("Log in with one of these keys, which count on this machine and until then:\n")
    for who, key in keys.items():
        say(f"  {who:<15} {key}")
    say("")
    if sys.stdout.isatty():  # somebody sits before a screen
        with suppress(webbrowser.Error):
            webbrowser.open(address)
