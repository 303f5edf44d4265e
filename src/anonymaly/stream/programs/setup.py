# SPDX-License-Identifier: Apache-2.0
"""What a stream's parties need to start: keys, passwords, access lists, a folder for each."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from anonymaly.core.epsilon import LARGEST_TOTAL, Number, to_nano, to_text
from anonymaly.declare.domain import Interval
from anonymaly.errors import InputError
from anonymaly.stream.programs.config import Role, peers_of
from anonymaly.stream.programs.keys import key_content, public_text, write_secret
from anonymaly.stream.programs.mosquitto import AccessList, configuration, password_line
from anonymaly.stream.programs.seal import LARGEST_SEALED
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from anonymaly.stream.protocol.encoding import read_name

BROKER = "broker"
CONFIG = "config.yaml"
_KEY, _PASSWORD = "private.key", "broker.password"
_TOPIC_BYTES = 500  # what a packet has beside its message


def example_declaration() -> StreamDeclaration:
    """Return a stream to try out: a room's temperature, sixteen readings to a window."""
    celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1, scale=1)
    return StreamDeclaration(
        columns=[celsius],
        epsilon="5",
        window=16,
        layer=30,
        model="radius",
        parameters={"radius": 25},
        least_suspects=3,
    )


def folder_of(address: str) -> str:
    """Return the name of a party's folder.

    Examples
    --------
    >>> folder_of("sensor/room-1"), folder_of("detector")
    ('sensor-room-1', 'detector')
    """
    return address.replace("/", "-")


def set_up(
    folder: Path,
    sensors: Sequence[str],
    declaration: StreamDeclaration,
    *,
    budget: Number,
    host: str = "127.0.0.1",
    port: int = 1883,
    prefix: str = "anonymaly",
    force: bool = False,
) -> list[Path]:
    """Write the broker's files and one folder for each party; return all that was written.

    Examples
    --------
    >>> written = set_up(folder / "rooms", ["room-1"], example_declaration(), budget=1000)
    >>> [str(path.relative_to(folder / "rooms")) for path in written if path.suffix == ".yaml"]
    ['corrector/config.yaml', 'detector/config.yaml', 'owner/config.yaml', 'sensor-room-1/config.yaml']
    """
    names = [read_name(name) for name in sensors]
    if not names or len(set(names)) < len(names):
        raise InputError("must name each sensor once", field="sensor", next_step="Give at least one.")
    limit = to_text(to_nano(budget, field="budget", largest=LARGEST_TOTAL))
    roles: dict[str, Role] = {"corrector": "corrector", "detector": "detector", "owner": "owner"}
    roles |= {f"sensor/{name}": "sensor" for name in names}
    keys = {address: X25519PrivateKey.generate() for address in roles}
    passwords = {address: _random_text() for address in roles}
    peers = {address: peers_of(role, names) for address, role in roles.items()}

    files: dict[Path, bytes] = {}
    for address, role in roles.items():
        place = folder / folder_of(address)
        streams = [address.removeprefix("sensor/")] if role == "sensor" else names
        files[place / _KEY] = key_content(keys[address])
        files[place / _PASSWORD] = passwords[address].encode()
        files[place / CONFIG] = _config(
            address, role, {peer: public_text(keys[peer]) for peer in peers[address]}, streams, declaration,
            limit, {"host": host, "port": port, "username": address, "password": _PASSWORD, "prefix": prefix},
        ).encode()  # fmt: skip
    salt = ChaCha20Poly1305.generate_key
    lines = [password_line(address, password, salt()[:12]) for address, password in passwords.items()]
    files[folder / BROKER / "passwords"] = "\n".join([*lines, ""]).encode()
    files[folder / BROKER / "access"] = f"{AccessList.of(prefix, peers)}\n".encode()
    files[folder / BROKER / "mosquitto.conf"] = configuration(port, LARGEST_SEALED + _TOPIC_BYTES).encode()
    _write(folder, files, force=force)
    return sorted(files)


def _write(folder: Path, files: dict[Path, bytes], *, force: bool) -> None:
    there = sorted(str(path.relative_to(folder)) for path in files if path.exists())
    if there and not force:
        raise InputError(
            f"{folder} has {there[0]}" + (f" and {len(there) - 1} more" if len(there) > 1 else ""),
            field="DIR",
            next_step="Give another folder, or --force: new keys shut out every party that has the old ones.",
        )
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_secret(path, content, force=force)
    except OSError as problem:
        raise InputError(
            f"cannot write to {folder} ({type(problem).__name__})",
            field="DIR",
            next_step="Give a folder that you may write to.",
        ) from None


def _random_text() -> str:
    return base64.urlsafe_b64encode(ChaCha20Poly1305.generate_key()).decode().rstrip("=")


def _config(
    address: str,
    role: Role,
    peers: dict[str, str],
    streams: list[str],
    declaration: StreamDeclaration,
    budget: str,
    broker: dict[str, str | int],
) -> str:
    parts = [
        f"# What {address} needs, and nothing that another party keeps to itself. Move this folder to its",
        "# own machine and keep no copy: the promise rests on different people running the two servers.",
        _yaml({"party": role} | ({"name": streams[0]} if role == "sensor" else {})),
        _yaml({"key": _KEY, "journal": f"{role}.journal"}),
    ]
    if role == "sensor":
        parts += [
            "# The most epsilon that all readings together may cost; then the sensor stops and says so.",
            _yaml({"budget": budget, "ledger": "sensor.ledger"}),
        ]
    parts += [
        "# Add `tls: FILE` with the broker's certificate authority beyond one machine.",
        _yaml({"broker": broker}),
        _yaml({"peers": peers}),
        "# What is public, from historical data or knowledge of what is measured, never from these readings;",
        "# the same for every party.",
        _yaml({"streams": {name: _public(declaration) for name in streams}}),
    ]
    return "\n".join(parts)


def _public(declaration: StreamDeclaration) -> dict[str, Any]:
    facts = declaration.model_dump(mode="json", exclude_none=True)
    # Written although it may be the default: whoever runs the corrector should see it.
    return facts | {"least_suspects": declaration.least_suspects}


def _yaml(data: object) -> str:
    return yaml.safe_dump(data, sort_keys=False, width=10_000).rstrip("\n")
