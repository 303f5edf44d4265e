# SPDX-License-Identifier: Apache-2.0
"""The corrector tells no distance of few suspects, whoever names them, and every window has its verdict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from anonymaly import Interval
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.stream import Column, Corrector, Declaration, LocalTransport, Owner, Sensor
from anonymaly.stream.programs.setup import example_declaration, set_up
from anonymaly.stream.protocol.correction import split_suspects
from anonymaly.stream.protocol.encoding import LARGEST_NUMBER
from anonymaly.stream.protocol.messages import Candidates, Readings, Shifts, Suspects, Thresholds, Verdict
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.perturb import Perturbed, perturb
from anonymaly.stream.protocol.promise import StreamPromise
from anonymaly.stream.protocol.suggest import correct
from tests.stream.protocol.parties import CELSIUS, close, make

ROOM = Column("celsius", range=Interval(18, 26), outer=Interval(-50, 400), step=0.01)
WINDOW = 50
MOVES = [-40, 900, -3, 55, 1200, 0]


def room(least: int | None = None, window: int = WINDOW) -> Declaration:
    given = {} if least is None else {"least_suspects": least}
    return Declaration(columns=[ROOM], epsilon="0.1", window=window, layer=40, **given)  # type: ignore[arg-type]


def members(size: int, *places: int) -> np.ndarray:
    named = np.zeros(size, np.bool_)
    named[list(places)] = True
    return named


def told(answers: list[Outgoing]) -> list[Thresholds]:
    return [item.message for item in answers if isinstance(item.message, Thresholds)]


def judged(corrector: Corrector, suspects: np.ndarray, moves: list[int]) -> tuple[Thresholds, Verdict]:
    """Take a window through the corrector with a detector that calls everything else a candidate."""
    corrector.handle(Shifts("room", 0, np.array(moves), last=True))
    (thresholds,) = told(corrector.handle(Suspects("room", 0, suspects)))
    answers = corrector.handle(Candidates("room", 0, ~suspects, ~suspects))
    (verdict,) = [item.message for item in answers if isinstance(item.message, Verdict)]
    return thresholds, verdict


@pytest.fixture
def sent(tmp_path: Path) -> tuple[np.ndarray, np.ndarray, Corrector]:
    """Ordinary readings in a window, what the detector holds of them, and a corrector that has its share."""
    declared = room()
    readings = np.round(np.random.default_rng(0).uniform(18, 26, WINDOW), 2)
    with Sensor("room", declared, journal=tmp_path / "s", ledger=tmp_path / "l", budget=1000) as sensor:
        made = [item.message for item in sensor.send(readings)]
    corrector = Corrector({"room": declared}, tmp_path / "c")
    for message in made:
        if isinstance(message, Shifts):
            corrector.handle(message)
    perturbed = np.concatenate([message.values for message in made if isinstance(message, Readings)])
    return readings, perturbed, corrector


def test_a_detector_that_names_one_ordinary_reading_as_its_only_suspect_gets_nothing(
    sent: tuple[np.ndarray, np.ndarray, Corrector],
) -> None:
    _, _, corrector = sent
    (thresholds,) = told(corrector.handle(Suspects("room", 0, members(WINDOW, 17))))
    assert (thresholds.near, thresholds.far) == (None, None)
    # Nor does it get a second try.
    assert told(corrector.handle(Suspects("room", 0, members(WINDOW, 17, 18)))) == []
    corrector.close()


def test_a_detector_that_names_company_of_which_it_knows_that_it_moved_farther_gets_a_distance_as_promised(
    sent: tuple[np.ndarray, np.ndarray, Corrector],
) -> None:
    """This is what the promise says of a detector that deviates; a least number does not prevent it."""
    readings, perturbed, corrector = sent
    declared = room()
    distances = declared.distances(perturbed)
    # Readings in range lie at most ½ from the centre, so this one moved farther than any near reading.
    company = int(np.argmax(distances))
    near = np.flatnonzero(distances < distances[company] - 0.5)
    target = int(near[0])
    (thresholds,) = told(corrector.handle(Suspects("room", 0, members(WINDOW, target, company))))
    assert thresholds.near is not None
    found = distances[target] - thresholds.near * declared.precision
    assert 8 * found == pytest.approx(abs(readings[target] - 22), abs=8 * declared.precision)
    assert "the distance of a reading of its choice, if" in StreamPromise(declared, 0).describe()
    alone = declared.model_copy(update={"least_suspects": 1})
    assert "the distance of a reading of its choice. A" in StreamPromise(alone, 0).describe()
    corrector.close()


@pytest.mark.parametrize("least", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("named", range(7))
def test_below_the_least_number_what_is_told_does_not_depend_on_the_moves(
    tmp_path: Path, least: int, named: int
) -> None:
    suspects = members(6, *range(named))
    views = []
    for number, moves in enumerate((MOVES, [move + 7 * place for place, move in enumerate(MOVES)])):
        with Corrector({"room": room(least, window=6)}, tmp_path / str(number)) as corrector:
            views.append(judged(corrector, suspects, moves))
    few = named < max(least, 1)
    for thresholds, verdict in views:
        assert ((thresholds.near, thresholds.far) == (None, None)) is few
        assert verdict.complete
        if few:
            # All suspects are shown, and the layers that need a distance are empty.
            assert verdict.confirmed.tolist() == suspects.tolist()
            assert not verdict.covered.any()
            assert not verdict.covered_far.any()
    # What needs no distance stays: the readings that moved inward.
    assert views[0][1].inward.tolist() == (~suspects & (np.array(MOVES) < 0)).tolist()


def test_every_window_has_one_verdict_that_one_hand_finds_too(tmp_path: Path) -> None:
    declared = Declaration(
        columns=[CELSIUS], epsilon=2, window=10, layer=2.0, model="radius", least_suspects=4
    )
    parties = make(tmp_path, declaration=declared)
    sensor, owner = parties["sensor/room-1"], parties["owner"]
    assert isinstance(sensor, Sensor)
    assert isinstance(owner, Owner)
    kept: list[Readings | Shifts | Thresholds] = []
    transport = LocalTransport(
        parties.values(),
        lambda message: kept.append(message) if isinstance(message, Readings | Shifts | Thresholds) else None,
    )
    transport.carry(sensor.send(np.where(np.arange(300) % 10 < np.arange(300) // 50, 79.0, 20.0)))
    found = {item.verdict.window: item.verdict for item in owner.verdicts()}
    assert sorted(found) == list(range(30))
    few = []
    for window, verdict in found.items():
        parts = {type(message): message for message in kept if message.window == window}
        readings, shifts, thresholds = parts[Readings], parts[Shifts], parts[Thresholds]
        assert isinstance(readings, Readings)
        assert isinstance(shifts, Shifts)
        assert isinstance(thresholds, Thresholds)
        at_once = correct(declared, Perturbed(readings.values, shifts.values))
        assert (verdict.found == at_once.found).all()
        few.append(at_once.suspects.sum() < 4)
        assert (thresholds.near is None) == few[-1]
    assert 0 < sum(few) < 30
    close(parties)


def test_a_stream_of_before_is_read_as_if_it_had_asked_for_two() -> None:
    assert room().least_suspects == 2
    assert room(2) == room()
    assert "least_suspects" not in room(2).to_dict(), "accounts that exist keep their declaration"
    assert room(5).to_dict()["least_suspects"] == 5
    assert Declaration.read(room(5).to_dict()) == room(5)
    with pytest.raises(InputError, match="least_suspects"):
        room(0)


def test_a_distance_that_was_told_before_an_update_is_the_one_that_candidates_are_judged_by(
    tmp_path: Path,
) -> None:
    one = members(6, 3)
    with Corrector({"room": room(1, window=6)}, tmp_path / "c") as corrector:
        corrector.handle(Shifts("room", 0, np.array(MOVES), last=True))
        (thresholds,) = told(corrector.handle(Suspects("room", 0, one)))
        assert thresholds.near == 55
    with Corrector({"room": room(window=6)}, tmp_path / "c") as corrector:
        answers = corrector.handle(Candidates("room", 0, ~one, ~one))
    (verdict,) = [item.message for item in answers if isinstance(item.message, Verdict)]
    assert np.flatnonzero(verdict.covered).tolist() == [5]
    assert np.flatnonzero(verdict.confirmed).tolist() == [3]


def test_the_first_configuration_shows_the_number(tmp_path: Path) -> None:
    for path in set_up(tmp_path, ["room-1", "room-2"], example_declaration(), budget=1000):
        if path.suffix == ".yaml":
            text = path.read_text("utf-8")
            streams = yaml.safe_load(text)["streams"]
            assert {stream["least_suspects"] for stream in streams.values()} == {3}
            assert "&" not in text, "written out for each sensor, so that each can be changed"


def test_more_suspects_leave_fewer_windows_in_which_only_one_can_be_meant() -> None:
    """The table of the page: 400 windows without a fault; six standard deviations, 2e-9 for each share."""
    declared = Declaration(
        columns=[ROOM], epsilon=1, window=500, layer=40, parameters={"radius": 2, "neighbours": 25}
    )
    draw, noise, model = np.random.default_rng(3), Noise.seeded(5), declared.make_model()
    counted = []
    for _ in range(400):
        perturbed = perturb(declared, draw.uniform(18, 26, (500, 1)), noise)
        suspects = model.suspects(declared.places(perturbed.values))
        least = split_suspects(perturbed.shifts, suspects).least
        # A suspect can be meant if the distance that it would have had lies in range.
        before = declared.distances(perturbed.values)[suspects] - (least or 0) * declared.precision
        counted.append((suspects.sum(), ((before >= -0.001) & (before <= 0.501)).sum()))
    number, meant = np.array(counted).T
    for least_suspects, share in {1: 0.59, 2: 0.236, 3: 0.075, 5: 0.005}.items():
        singled_out = ((number >= least_suspects) & (meant == 1)).mean()
        assert singled_out == pytest.approx(share, abs=6 * (share * (1 - share) / 400) ** 0.5)


def test_a_sensor_that_claims_the_largest_moves_holds_up_no_other(tmp_path: Path) -> None:
    with Corrector({"room": room(), "liar": room()}, tmp_path / "corrector.journal") as corrector:
        corrector.handle(Shifts("liar", 0, np.full(WINDOW, LARGEST_NUMBER), last=True))
        made = corrector.handle(Suspects("liar", 0, members(WINDOW, 3, 4)))
        assert [thresholds.near for thresholds in told(made)] == [LARGEST_NUMBER]
        assert told(corrector.resume()), "what it said can be read again, beside what is said to others"
