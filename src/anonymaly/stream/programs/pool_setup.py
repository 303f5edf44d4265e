# SPDX-License-Identifier: Apache-2.0
"""What the parties of a pool need to start: keys, passwords, access lists, a folder for each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anonymaly.core.epsilon import LARGEST_TOTAL, Number, to_nano, to_text
from anonymaly.declare.domain import Interval
from anonymaly.noise import Noise
from anonymaly.stream.counting.check import CHECK_KEY_BYTES
from anonymaly.stream.counting.declaration import CountedColumn, CountingDeclaration
from anonymaly.stream.counting.messages import COUNTERS
from anonymaly.stream.counting.opened_anchor import OpenedAnchor
from anonymaly.stream.programs.client import Version
from anonymaly.stream.programs.pool_config import DeclarationOfPool, pool_peers_of, servers_of
from anonymaly.stream.programs.register import CONFIG, Register, as_yaml
from anonymaly.stream.programs.setup import KEY, PASSWORD, write_parties
from anonymaly.stream.protocol.pool import read_sensors
from anonymaly.stream.protocol.windows import PooledWindows

CHECK_KEY = "check.key"
ANCHOR = "counter.anchor"


def example_pool() -> CountingDeclaration:
    """Return a pool to try out: temperatures of a hundred rooms by the quarter of an hour, from today on.

    One window a day is counted, so that a reading a quarter costs ε = 0.5 a day.
    """
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return CountingDeclaration(
        columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=50)],
        windows=PooledWindows(start=today.isoformat(), seconds=900, lateness=120, least_sensors=100),
        epsilon="0.5",
        period=96,
        share=0.2,
        radius=2,
    )


def set_up_pool(
    folder: Path,
    sensors: Sequence[str],
    declaration: DeclarationOfPool,
    *,
    budget: Number,
    host: str = "127.0.0.1",
    port: int = 1883,
    prefix: str = "anonymaly",
    tls: bool = False,
    mqtt: Version = "3.1.1",
    force: bool = False,
) -> list[Path]:
    """Write the broker's files, the register and a folder for each party; return all that was written."""
    names = read_sensors(sensors, declaration.windows.least_sensors)
    limit = to_text(to_nano(budget, field="budget", largest=LARGEST_TOTAL))
    servers = servers_of(declaration)
    roles = {address: address for address in (*servers, "owner")} | {
        f"sensor/{name}": "sensor" for name in names
    }
    check_key = bytes(Noise.system().uniform(256, CHECK_KEY_BYTES).tolist())

    def files_of(address: str, register: Register) -> dict[str, bytes]:
        role = roles[address]
        files = {CONFIG: pool_config_text(register, address, role, limit).encode()}
        if role in COUNTERS:
            files[CHECK_KEY] = check_key
            files[ANCHOR] = OpenedAnchor.text(role, declaration.pool, check_key)
        return files

    return write_parties(
        folder,
        {"host": host, "port": port, "prefix": prefix, "mqtt": mqtt},
        {address: pool_peers_of(role, names, servers) for address, role in roles.items()},
        files_of,
        servers=list(servers),
        streams={name: {} for name in names},
        pool=pool_facts(declaration),
        tls=tls,
        force=force,
    )


def pool_facts(declaration: DeclarationOfPool) -> dict[str, Any]:
    """Return a declaration as a configuration has it."""
    return declaration.model_dump(mode="json", exclude_none=True)


def pool_config_text(register: Register, address: str, role: str, budget: str) -> str:
    """Return the configuration file of a party of a pool."""
    data: dict[str, Any] = {"party": role}
    if role == "sensor":
        data |= {"name": address.removeprefix("sensor/")}
    data |= {"key": KEY, "journal": f"{role}.journal"}
    if role == "sensor":
        data |= {"budget": budget, "ledger": "sensor.ledger", "anchor": "sensor.anchor"}
    elif role in COUNTERS:
        data |= {"check_key": CHECK_KEY, "anchor": ANCHOR}
    data |= {"broker": {"username": address, "password": PASSWORD} | register.broker}
    head = [
        f"# What {address} needs, and nothing that another party keeps to itself. Move this folder to its",
        "# own machine and keep no copy: the promise rests on different people running the two servers.",
    ]
    return "\n".join([*head, as_yaml(register.bring_in_line(data))])
