# SPDX-License-Identifier: Apache-2.0
"""Changes to a stream that runs: a sensor more, a sensor less, a new key; nobody else needs a new one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from anonymaly.core.epsilon import LARGEST_TOTAL, Number, to_nano, to_text
from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import DeclarationChanged, InputError
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.pool_declarations import EarlierDeclaration, PoolDeclarations
from anonymaly.stream.programs.config import LoadedConfig, PartyConfig
from anonymaly.stream.programs.keys import key_content, public_text
from anonymaly.stream.programs.pool_config import read_pool
from anonymaly.stream.programs.pool_setup import pool_config_text, pool_facts
from anonymaly.stream.programs.register import (
    ADVICE,
    CONFIG,
    Register,
    replace,
    replace_config,
    update_folder,
)
from anonymaly.stream.programs.setup import (
    AUTHORITY,
    KEY,
    PASSWORD,
    config_text,
    folder_of,
    hashed,
    party_certificates,
    public_facts,
    random_text,
    write_files,
)
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.encoding import read_name
from anonymaly.stream.protocol.owner import check_reason
from anonymaly.stream.protocol.pool import read_sensors
from anonymaly.stream.protocol.sensor import Sensor


def add_sensor(
    folder: Path, name: str, *, budget: Number, declaration: Mapping[str, Any] | None = None
) -> list[Path]:
    """Add a sensor with a folder of its own; declared as given, or as the newest sensor is."""
    register = Register.load(folder)
    address = f"sensor/{read_name(name)}"
    if name in register.streams:
        raise InputError(
            f"{name} is {'retired' if name in register.retired else 'there'}, and its name stays its own",
            field="sensor",
            next_step="Give another name: windows and charges go by it.",
        )
    if register.pool is not None and declaration is not None:
        raise InputError(
            "is the same for all sensors of a pool", field="declaration", next_step="Leave it out."
        )
    limit = to_text(to_nano(budget, field="budget", largest=LARGEST_TOTAL))
    like = next(reversed(register.sensors or list(register.streams)))
    stream = dict(declaration) if declaration is not None else register.streams[like]
    servers = register.servers
    key, password = X25519PrivateKey.generate(), random_text()
    talks = {party: list(others) for party, others in register.talks.items()} | {address: list(servers)}
    for server in servers:
        talks[server] = sorted({*talks[server], address})
    changed = register.changed(
        keys=register.keys | {address: public_text(key)},
        passwords=register.passwords | {address: hashed(address, password)},
        talks=talks,
        streams=register.streams | {name: stream},
    )
    place = folder / folder_of(address)
    certificates = party_certificates(folder / AUTHORITY, address) if "tls" in register.broker else {}
    peers = {server: register.keys[server] for server in servers}
    config = (
        config_text(address, "sensor", peers, {name: stream}, register.broker, budget=limit)
        if register.pool is None
        else pool_config_text(changed, address, "sensor", limit)
    )
    files = {
        place / KEY: key_content(key),
        place / PASSWORD: password.encode(),
        place / CONFIG: config.encode(),
        **{place / file: content for file, content in certificates.items()},
    }
    write_files(folder, files, force=False)
    return sorted(files) + update_folder(folder, changed)


def retire_sensor(folder: Path, name: str) -> list[Path]:
    """Shut a sensor out: nobody takes anything of it any more, and the broker does not let it in."""
    register = Register.load(folder)
    if name not in register.sensors:
        raise InputError(
            f"{name} is not among the sensors",
            field="sensor",
            next_step=f"Give one of: {', '.join(register.sensors) or 'none is left'}.",
        )
    if register.pool is not None:
        least = read_pool(register.pool).windows.least_sensors
        read_sensors(register.streams, least, {*register.retired, name})  # or no window would be counted
    address = f"sensor/{name}"
    talks = {
        party: [peer for peer in others if peer != address]
        for party, others in register.talks.items()
        if party != address
    }
    without = {field: dict(getattr(register, field)) for field in ("keys", "passwords")}
    for entries in without.values():
        entries.pop(address, None)
    return update_folder(folder, register.changed(talks=talks, retired=[*register.retired, name], **without))


def is_pool(folder: Path) -> bool:
    """Say whether a folder's stream is a pool, whose declaration is the same for all sensors."""
    return Register.load(folder).pool is not None


def counted_pool(register: Register) -> CountingDeclaration:
    """Return what is declared of a pool of counting: one of correction is declared once and for all."""
    pool = read_pool(register.pool or {})
    if not isinstance(pool, CountingDeclaration):
        raise InputError(
            "is a pool of correction, which cannot be declared anew",
            field="DIR",
            next_step="Set up another pool with `anonymaly stream init`: it has accounts of its own.",
        )
    return pool


def declare_anew(
    folder: Path, name: str, declaration: StreamDeclaration, *, reason: str, learned_from_readings: bool
) -> tuple[int, list[Path]]:
    """Declare a sensor's readings anew; return the first window of which it holds, and what changed."""
    register = Register.load(folder)
    path = folder / folder_of(f"sensor/{name}") / CONFIG
    if name not in register.sensors or not path.exists():
        raise InputError(
            f"{path.parent} is not here" if name in register.sensors else f"{name} is not among the sensors",
            field="sensor",
            next_step="Run this where the sensor's folder is, with a copy of stream.yaml beside it.",
        )
    loaded = PartyConfig.load(path)
    before, after = register.streams[name], public_facts(declaration)
    with _opened(loaded, declaration) as sensor:
        window = sensor.amend(declaration, reason=reason, learned_from_readings=learned_from_readings)
    earlier = dict(register.earlier)
    if before != after:
        earlier[name] = [*earlier.get(name, []), {"until": max(1, window), "declared": before}]
    data = dict(read_yaml(path, ADVICE)) | {"streams": {name: after}}
    replace_config(path, data)
    changed = register.changed(streams=register.streams | {name: after}, earlier=earlier)
    return window, [path, *update_folder(folder, changed)]


def declare_pool_anew(
    folder: Path, declaration: CountingDeclaration, *, window: int, reason: str, learned_from_readings: bool
) -> list[Path]:
    """Declare a pool anew from a window on; return what changed.

    Sensors enter it in their ledgers when they start. Saying the same again changes nothing more.
    """
    register = Register.load(folder)
    check_reason(reason)
    before, after = counted_pool(register), pool_facts(declaration)
    earlier = [EarlierDeclaration.read(change) for change in register.earlier.get(before.pool, [])]
    if declaration == before:
        if not earlier or earlier[-1].until != window:
            raise InputError(
                "is what is declared already", field="declaration", next_step="Give another declaration."
            )
        return update_folder(folder, register)
    change = EarlierDeclaration(
        until=window, declared=before, reason=reason, learned_from_readings=learned_from_readings
    )
    changes = [*earlier, change]
    PoolDeclarations(declaration, changes)
    read_sensors(register.streams, declaration.windows.least_sensors, register.retired)
    kept = [item.model_dump(mode="json") | {"declared": pool_facts(item.declared)} for item in changes]
    return update_folder(folder, register.changed(pool=after, earlier={before.pool: kept}))


def _opened(loaded: LoadedConfig, declaration: StreamDeclaration) -> Sensor:
    """Open a sensor under the declaration in force, be it the new one because an earlier try was cut off."""
    try:
        return loaded.make_sensor()
    except DeclarationChanged:
        return loaded.make_sensor(declaration)


def rotate_key(folder: Path, address: str) -> list[Path]:
    """Give a party a new key, password and certificate; the old ones are worth nothing from then on.

    What was sealed for the old key is sealed anew: journals keep messages until they are acknowledged.
    """
    register = Register.load(folder)
    if address not in register.talks:
        raise InputError(
            f"{address} is no party of this stream",
            field="party",
            next_step=f"Give one of: {', '.join(register.talks)}.",
        )
    place = folder / folder_of(address)
    if not (place / CONFIG).exists():
        raise InputError(
            f"{place} is not here",
            field="DIR",
            next_step="Run this where the party's folder is, with a copy of stream.yaml beside it.",
        )
    key, password = X25519PrivateKey.generate(), random_text()
    files = {place / KEY: key_content(key), place / PASSWORD: password.encode()}
    if "tls" in register.broker and (folder / AUTHORITY).exists():
        certificates = party_certificates(folder / AUTHORITY, address)
        files |= {place / name: content for name, content in certificates.items()}
    for path, content in files.items():
        replace(path, content)
    changed = register.changed(
        keys=register.keys | {address: public_text(key)},
        passwords=register.passwords | {address: hashed(address, password)},
    )
    return sorted(files) + update_folder(folder, changed)
