# SPDX-License-Identifier: Apache-2.0
"""The configuration file of a party of a pool, whose protocol is ``counting``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, StrictStr, field_validator

from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano, to_text
from anonymaly.core.value import Value
from anonymaly.declare.manifest import read_yaml, refuse_undeclared
from anonymaly.errors import InputError, ManifestError
from anonymaly.stream.counting.counter import PoolCounter
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.messages import COUNTERS
from anonymaly.stream.counting.owner import PoolOwner
from anonymaly.stream.counting.pool_declarations import EarlierDeclaration, PoolDeclarations
from anonymaly.stream.counting.pool_sensors import read_sensors
from anonymaly.stream.counting.sensor import CountingSensor
from anonymaly.stream.programs.config import (
    ADVICE,
    BrokerEntry,
    LoadedConfig,
    PartyConfig,
    both_shares,
    check_peers,
)
from anonymaly.stream.programs.keys import read_secret
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.encoding import read_name
from anonymaly.stream.protocol.owner import Owner
from anonymaly.stream.protocol.parties import Party
from anonymaly.stream.protocol.sensor import Sensor

PoolRole = Literal["sensor", "counter-1", "counter-2", "owner"]


class PoolConfig(Value):
    """What the file of a party of a pool declares; paths are relative to the file.

    Examples
    --------
    >>> pool_peers_of("counter-1", ["room-1", "room-2"])
    ['counter-2', 'owner', 'sensor/room-1', 'sensor/room-2']
    """

    party: PoolRole
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
    pool: CountingDeclaration
    """What is public about all sensors' readings."""
    earlier: list[EarlierDeclaration] = Field(default_factory=list)
    """What was declared before, oldest first."""
    sensors: list[StrictStr] = Field(default_factory=list)
    """All sensors of the pool in the order of joining it, for counters and owner."""
    retired: list[StrictStr] = Field(default_factory=list)
    """Sensors among them that contribute no more, and whose keys nobody has."""
    check_key: StrictStr | None = None
    """The file with the key that both counters hold and no sensor knows."""
    ledger: StrictStr | None = None
    """A sensor's ledger: a file, or the URL of a PostgreSQL database."""
    budget: str | None = None
    """The most ε that all readings of a sensor together may cost."""
    anchor: StrictStr | None = None
    """A file elsewhere that shows whether a sensor's ledger was set back."""

    @field_validator("budget", mode="before")
    @classmethod
    def _budget(cls, value: Any) -> str | None:
        return None if value is None else to_text(to_nano(value, field="budget", largest=LARGEST_TOTAL))

    @property
    def address(self) -> str:
        """What the others call this party."""
        return f"sensor/{self.name}" if self.party == "sensor" else self.party

    def check(self) -> None:
        """Refuse what does not fit together, above all what would give one party both shares."""
        PoolDeclarations(self.pool, self.earlier)
        is_sensor, is_counter = self.party == "sensor", self.party in COUNTERS
        wanted = {
            "name": is_sensor, "ledger": is_sensor, "check_key": is_counter, "sensors": not is_sensor,
        }  # fmt: skip
        for field, needed in wanted.items():
            if bool(getattr(self, field)) != needed:
                words = "is required of" if needed else "is not for"
                raise InputError(f"{words} a {self.party}", field=field, next_step=ADVICE)
        if is_sensor:
            read_name(self.name or "", "name")
        else:
            read_sensors(self.sensors, self.pool.windows.least_sensors, self.retired)
        active = [name for name in self.sensors if name not in self.retired]
        check_peers(self.peers, pool_peers_of(self.party, active), self.party)
        if self.broker.username != self.address:
            raise both_shares(
                f"{self.address} would connect as {self.broker.username}: each party has a user of its own",
                "broker.username",
            )


class LoadedPool(LoadedConfig):
    """A pool's configuration that was read from a file and checked, with its key."""

    config: PoolConfig  # type: ignore[assignment]

    def make_party(self) -> Party:
        """Open the party's journal, and a sensor's ledger."""
        if self.config.party == "sensor":
            return self.make_counting_sensor()
        return self.make_pool_owner() if self.config.party == "owner" else self.make_counter()

    def make_sensor(self, declaration: StreamDeclaration | None = None) -> Sensor:
        """Refuse: a pool's sensor is another kind."""
        raise _of_a_pool()

    def make_owner(self) -> Owner:
        """Refuse: a pool's owner is another kind."""
        raise _of_a_pool()

    def make_counter(self) -> PoolCounter:
        """Open a counter."""
        config = self.config
        return PoolCounter(
            1 + COUNTERS.index(config.party),
            config.pool,
            config.sensors,
            check_key=read_secret(self.folder / (config.check_key or ""), field="check_key"),
            journal=self.folder / config.journal,
            retired=config.retired,
            earlier=config.earlier,
        )

    def make_pool_owner(self) -> PoolOwner:
        """Open an owner."""
        config = self.config
        return PoolOwner(config.pool, config.sensors, self.folder / config.journal, config.retired)

    def make_counting_sensor(self) -> CountingSensor:
        """Open a sensor with its ledger."""
        config = self.config
        return CountingSensor(
            config.name or "",
            config.pool,
            journal=self.folder / config.journal,
            ledger=self.ledger,
            budget=config.budget,
            anchor=self.anchor,
            earlier=config.earlier,
        )


def _of_a_pool() -> InputError:
    return InputError(
        "is a pool's, and this command is for streams of `correction`",
        field="config",
        next_step="A pool has the commands init, sensor, counter, owner, budget, skip, declare, origin, "
        "add-sensor, retire-sensor, rotate-key and update.",
    )


def load_config(path: str | Path) -> LoadedConfig:
    """Read a party's file, of either protocol; one that names no pool is of ``correction``."""
    place = Path(path)
    data = read_yaml(place, ADVICE)
    if "pool" not in data:
        return PartyConfig.load(place)
    refuse_undeclared(data)
    try:
        return LoadedPool(PoolConfig.read(data), place.absolute().parent)  # type: ignore[arg-type]
    except ManifestError:
        raise
    except InputError as error:
        raise ManifestError(error.problem, field=error.field, next_step=error.next_step) from None


def pool_peers_of(role: str, sensors: list[str]) -> list[str]:
    """Return the addresses of those that a party of a pool talks to."""
    if role in ("sensor", "owner"):
        return list(COUNTERS)
    other = COUNTERS[1 - COUNTERS.index(role)]
    return sorted([other, "owner", *(f"sensor/{name}" for name in sensors)])
