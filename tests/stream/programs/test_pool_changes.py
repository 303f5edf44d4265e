# SPDX-License-Identifier: Apache-2.0
"""A pool that runs is changed: sensors, keys, windows given up; nobody else gets a new key."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
import yaml

from anonymaly.errors import InputError
from anonymaly.ledger import Ledger
from anonymaly.stream import CountingDeclaration, CountingSensor, LocalTransport, Party, PoolOwner
from anonymaly.stream.counting.messages import COUNTERS, Opening
from anonymaly.stream.programs import changes
from anonymaly.stream.programs.mosquitto import AccessList
from anonymaly.stream.programs.pool_setup import pool_facts, set_up_pool
from anonymaly.stream.programs.register import CONFIG, Register, update_folder
from tests.stream.programs.conftest import Run
from tests.stream.programs.pools import COUNTED, ROOMS, START, loaded
from tests.stream.programs.test_changes import secrets, users

WIDE = COUNTED.model_copy(  # so that nothing is late
    update={"windows": COUNTED.windows.model_copy(update={"lateness": 10**9})}
)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    set_up_pool(tmp_path / "pool", ROOMS, WIDE, budget=1000)
    return tmp_path / "pool"


class Pool(LocalTransport):
    """All parties of a folder."""

    @property
    def owner(self) -> PoolOwner:
        owner = self.parties["owner"]
        assert isinstance(owner, PoolOwner)
        return owner

    def read(self, window: int, *rooms: str, broken: str = "") -> None:
        """Have rooms contribute to a window."""
        for room in rooms:
            sensor = self.parties[f"sensor/{room}"]
            assert isinstance(sensor, CountingSensor)
            self.carry(sensor.send([74.0 if room == broken else 20.5], [START + 60 * window]))

    def verdicts(self) -> list[tuple[int, str, tuple[str, ...], int]]:
        return [
            (item.window, item.state, item.faults, len(item.contributed)) for item in self.owner.verdicts()
        ]


@contextmanager
def opened(folder: Path, *rooms: str) -> Iterator[Pool]:
    with ExitStack() as stack:
        names = (*COUNTERS, "owner", *(f"sensor-{room}" for room in rooms))
        made: list[Party] = [stack.enter_context(loaded(folder, name).make_party()) for name in names]
        yield Pool(made)


def test_a_sensor_is_added_and_earlier_verdicts_keep_their_meaning(pool: Path) -> None:
    with opened(pool, *ROOMS) as parties:
        parties.read(0, *ROOMS, broken="room-4")
    before = secrets(pool)
    changes.add_sensor(pool, "a-new-one", budget=500)  # first by the alphabet, last in lists
    assert {path: content for path, content in secrets(pool).items() if path in before} == before
    access = AccessList.parse((pool / "broker" / "access").read_text())
    assert access.allows("sensor/a-new-one", "write", "anonymaly/counter-2/from/sensor/a-new-one")
    with opened(pool, *ROOMS, "a-new-one") as parties:
        parties.read(1, *ROOMS, "a-new-one", broken="a-new-one")
        assert parties.verdicts() == [(0, "judged", ("room-4",), 5), (1, "judged", ("a-new-one",), 6)]
    with pytest.raises(InputError, match="its name stays its own"):
        changes.add_sensor(pool, "a-new-one", budget=500)
    with pytest.raises(InputError, match="same for all sensors of a pool"):
        changes.add_sensor(pool, "room-9", budget=500, declaration={})


@pytest.mark.parametrize("behind", COUNTERS)
def test_counters_may_hear_of_a_new_sensor_one_after_the_other(
    pool: Path, tmp_path: Path, behind: str
) -> None:
    elsewhere = tmp_path / "machine"
    elsewhere.mkdir()
    shutil.move(pool / behind, elsewhere / behind)
    changes.add_sensor(pool, "room-5", budget=500)

    ahead = next(name for name in COUNTERS if name != behind)
    with ExitStack() as stack:
        names = (ahead, "owner", *(f"sensor-{room}" for room in ROOMS))
        made = [stack.enter_context(loaded(pool, name).make_party()) for name in names]
        with loaded(elsewhere, behind).make_counter() as old:
            parties = Pool([*made, old])
            parties.read(0, *ROOMS, broken="room-4")
            # The one that knows of the new sensor waits for it until the window is late.
            late = parties.parties[ahead].tick(START + 2 * 10**9)  # type: ignore[attr-defined]
            with pytest.raises(InputError, match="other sensors"):
                parties.carry(late)
        shutil.copy(pool / "stream.yaml", elsewhere)
        assert elsewhere / behind / CONFIG in update_folder(elsewhere, Register.load(elsewhere))
        parties = Pool([*made, stack.enter_context(loaded(elsewhere, behind).make_counter())])
        for party in list(parties.parties.values()):
            parties.carry(party.resume())
        assert parties.verdicts() == [(0, "judged", ("room-4",), 5)]


def test_no_window_waits_for_a_retired_sensor_and_too_few_are_not_left(pool: Path) -> None:
    changes.retire_sensor(pool, "room-1")
    assert "sensor/room-1" not in users(pool)
    assert "room-1" not in (pool / "broker" / "access").read_text()
    rest = [room for room in ROOMS if room != "room-1"]
    with opened(pool, *rest) as parties:
        parties.read(0, *rest, broken="room-2")
        assert parties.verdicts() == [(0, "judged", ("room-2",), 4)]
    with pytest.raises(InputError, match="are 3, and a window needs at least 4"):
        changes.retire_sensor(pool, "room-2")
    assert Register.load(pool).retired == ["room-1"]


def test_a_rotated_key_of_a_counter_reaches_everybody(pool: Path) -> None:
    before = loaded(pool, "owner").config.peers["counter-1"]
    changes.rotate_key(pool, "counter-1")
    assert loaded(pool, "owner").config.peers["counter-1"] != before
    with opened(pool, *ROOMS) as parties:
        parties.read(0, *ROOMS)
        assert parties.verdicts() == [(0, "judged", (), 5)]


def declare(run: Run, folder: Path, declared: CountingDeclaration, *more: str) -> CompletedProcess[str]:
    (folder.parent / "new.yaml").write_text(yaml.safe_dump(pool_facts(declared)))
    return run("declare", folder.name, "--declaration", "new.yaml", "--not-learned-from-readings", *more)


FINE = CountingDeclaration.read(
    WIDE.to_dict()
    | {"columns": [WIDE.columns[0].to_dict() | {"cells": 100}], "epsilon": "50", "period": 2, "radius": 3}
)


@pytest.mark.parametrize("behind", COUNTERS)
def test_a_pool_is_declared_anew_from_a_window_on_and_waits_for_who_has_not_heard(
    pool: Path, tmp_path: Path, run: Run, behind: str
) -> None:
    with opened(pool, *ROOMS) as parties:
        parties.read(0, *ROOMS, broken="room-4")
    elsewhere = tmp_path / "machine"
    elsewhere.mkdir()
    shutil.move(pool / behind, elsewhere / behind)
    said = declare(run, pool, FINE, "--from-window", "2", "--reason", "summer", "--json")
    told = json.loads(said.stdout)
    assert (told["window"], told["begins"]) == (2, "2026-01-01T00:02:00+00:00")
    assert {"stream.yaml", "owner/config.yaml", "sensor-room-0/config.yaml"} <= set(told["changed"])
    ahead = next(name for name in COUNTERS if name != behind)
    with ExitStack() as stack:
        names = (ahead, "owner", *(f"sensor-{room}" for room in ROOMS))
        made = [stack.enter_context(loaded(pool, name).make_party()) for name in names]
        with loaded(elsewhere, behind).make_counter() as old:
            parties = Pool([*made, old])
            parties.read(1, *ROOMS, broken="room-3")  # as before, for all
            for room in ROOMS:  # dropped by the one that has not heard, and kept
                with suppress(InputError):
                    parties.read(2, room, broken="room-2")
            assert parties.verdicts() == [(0, "judged", ("room-4",), 5), (1, "judged", ("room-3",), 5)]
            assert all(party.waiting for party in made if party.address.startswith("sensor"))
        shutil.copy(pool / "stream.yaml", elsewhere)
        run("update", "machine")
        parties = Pool([*made, stack.enter_context(loaded(elsewhere, behind).make_counter())])
        parties.resume()
        parties.read(3, *ROOMS, broken="room-1")
        assert parties.verdicts()[2:] == [(2, "judged", ("room-2",), 5), (3, "judged", ("room-1",), 5)]
        sensor = parties.parties["sensor/room-0"]
        assert isinstance(sensor, CountingSensor)
        assert sensor.spent == 40 + 40 + 50  # windows 0, 1 and 2; 3 is not counted any more
    with Ledger.audit(pool / "sensor-room-0" / "sensor.ledger") as book:
        assert [item.reason for item in book.declarations("room-0")] == [None, "summer"]
    # Said again it changes nothing more, and what cannot be is refused.
    again = declare(run, pool, FINE, "--from-window", "2", "--reason", "summer", "--json")
    assert json.loads(again.stdout)["changed"] == ["stream.yaml"]
    same = declare(run, pool, FINE, "--from-window", "8", "--reason", "?")
    assert "is what is declared already" in same.stderr
    odd = declare(run, pool, WIDE, "--from-window", "5", "--reason", "winter")
    assert (odd.returncode, "no multiple of both periods" in odd.stderr) == (2, True)
    assert "is required for a pool" in declare(run, pool, WIDE, "--reason", "winter").stderr
    assert "same for all" in declare(run, pool, WIDE, "--sensor", "room-1", "--reason", "winter").stderr


def test_declaring_a_pool_anew_says_what_readings_lose_from_then_on(pool: Path, run: Run) -> None:
    said = declare(run, pool, FINE, "--from-window", "2", "--reason", "summer").stdout
    assert "pool: the new declaration holds from window 2 on, which begins 2026-01-01T00:02:00+00:00" in said
    assert "A reading loses at most ε = 50 in one window of 2" in said
    assert "stays paid for" in said


def test_a_sensor_that_joins_after_a_change_knows_both_declarations(pool: Path, run: Run) -> None:
    declare(run, pool, FINE, "--from-window", "2", "--reason", "summer")
    changes.add_sensor(pool, "room-5", budget=500)
    with opened(pool, *ROOMS, "room-5") as parties:
        parties.read(1, *ROOMS, "room-5")
        parties.read(2, *ROOMS, "room-5", broken="room-5")
        assert parties.verdicts()[-1] == (2, "judged", ("room-5",), 6)


def test_a_counter_goes_on_though_its_partner_lost_its_journal(pool: Path, run: Run) -> None:
    with opened(pool, *ROOMS) as parties:
        parties.read(0, *ROOMS)
        parties.read(1, *ROOMS[:4])
    for path in (pool / "counter-2").glob("*.journal*"):
        path.unlink()
    with opened(pool, *ROOMS) as parties:  # the first four of window 1 are gone at counter-2
        parties.read(1, "room-4")
        parties.read(2, *ROOMS)
        assert len(parties.verdicts()) == 1
    config = str(pool / "owner" / CONFIG)
    refused = run("skip", "--config", config, "--sensor", "room-1", "--until", "2", "--reason", "lost")
    assert "is all that a pool takes" in refused.stderr
    shown = run("skip", "--config", config, "--until", "2", "--reason", "counter-2's disk is lost", "--json")
    assert json.loads(shown.stdout) | {"first": 1, "last": 1, "given_up": 1} == json.loads(shown.stdout)
    with opened(pool, *ROOMS) as parties:
        parties.carry(parties.owner.resume())
        parties.read(3, *ROOMS, broken="room-3")
        assert parties.verdicts() == [
            (0, "judged", (), 5),
            (1, "given up by the owner", (), 0),
            (2, "judged", (), 5),
            (3, "judged", ("room-3",), 5),
        ]
        # Nothing of what was given up is taken up again.
        assert [parties.parties[name].floor for name in COUNTERS] == [4, 4]  # type: ignore[attr-defined]


def test_a_counter_whose_anchor_is_lost_begins_another_of_what_its_journal_opened(
    pool: Path, run: Run
) -> None:
    config, path = str(pool / "counter-1" / CONFIG), pool / "counter-1" / "counter.anchor"
    with opened(pool, *ROOMS) as parties:
        parties.read(0, *ROOMS)
    assert "must be a new file" in run("anchor", "--config", config).stderr
    path.unlink()
    assert "anonymaly stream anchor" in run("counter", "--config", config).stderr
    assert json.loads(run("anchor", "--config", config, "--json").stdout) == {"anchor": str(path), "after": 0}
    with opened(pool, *ROOMS) as parties:
        parties.read(1, *ROOMS, broken="room-3")
        assert parties.verdicts()[-1] == (1, "judged", ("room-3",), 5)


def test_where_journal_and_anchor_are_lost_a_counter_begins_after_what_has_begun(
    pool: Path, run: Run
) -> None:
    config, place = str(pool / "counter-1" / CONFIG), pool / "counter-1"
    with opened(pool, *ROOMS) as parties:
        parties.read(0, *ROOMS)
    for lost in [*place.glob("*.journal*"), place / "counter.anchor"]:
        lost.unlink()
    assert "the last window that has begun" in run("anchor", "--config", config).stderr
    assert "sums up to window 3 may be opened" in run("anchor", "--config", config, "--after", "3").stdout
    with loaded(pool, "counter-1").make_counter() as counter:
        assert counter.floor == 4
    wrong = run("anchor", "--config", str(pool / "owner" / CONFIG))
    assert wrong.returncode == 2


def test_a_journal_from_before_there_were_anchors_does_not_say_where_one_begins(pool: Path, run: Run) -> None:
    config, path = str(pool / "counter-1" / CONFIG), pool / "counter-1" / "counter.anchor"
    with opened(pool, *ROOMS) as parties:
        parties.read(0, *ROOMS)
    path.unlink()
    with loaded(pool, "counter-1").make_counter(anchored=False) as counter:
        counter.journal.execute("DELETE FROM notes WHERE name LIKE 'opened%'")
    assert "from before anchors. Give the last window" in run("anchor", "--config", config).stderr
    assert run("anchor", "--config", config, "--after", "0").returncode == 0
    with loaded(pool, "counter-1").make_counter() as counter:
        assert counter.floor == 1


def test_an_anchor_never_begins_after_a_window_that_has_not_begun(pool: Path, run: Run) -> None:
    config, path = str(pool / "counter-1" / CONFIG), pool / "counter-1" / "counter.anchor"
    path.unlink()
    for ahead in (10**8, 2**53, 10**400):
        assert "must have begun" in run("anchor", "--config", config, "--after", str(ahead)).stderr
    assert not path.exists()


def test_a_journal_that_is_not_trusted_is_not_trusted_about_the_last_window(pool: Path, run: Run) -> None:
    config, path = str(pool / "counter-1" / CONFIG), pool / "counter-1" / "counter.anchor"
    with opened(pool, *ROOMS) as parties:
        parties.read(0, *ROOMS)
    path.unlink()
    with loaded(pool, "counter-1").make_counter(anchored=False) as counter:
        opening = Opening(counter.declaration.pool, 0, 0, bytes(32), np.zeros(counter.declaration.cells, int))
        with counter.journal.transaction():
            counter.journal.keep(opening)  # of a copy that opened the window by itself
    run("anchor", "--config", config, "--after", "0")
    with loaded(pool, "counter-1").make_counter() as counter:
        assert counter.resume() == []


def test_the_commands_work_on_the_folder_of_a_pool(pool: Path, run: Run) -> None:
    added = run("add-sensor", "pool", "--sensor", "room-5", "--budget", "10", "--json")
    assert "sensor-room-5/config.yaml" in json.loads(added.stdout)["changed"]
    assert run("retire-sensor", "pool", "--sensor", "room-5").returncode == 0
    assert run("rotate-key", "pool", "sensor/room-0").returncode == 0
    assert json.loads(run("update", "pool", "--json").stdout)["changed"] == ["stream.yaml"]
    data = yaml.safe_load((pool / "owner" / CONFIG).read_text())
    assert (data["sensors"][-1], data["retired"]) == ("room-5", ["room-5"])
