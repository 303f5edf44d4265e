# SPDX-License-Identifier: Apache-2.0
"""A party starts only with a configuration that gives it its own share and no other."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymaly.errors import AnonymalyError, InputError, ManifestError, Refused
from anonymaly.stream.programs.config import PartyConfig
from anonymaly.stream.programs.keys import public_text, read_key
from anonymaly.stream.programs.mosquitto import AccessList, password_matches
from anonymaly.stream.programs.setup import example_declaration, set_up
from anonymaly.stream.protocol.sensor import Sensor
from tests.stream.programs.by_mqtt import load

PARTIES = ("corrector", "detector", "owner", "sensor-room-1", "sensor-room-2")


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    folder = tmp_path / "stream"
    set_up(folder, ["room-1", "room-2"], example_declaration(), budget="12.5")
    return folder


def change(folder: Path, party: str, edit: Callable[[dict[str, Any]], object]) -> None:
    path = folder / party / "config.yaml"
    data = yaml.safe_load(path.read_text())
    edit(data)
    path.write_text(yaml.safe_dump(data))


def test_what_init_writes_is_what_each_party_takes(stream: Path) -> None:
    for party in PARTIES:
        loaded = load(stream, party)
        loaded.make_party().close()
        for peer, text in loaded.config.peers.items():
            assert text == public_text(read_key(stream / peer.replace("/", "-") / "private.key"))
    assert load(stream, "sensor-room-2").make_sensor().remaining == 12.5


def test_secrets_are_for_their_owner_alone_and_differ(stream: Path) -> None:
    secrets = [path for party in PARTIES for path in (stream / party).glob("*.[kp][ea][ys]*")]
    secrets += [stream / "broker" / "passwords"]
    assert len(secrets) == 2 * len(PARTIES) + 1
    for path in secrets:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert len({path.read_bytes() for path in secrets}) == len(secrets)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_every_file_is_its_owners_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        set_up(tmp_path / "stream", ["room-1"], example_declaration(), budget=1000)
        parties = [
            load(tmp_path / "stream", party).make_party() for party in PARTIES if party != "sensor-room-2"
        ]
        for party in parties:
            if isinstance(party, Sensor):
                party.send([20.0] * 16)
        modes = {
            path.relative_to(tmp_path): stat.S_IMODE(path.stat().st_mode)
            for path in tmp_path.rglob("*")
            if path.is_file()
        }
        for party in parties:
            party.close()
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}, modes
    for name in ("sensor.journal", "sensor.journal-wal", "sensor.ledger", "owner.journal", "config.yaml"):
        assert any(path.name == name for path in modes), name


def test_the_brokers_files_let_each_party_in_and_keep_it_apart(stream: Path) -> None:
    lines = (stream / "broker" / "passwords").read_text().splitlines()
    access = AccessList.parse((stream / "broker" / "access").read_text())
    for party in PARTIES:
        config = load(stream, party).config
        password = (stream / party / "broker.password").read_text()
        assert [password_matches(line, config.address, password) for line in lines].count(True) == 1
        for other in PARTIES:
            theirs = load(stream, other).config.address
            sees = access.allows(config.address, "read", f"anonymaly/{theirs}/from/sensor/room-1")
            assert sees == (theirs == config.address)
            writes = access.allows(config.address, "write", f"anonymaly/{theirs}/from/{config.address}")
            assert writes == (theirs in config.peers)
            assert not access.allows(config.address, "write", f"anonymaly/{theirs}/from/someone")
    assert not access.allows("detector", "read", "#")
    assert not access.allows("detector", "read", "anonymaly/+/from/#")


def test_nothing_is_overwritten_unless_that_is_asked_for(stream: Path) -> None:
    before = {path: path.read_bytes() for path in stream.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="--force"):
        set_up(stream, ["room-9", "room-1"], example_declaration(), budget=1)
    assert {path: path.read_bytes() for path in stream.rglob("*") if path.is_file()} == before
    (stream / "owner" / "private.key").chmod(0o644)
    set_up(stream, ["room-1", "room-2"], example_declaration(), budget=1, force=True)
    assert stat.S_IMODE((stream / "owner" / "private.key").stat().st_mode) == 0o600
    load(stream, "owner")


def _same_key(data: dict[str, Any]) -> None:
    data["peers"]["detector"] = data["peers"]["corrector"]


def _other_user(user: str) -> Callable[[dict[str, Any]], object]:
    return lambda data: data["broker"].update(username=user)


BOTH_SHARES: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("sensor-room-1", _same_key, "have the same key"),
    ("detector", _other_user("corrector"), "user of its own"),
    ("corrector", _other_user("detector"), "user of its own"),
    ("detector", lambda data: data.update(key="../corrector/private.key"), "private key of corrector"),
    ("sensor-room-1", lambda data: data.update(key="../detector/private.key"), "private key of detector"),
]


@pytest.mark.parametrize(("party", "edit", "reason"), BOTH_SHARES)
def test_a_configuration_with_both_shares_is_refused(
    stream: Path, party: str, edit: Callable[[dict[str, Any]], object], reason: str
) -> None:
    change(stream, party, edit)
    with pytest.raises(Refused, match=reason):
        load(stream, party)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_another_partys_private_key_beside_ones_own_is_refused(stream: Path, mode: int) -> None:
    stray = stream / "detector" / "old-copy"
    stray.write_bytes((stream / "corrector" / "private.key").read_bytes())
    stray.chmod(mode)
    with pytest.raises(Refused, match="private key of corrector lies beside it, in old-copy"):
        load(stream, "detector")


def test_another_partys_journal_is_refused(stream: Path) -> None:
    load(stream, "corrector").make_party().close()
    change(stream, "detector", lambda data: data.update(journal="../corrector/corrector.journal"))
    with pytest.raises(InputError, match="belongs to corrector"):
        load(stream, "detector").make_party()


WRONG: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    # Topics follow from the role: there is no field in which to ask for more.
    ("detector", lambda data: data.update(subscribe=["anonymaly/corrector/from/#"]), "subscribe"),
    ("detector", lambda data: data["broker"].update(prefix="anonymaly/#"), "prefix"),
    ("detector", lambda data: data["broker"].update(prefix="+"), "prefix"),
    ("detector", lambda data: data.update(party=["detector", "corrector"]), "party"),
    ("detector", lambda data: data["peers"].update(owner=data["peers"]["corrector"]), "peers"),
    ("detector", lambda data: data["peers"].pop("sensor/room-2"), "peers"),
    ("detector", lambda data: data["peers"].update(corrector="c2hvcnQ="), "peers.corrector"),
    ("detector", lambda data: data.update(budget=1), "budget"),
    ("detector", lambda data: data.pop("key"), "key"),
    ("detector", lambda data: data["streams"].update({"a/b": data["streams"].pop("room-1")}), "streams"),
    ("detector", lambda data: data["streams"]["room-1"].update(epsilon="?"), "still to be declared"),
    ("sensor-room-1", lambda data: data.update(name="room-2"), "name"),
    ("sensor-room-1", lambda data: data.pop("ledger"), "ledger"),
    ("sensor-room-1", lambda data: data.update(budget=-1), "budget"),
    ("sensor-room-1", lambda data: data["broker"].update(port=0), "port"),
]


@pytest.mark.parametrize(("party", "edit", "field"), WRONG)
def test_what_does_not_fit_is_refused_with_its_field(
    stream: Path, party: str, edit: Callable[[dict[str, Any]], object], field: str
) -> None:
    change(stream, party, edit)
    with pytest.raises(ManifestError) as refusal:
        load(stream, party)
    assert field in str(refusal.value)


@pytest.mark.parametrize("secret", ["private.key", "broker.password"])
def test_a_secret_that_others_may_read_is_refused(stream: Path, secret: str) -> None:
    (stream / "owner" / secret).chmod(0o640)
    with pytest.raises(InputError, match=r"0640.*chmod 600"):
        load(stream, "owner").make_connection()


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 50])
def test_a_file_that_is_no_key_is_refused(stream: Path, content: bytes) -> None:
    (stream / "owner" / "private.key").write_bytes(content)
    with pytest.raises(InputError, match="not a private key"):
        load(stream, "owner")


def test_a_missing_file_is_told_of(stream: Path, tmp_path: Path) -> None:
    (stream / "owner" / "private.key").unlink()
    with pytest.raises(AnonymalyError, match="cannot read"):
        load(stream, "owner")
    with pytest.raises(ManifestError, match="stream init"):
        PartyConfig.load(tmp_path / "nothing.yaml")
