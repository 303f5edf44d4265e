# SPDX-License-Identifier: Apache-2.0
"""What a stream's parties need to start: keys, passwords, access lists, a folder for each."""

from __future__ import annotations

import base64
import getpass
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from anonymaly.core.epsilon import LARGEST_TOTAL, Number, to_nano, to_text
from anonymaly.declare.domain import Interval
from anonymaly.errors import InputError
from anonymaly.stream.programs.certificates import CERTIFICATE, Authority
from anonymaly.stream.programs.certificates import KEY as AUTHORITY_KEY
from anonymaly.stream.programs.client import Version
from anonymaly.stream.programs.config import Role, peers_of
from anonymaly.stream.programs.keys import key_content, public_text, write_secret
from anonymaly.stream.programs.mosquitto import configuration, password_line
from anonymaly.stream.programs.register import BROKER, CONFIG, REGISTER, Register
from anonymaly.stream.programs.seal import LARGEST_SEALED
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from anonymaly.stream.protocol.encoding import read_name

AUTHORITY = "authority"
KEY, PASSWORD = "private.key", "broker.password"
TOPIC_BYTES = 500  # what a packet has beside its message


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
    tls: bool = False,
    mqtt: Version = "3.1.1",
    force: bool = False,
) -> list[Path]:
    """Write the broker's files, the register and one folder for each party; return all that was written.

    Examples
    --------
    >>> written = set_up(folder / "rooms", ["room-1"], example_declaration(), budget=1000)
    >>> [str(path.relative_to(folder / "rooms")) for path in written if path.name == "config.yaml"]
    ['corrector/config.yaml', 'detector/config.yaml', 'owner/config.yaml', 'sensor-room-1/config.yaml']
    """
    names = [read_name(name) for name in sensors]
    if not names or len(set(names)) < len(names):
        raise InputError("must name each sensor once", field="sensor", next_step="Give at least one.")
    limit = to_text(to_nano(budget, field="budget", largest=LARGEST_TOTAL))
    roles: dict[str, Role] = {"corrector": "corrector", "detector": "detector", "owner": "owner"}
    roles |= {f"sensor/{name}": "sensor" for name in names}
    streams = {name: public_facts(declaration) for name in names}

    def files_of(address: str, register: Register) -> dict[str, bytes]:
        role = roles[address]
        text = config_text(
            address,
            role,
            {peer: register.keys[peer] for peer in register.talks[address]},
            {address.removeprefix("sensor/"): public_facts(declaration)} if role == "sensor" else streams,
            register.broker,
            budget=limit,
        )
        return {CONFIG: text.encode()}

    return write_parties(
        folder,
        {"host": host, "port": port, "prefix": prefix, "mqtt": mqtt},
        {address: peers_of(role, names) for address, role in roles.items()},
        files_of,
        servers=peers_of("sensor", names),
        streams=streams,
        tls=tls,
        force=force,
    )


def write_parties(
    folder: Path,
    broker: dict[str, Any],
    talks: dict[str, list[str]],
    files_of: Callable[[str, Register], Mapping[str, bytes]],
    *,
    servers: list[str],
    streams: dict[str, dict[str, Any]],
    pool: dict[str, Any] | None = None,
    tls: bool,
    force: bool,
) -> list[Path]:
    """Give every party a key and a password, and write its folder, the broker's files and the register.

    Parameters
    ----------
    folder
        Where to write.
    broker
        Where the broker is.
    talks
        Each party's address → those that it talks to.
    files_of
        Returns what else the folder of an address holds, by the names of the files.
    servers, streams, pool
        What else the register says.
    tls
        Whether the broker speaks TLS, so that certificates are written, too.
    force
        Whether files that are there are replaced.
    """
    keys = {address: X25519PrivateKey.generate() for address in talks}
    passwords = {address: random_text() for address in talks}
    if tls:
        broker = broker | {"tls": CERTIFICATE, "certificate": "client.crt", "certificate_key": "client.key"}
    register = Register(
        broker=broker,
        keys={address: public_text(key) for address, key in keys.items()},
        passwords={address: hashed(address, password) for address, password in passwords.items()},
        talks=talks,
        servers=servers,
        streams=streams,
        pool=pool,
    )
    files: dict[Path, bytes] = {folder / REGISTER: register.text().encode()}
    for address in talks:
        place = folder / folder_of(address)
        files[place / KEY] = key_content(keys[address])
        files[place / PASSWORD] = passwords[address].encode()
        files |= {place / name: content for name, content in files_of(address, register).items()}
    lines = [line for _, line in sorted(register.passwords.items())]
    files[folder / BROKER / "passwords"] = "\n".join([*lines, ""]).encode()
    files[folder / BROKER / "access"] = f"{register.access}\n".encode()
    largest, everywhere = LARGEST_SEALED + TOPIC_BYTES, not is_local(broker["host"])
    files[folder / BROKER / "mosquitto.conf"] = configuration(
        broker["port"], largest, user=getpass.getuser(), tls=tls, everywhere=everywhere
    ).encode()
    if tls:
        files |= certificates(folder, broker["host"], list(talks))
    write_files(folder, files, force=force)
    return sorted(files)


def is_local(host: str) -> bool:
    """Say whether a broker's address is this machine's own.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("broker.example.org")
    (True, False)
    """
    return host in ("127.0.0.1", "::1", "localhost")


def certificates(folder: Path, host: str, addresses: list[str]) -> dict[Path, bytes]:
    """Return the files of an authority, and what it vouches for."""
    authority = Authority.make(folder.name)
    hosts = (host, "localhost", "127.0.0.1") if is_local(host) else (host,)
    own, served = authority.issued, authority.issue(host, hosts=tuple(dict.fromkeys(hosts)))
    files = {
        folder / AUTHORITY / CERTIFICATE: own.certificate,
        folder / AUTHORITY / AUTHORITY_KEY: own.key,
        folder / BROKER / CERTIFICATE: own.certificate,
        folder / BROKER / "server.crt": served.certificate,
        folder / BROKER / "server.key": served.key,
    }
    for address in addresses:
        place = folder / folder_of(address)
        files |= {place / name: content for name, content in _party_files(authority, address).items()}
    return files


def party_certificates(folder: Path, address: str) -> dict[str, bytes]:
    """Return the files with which a party shows who it is, by the authority of a folder."""
    return _party_files(Authority.load(folder), address)


def _party_files(authority: Authority, address: str) -> dict[str, bytes]:
    issued = authority.issue(address)
    return {
        CERTIFICATE: authority.issued.certificate,
        "client.crt": issued.certificate,
        "client.key": issued.key,
    }


def hashed(address: str, password: str) -> str:
    """Return a party's line of the broker's password file."""
    return password_line(address, password, ChaCha20Poly1305.generate_key()[:12])


def write_files(folder: Path, files: dict[Path, bytes], *, force: bool) -> None:
    """Write secrets, all of them new unless ``force`` says that they may take the place of others."""
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


def random_text() -> str:
    """Return a password of 256 random bits."""
    return base64.urlsafe_b64encode(ChaCha20Poly1305.generate_key()).decode().rstrip("=")


def config_text(
    address: str,
    role: Role,
    peers: dict[str, str],
    streams: dict[str, Any],
    broker: dict[str, Any],
    *,
    budget: str,
) -> str:
    """Return a party's configuration file."""
    parts = [
        f"# What {address} needs, and nothing that another party keeps to itself. Move this folder to its",
        "# own machine and keep no copy: the promise rests on different people running the two servers.",
        _yaml({"party": role} | ({"name": next(iter(streams))} if role == "sensor" else {})),
        _yaml({"key": KEY, "journal": f"{role}.journal"}),
    ]
    if role == "sensor":
        parts += [
            "# The most epsilon that all readings together may cost; then the sensor stops and says so.",
            _yaml({"budget": budget, "ledger": "sensor.ledger"}),
            "# Shows whether the ledger was set back. Better on another disk: give its path there.",
            _yaml({"anchor": "sensor.anchor"}),
        ]
    parts += [
        _yaml({"broker": {"username": address, "password": PASSWORD} | broker}),
        _yaml({"peers": peers}),
        "# What is public, from historical data or knowledge of what is measured, never from these readings;",
        "# the same for every party.",
        _yaml({"streams": streams}),
    ]
    return "\n".join([*parts, ""])


def public_facts(declaration: StreamDeclaration) -> dict[str, Any]:
    """Return a declaration as a configuration has it."""
    facts = declaration.model_dump(mode="json", exclude_none=True)
    # Written although it may be the default: whoever runs the corrector should see it.
    return facts | {"least_suspects": declaration.least_suspects}


def _yaml(data: object) -> str:
    return yaml.safe_dump(data, sort_keys=False, width=10_000).rstrip("\n")
