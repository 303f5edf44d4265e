# SPDX-License-Identifier: Apache-2.0
"""One party's configuration file: its key, its peers' keys, the broker, and what is public about the streams.

A configuration cannot name what a party must not hold: it has one role, one key and one user of the broker,
and the topics follow from the role. A file that gives a party more is refused when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from pydantic import BeforeValidator, Field, StrictInt, StrictStr

from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano, to_text
from anonymaly.core.value import Value
from anonymaly.declare.manifest import read_yaml, refuse_undeclared
from anonymaly.errors import InputError, ManifestError, Refused
from anonymaly.stream.programs.asked import Kept, asked_by, check_keeping, sensors_in
from anonymaly.stream.programs.client import BrokerAddress, Version
from anonymaly.stream.programs.connection import Connection
from anonymaly.stream.programs.keys import (
    LARGEST_FILE,
    parse_key,
    public_text,
    read_key,
    read_public,
    read_secret,
)
from anonymaly.stream.programs.seal import Seal
from anonymaly.stream.protocol.corrector import Corrector
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.detector import StreamDetector
from anonymaly.stream.protocol.encoding import read_name
from anonymaly.stream.protocol.giving_sensor import Consent
from anonymaly.stream.protocol.owner import Owner
from anonymaly.stream.protocol.parties import Party
from anonymaly.stream.protocol.sensor import Sensor

ADVICE = "`anonymaly stream init DIR` writes one file for each party."
Role = Literal["sensor", "detector", "corrector", "owner"]


class BrokerEntry(Value):
    """Where the broker is, and as whom to connect."""

    host: StrictStr = Field(min_length=1)
    """The broker's machine."""
    port: StrictInt = Field(ge=1, le=65535)
    """The broker's port."""
    username: StrictStr
    """The party's own user of the broker."""
    password: StrictStr
    """The file with the user's password."""
    prefix: Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$", max_length=200)]
    """What all topics begin with: letters, digits, dashes and underscores, divided by slashes."""
    tls: StrictStr | None = None
    """The file with the certificates that vouch for the broker; without it there is no TLS."""
    certificate: StrictStr | None = None
    """The file with the party's own certificate, for a broker that asks for it."""
    certificate_key: StrictStr | None = None
    """The file with the key of the party's certificate."""
    mqtt: Version = "3.1.1"
    """The version of MQTT: "5" says, too, what the broker refuses to take."""


class EarlierStream(Value):
    """What was declared of a sensor before."""

    until: StrictInt = Field(ge=1)
    """The first window of which it holds no more."""
    declared: StreamDeclaration
    """What was declared."""


def _read_budget(value: Any) -> str | None:
    return None if value is None else to_text(to_nano(value, field="budget", largest=LARGEST_TOTAL))


Budget = Annotated[str | None, BeforeValidator(_read_budget)]


class PartyFile(Value):
    """What the file of every party begins with, and who connects by it."""

    party: str
    """The party's role."""
    name: StrictStr | None = None
    """A sensor's name."""
    key: StrictStr
    """The file with the party's private key."""
    journal: StrictStr
    """The party's own SQLite file."""
    broker: BrokerEntry
    """Where the broker is, and as whom to connect."""
    peers: dict[str, StrictStr]
    """The addresses and public keys of those that the party talks to."""

    @property
    def address(self) -> str:
        """What the others call this party."""
        return f"sensor/{self.name}" if self.party == "sensor" else self.party

    def check_broker(self) -> None:
        """Refuse half a certificate, and another party's user of the broker."""
        if (self.broker.certificate is None) != (self.broker.certificate_key is None):
            raise InputError(
                "goes with certificate_key", field="broker.certificate", next_step="Give both, or neither."
            )
        if self.broker.username != self.address:
            raise both_shares(
                f"{self.address} would connect as {self.broker.username}: each party has a user of its own",
                "broker.username",
            )


class PartyConfig(PartyFile):
    """What one party's file declares; paths are relative to the file.

    Examples
    --------
    >>> peers_of("sensor", ["room-1"], name="room-1")
    ['corrector', 'detector']
    >>> peers_of("corrector", ["room-1", "room-2"])
    ['detector', 'owner', 'sensor/room-1', 'sensor/room-2']
    """

    party: Role
    """The party's role."""
    streams: dict[str, StreamDeclaration] = Field(min_length=1)
    """The name of each sensor and what is public about its readings."""
    ledger: StrictStr | None = None
    """A sensor's ledger: a file, or the URL of a PostgreSQL database."""
    budget: Budget = None
    """The most ε that all readings of a sensor together may cost."""
    anchor: StrictStr | None = None
    """A file elsewhere that shows whether a sensor's ledger was set back."""
    retired: list[StrictStr] = Field(default_factory=list)
    """Sensors among the streams that send no more, and whose keys nobody has."""
    earlier: dict[str, list[EarlierStream]] = Field(default_factory=dict)
    """What was declared of sensors before, up to which window."""
    keep: Kept = 0
    """Of how many of its newest windows a sensor keeps readings, so that the owner may ask for one."""
    consent: Consent = "ask"
    """Whether a sensor's holder decides about each such request, or consented to all: ``always``."""

    @property
    def before(self) -> dict[str, list[tuple[int, StreamDeclaration]]]:
        """What was declared of sensors before, each with the first window of which it holds no more."""
        return {name: [(item.until, item.declared) for item in items] for name, items in self.earlier.items()}

    @classmethod
    def load(cls, path: str | Path) -> LoadedConfig:
        """Read a party's file, or say what is wrong with it."""
        place = Path(path)
        data = read_yaml(place, ADVICE)
        with problems_of_a_file(data):
            return LoadedConfig(cls.read(data), place.absolute().parent)

    def check(self) -> None:
        """Refuse what does not fit together, above all what would give one party both shares."""
        for name in self.streams:
            read_name(name, "streams")
        self._check_role()
        active = [name for name in self.streams if name not in self.retired]
        asked = asked_by(self.party, self.name, self.keep, active, self.peers)
        expected = peers_of(self.party, active, self.name, asked)
        check_peers(self.peers, expected, self.party)
        self.check_broker()

    def _check_role(self) -> None:
        check_keeping(self.party, self.keep, self.consent)
        if self.party != "sensor":
            for field in ("name", "ledger", "budget", "anchor"):
                if getattr(self, field) is not None:
                    raise InputError("is for sensors only", field=field, next_step="Leave it out.")
            return
        if self.name is None or list(self.streams) != [self.name]:
            raise InputError(
                "must be the name of the sensor's one stream",
                field="name",
                next_step="Give both the same name.",
            )
        if self.ledger is None:
            raise InputError("is required of a sensor", field="ledger", next_step=ADVICE)


class SensorAccount(TypedDict):
    """Where a sensor keeps what it sent and spent, and what it may spend and hand over."""

    journal: Path
    ledger: str | Path
    budget: str | None
    anchor: Path | None
    keep: int
    consent: Consent


class LoadedConfig:
    """A configuration that was read from a file and checked, with its key.

    Parameters
    ----------
    config : PartyConfig
        What the file says.
    folder : Path
        Where it lies.
    """

    def __init__(self, config: PartyConfig, folder: Path) -> None:
        config.check()
        self.config = config
        self.folder = folder
        self.when_connected: Callable[[], object] = lambda: None  # called once the party's program is
        self.key = read_key(folder / config.key)
        self._check_keys()

    def make_party(self) -> Party:
        """Open the party's journal, and a sensor's ledger."""
        config, journal = self.config, self.folder / self.config.journal
        if config.party == "sensor":
            return self.make_sensor()
        if config.party == "owner":
            return self.make_owner()
        kind = StreamDetector if config.party == "detector" else Corrector
        return kind(config.streams, journal, config.before)

    def make_sensor(self, declaration: StreamDeclaration | None = None) -> Sensor:
        """Open a sensor with its ledger, under its own declaration or another."""
        config = self.config
        if config.name is None or config.ledger is None:
            raise InputError(f"is a {config.party}'s", field="party", next_step="Give a sensor's file.")
        return Sensor(config.name, declaration or config.streams[config.name], **self.account)

    @property
    def account(self) -> SensorAccount:
        """What every kind of sensor is opened with, beside its name and what is declared."""
        config = self.config
        return {
            "journal": self.folder / config.journal,
            "ledger": self.ledger,
            "budget": config.budget,
            "anchor": self.anchor,
            "keep": config.keep,
            "consent": config.consent,
        }

    @property
    def ledger(self) -> str | Path:
        """Where a sensor's ledger is."""
        place = self.config.ledger or ""
        return place if "://" in place else self.folder / place

    @property
    def anchor(self) -> Path | None:
        """Where a sensor's anchor is."""
        return None if self.config.anchor is None else self.folder / self.config.anchor

    def make_owner(self) -> Owner:
        """Open an owner."""
        return Owner(self.config.streams, self.folder / self.config.journal, self.fetchable)

    @property
    def fetchable(self) -> list[str]:
        """The sensors that an owner can ask for readings: those whose keys it has."""
        return sensors_in(self.config.peers)

    def make_connection(self) -> Connection:
        """Make the party's connection; call it where it will run."""
        broker = self.config.broker
        password = read_secret(self.folder / broker.password, field="broker.password").decode().strip()
        authorities, certificate, key = (
            None if path is None else str(self.folder / path)
            for path in (broker.tls, broker.certificate, broker.certificate_key)
        )
        if key is not None:
            read_secret(Path(key), field="broker.certificate_key")  # refused if others may read it
        address = BrokerAddress(
            broker.host, broker.port, broker.username, password, authorities, certificate, key, broker.mqtt
        )
        peers = {peer: read_public(text) for peer, text in self.config.peers.items()}
        return Connection(address, broker.prefix, Seal(self.config.address, self.key, peers))

    def _check_keys(self) -> None:
        ours = public_text(self.key)
        owners = {text: peer for peer, text in self.config.peers.items()}
        if ours in owners:
            raise both_shares(f"this is the private key of {owners[ours]}", "key")
        for path in sorted(self.folder.glob("*")):
            peer = owners.get(_public_of(path))
            if peer is not None:
                raise both_shares(f"the private key of {peer} lies beside it, in {path.name}", "key")


@contextmanager
def problems_of_a_file(data: Mapping[str, Any]) -> Iterator[None]:
    """Say of what is wrong with a file's data that it is in a file; refuse what nobody filled in."""
    refuse_undeclared(data)
    try:
        yield
    except ManifestError:
        raise
    except InputError as error:
        raise ManifestError(error.problem, field=error.field, next_step=error.next_step) from None


def peers_of(
    role: Role, sensors: list[str], name: str | None = None, asked: Collection[str] = ()
) -> list[str]:
    """Return the addresses of those that a party talks to; ``asked`` are sensors that the owner may ask."""
    if role == "sensor":
        return ["corrector", "detector", *(["owner"] if name in asked else [])]
    if role == "owner":
        return sorted(["corrector", *(f"sensor/{sensor}" for sensor in asked)])
    servers = ["corrector"] if role == "detector" else ["detector", "owner"]
    return sorted([*servers, *(f"sensor/{sensor}" for sensor in sensors)])


def check_peers(peers: Mapping[str, str], expected: list[str], role: str) -> None:
    """Refuse peers that a party does not talk to, and two with one key."""
    if sorted(peers) != expected:
        raise InputError(
            f"must be exactly those that a {role} talks to: {', '.join(expected)}",
            field="peers",
            next_step="Leave the others out: what a party need not know it should not hold.",
        )
    keys: dict[bytes, str] = {}
    for peer, text in peers.items():
        public = read_public(text, field=f"peers.{peer}").public_bytes_raw()
        if public in keys:
            raise both_shares(f"{keys[public]} and {peer} have the same key", "peers")
        keys[public] = peer


def both_shares(reason: str, field: str) -> Refused:
    """Refuse a configuration that would undo the separation on which the promise rests."""
    return Refused(
        reason,
        field=field,
        next_step="A party with both servers' shares can undo the perturbation; give each party its own.",
    )


def _public_of(path: Path) -> str:
    """Return the public half of a private key, or nothing if the file is something else."""
    try:
        key = parse_key(path.read_bytes()) if path.is_file() and path.stat().st_size < LARGEST_FILE else None
    except OSError:
        key = None
    return "" if key is None else public_text(key)
