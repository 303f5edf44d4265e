# SPDX-License-Identifier: Apache-2.0
"""The configuration file of a party of a pool, of either protocol."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictStr

from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import InputError
from anonymaly.stream.counting.counter import PoolCounter
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.messages import COUNTERS
from anonymaly.stream.counting.opened_anchor import OpenedAnchor, OpenedSums
from anonymaly.stream.counting.owner import PoolOwner
from anonymaly.stream.counting.pool_declarations import EarlierDeclaration, PoolDeclarations
from anonymaly.stream.counting.sensor import CountingSensor
from anonymaly.stream.programs.asked import Kept, asked_by, check_keeping
from anonymaly.stream.programs.config import (
    ADVICE,
    Budget,
    LoadedConfig,
    PartyConfig,
    PartyFile,
    check_peers,
    problems_of_a_file,
)
from anonymaly.stream.programs.keys import read_secret
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.encoding import read_name
from anonymaly.stream.protocol.giving_sensor import Consent
from anonymaly.stream.protocol.owner import Owner
from anonymaly.stream.protocol.parties import Party
from anonymaly.stream.protocol.pool import read_sensors
from anonymaly.stream.protocol.pooled.corrector import PooledCorrector
from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.pooled.detector import PooledDetector
from anonymaly.stream.protocol.pooled.owner import PooledOwner
from anonymaly.stream.protocol.pooled.sensor import PooledSensor
from anonymaly.stream.protocol.sensor import Sensor
from anonymaly.stream.protocol.windows import LAST_WINDOW

PoolRole = Literal["sensor", "counter-1", "counter-2", "detector", "corrector", "owner"]
CORRECTION_SERVERS = ("corrector", "detector")
DeclarationOfPool = CountingDeclaration | PooledDeclaration


def read_pool(data: Any) -> DeclarationOfPool:
    """Read what is declared of a pool; if it names no protocol, of ``counting``, which had pools first."""
    if isinstance(data, CountingDeclaration | PooledDeclaration):
        return data
    of_correction = isinstance(data, Mapping) and data.get("protocol") == "correction"
    return (PooledDeclaration if of_correction else CountingDeclaration).read(data)


def servers_of(pool: DeclarationOfPool) -> tuple[str, ...]:
    """Return the addresses of a pool's two servers."""
    return COUNTERS if isinstance(pool, CountingDeclaration) else CORRECTION_SERVERS


class PoolConfig(PartyFile):
    """What the file of a party of a pool declares; paths are relative to the file.

    Examples
    --------
    >>> pool_peers_of("counter-1", ["room-1", "room-2"], COUNTERS)
    ['counter-2', 'owner', 'sensor/room-1', 'sensor/room-2']
    """

    party: PoolRole
    """The party's role."""
    pool: Annotated[DeclarationOfPool, BeforeValidator(read_pool)]
    """What is public about all sensors' readings."""
    earlier: list[EarlierDeclaration] = Field(default_factory=list)
    """What was declared before, oldest first."""
    sensors: list[StrictStr] = Field(default_factory=list)
    """All sensors of the pool in the order of joining it, for servers and owner."""
    retired: list[StrictStr] = Field(default_factory=list)
    """Sensors among them that contribute no more, and whose keys nobody has."""
    check_key: StrictStr | None = None
    """The file with the key that both counters hold and no sensor knows."""
    ledger: StrictStr | None = None
    """A sensor's ledger: a file, or the URL of a PostgreSQL database."""
    budget: Budget = None
    """The most ε that all readings of a sensor together may cost."""
    anchor: StrictStr | None = None
    """A file elsewhere that shows whether a sensor's ledger, or a counter's journal, was set back."""
    keep: Kept = 0
    """Of how many of its newest windows a sensor keeps readings, so that the owner may ask for one."""
    consent: Consent = "ask"
    """Whether a sensor's holder decides about each such request, or consented to all: ``always``."""

    def check(self) -> None:
        """Refuse what does not fit together, above all what would give one party both shares."""
        if isinstance(self.pool, CountingDeclaration):
            PoolDeclarations(self.pool, self.earlier)
        elif self.earlier:
            raise InputError("is for pools of counting", field="earlier", next_step="Leave it out.")
        is_sensor, is_counter = self.party == "sensor", self.party in COUNTERS
        if self.party not in ("sensor", "owner", *servers_of(self.pool)):
            raise InputError(
                f"is of another protocol than {self.pool.protocol}", field="party", next_step=ADVICE
            )
        wanted = {
            "name": is_sensor, "ledger": is_sensor, "check_key": is_counter, "sensors": not is_sensor,
        }  # fmt: skip
        for field, needed in wanted.items():
            if bool(getattr(self, field)) != needed:
                words = "is required of" if needed else "is not for"
                raise InputError(f"{words} a {self.party}", field=field, next_step=ADVICE)
        if self.anchor is not None and not (is_sensor or is_counter):
            raise InputError(f"is not for a {self.party}", field="anchor", next_step=ADVICE)
        if is_sensor:
            read_name(self.name or "", "name")
        else:
            read_sensors(self.sensors, self.pool.windows.least_sensors, self.retired)
        active = [name for name in self.sensors if name not in self.retired]
        check_keeping(self.party, self.keep, self.consent)
        asked = asked_by(self.party, self.name, self.keep, active, self.peers)
        expected = pool_peers_of(self.party, active, servers_of(self.pool), self.name, asked)
        check_peers(self.peers, expected, self.party)
        self.check_broker()


class LoadedPool(LoadedConfig):
    """A pool's configuration that was read from a file and checked, with its key."""

    config: PoolConfig  # type: ignore[assignment]

    def make_party(self) -> Party:
        """Open the party's journal, and a sensor's ledger."""
        if self.config.party == "sensor":
            return self.make_sensor_of_pool()
        return self.make_owner_of_pool() if self.config.party == "owner" else self.make_server_of_pool()

    def make_sensor_of_pool(self) -> CountingSensor | PooledSensor:
        """Open a sensor with its ledger."""
        name, pool = self.config.name or "", self.config.pool
        if isinstance(pool, CountingDeclaration):
            return CountingSensor(name, pool, **self.account, earlier=self.config.earlier)
        return PooledSensor(name, pool, **self.account)

    def make_server_of_pool(self) -> PoolCounter | PooledDetector | PooledCorrector:
        """Open a server."""
        config, journal = self.config, self.folder / self.config.journal
        if isinstance(config.pool, CountingDeclaration):
            return self.make_counter()
        kind = PooledDetector if config.party == "detector" else PooledCorrector
        return kind(config.pool, config.sensors, journal, config.retired)

    def make_owner_of_pool(self) -> PoolOwner | PooledOwner:
        """Open an owner."""
        config, journal = self.config, self.folder / self.config.journal
        if isinstance(config.pool, CountingDeclaration):
            return PoolOwner(config.pool, config.sensors, journal, config.retired, self.fetchable)
        return PooledOwner(config.pool, config.sensors, journal, config.retired, self.fetchable)

    @property
    def counted(self) -> CountingDeclaration:
        """What is declared of a pool of ``counting``."""
        if not isinstance(self.config.pool, CountingDeclaration):
            raise InputError(
                "is of a pool of correction", field="config", next_step="Give one of a pool of counting."
            )
        return self.config.pool

    def make_sensor(self, declaration: StreamDeclaration | None = None) -> Sensor:
        """Refuse: a pool's sensor is another kind."""
        raise _of_a_pool()

    def make_owner(self) -> Owner:
        """Refuse: a pool's owner is another kind."""
        raise _of_a_pool()

    def make_counter(self, *, anchored: bool = True) -> PoolCounter:
        """Open a counter, with its anchor if it has one."""
        config = self.config
        return PoolCounter(
            1 + COUNTERS.index(config.party),
            self.counted,
            config.sensors,
            check_key=self._check_key,
            journal=self.folder / config.journal,
            retired=config.retired,
            earlier=config.earlier,
            anchor=self.anchor if anchored else None,
        )

    def begin_anchor(self, after: int | None) -> OpenedSums:
        """Make a counter's anchor, of what its journal opened or of all windows up to one; return of what."""
        if self.anchor is None:
            raise InputError(
                "is not in the file", field="anchor", next_step="Write, say, anchor: counter.anchor into it."
            )
        # Windows that are passed over never come back: not for a number that was mistyped.
        if after is not None and after >= 0 and not self._has_begun(after):
            raise InputError(
                f"must have begun, and window {after} has not by this machine's clock",
                field="after",
                next_step="Give the last window that has begun, as the verdicts or a sensor's times say it.",
            )
        with self.make_counter(anchored=False) as counter:
            opened = counter.opened
        if after is None and opened == OpenedSums():
            raise InputError(
                "is needed: the journal knows of no opened sum, is another one, or from before anchors",
                field="after",
                next_step="Give the last window that has begun; -1 if no sum can have been opened.",
            )
        if after is not None and after >= opened.window:  # the journal is not trusted about it, either
            opened = OpenedSums(after)
        OpenedAnchor.begin(self.anchor, self.config.party, self.counted.pool, self._check_key, opened)
        return opened

    def _has_begun(self, window: int) -> bool:
        return window <= LAST_WINDOW and self.counted.windows.begins(window) <= time.time()

    @property
    def _check_key(self) -> bytes:
        return read_secret(self.folder / (self.config.check_key or ""), field="check_key")


def _of_a_pool() -> InputError:
    return InputError(
        "is a pool's, and this command is for sensors that are judged each by itself",
        field="config",
        next_step="A pool has the commands init, sensor, its servers', owner, watch, budget, skip, declare, "
        "origin, add-sensor, retire-sensor, rotate-key and update.",
    )


def load_config(path: str | Path) -> LoadedConfig:
    """Read a party's file; one that names no pool is of sensors that are judged each by itself."""
    place = Path(path)
    data = read_yaml(place, ADVICE)
    if "pool" not in data:
        return PartyConfig.load(place)
    with problems_of_a_file(data):
        return LoadedPool(PoolConfig.read(data), place.absolute().parent)  # type: ignore[arg-type]


def pool_peers_of(
    role: str,
    sensors: list[str],
    servers: tuple[str, ...],
    name: str | None = None,
    asked: Collection[str] = (),
) -> list[str]:
    """Return the addresses of those that a party of a pool talks to; the owner may ask some sensors."""
    if role == "sensor":
        return [*servers, *(["owner"] if name in asked else [])]
    if role == "owner":  # the detector has no key of the owner's
        listened = [server for server in servers if server != "detector"]
        return sorted([*listened, *(f"sensor/{sensor}" for sensor in asked)])
    others = {*servers, "owner"} - ({role, "owner"} if role == "detector" else {role})
    return sorted([*others, *(f"sensor/{sensor}" for sensor in sensors)])
