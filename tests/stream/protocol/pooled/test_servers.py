# SPDX-License-Identifier: Apache-2.0
"""What servers of a pool refuse of each other, and of sensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anonymaly.errors import InputError
from anonymaly.stream import Message, Outgoing, PooledCorrector, PooledDeclaration, PooledDetector
from anonymaly.stream.protocol.encoding import LARGEST_NUMBER
from anonymaly.stream.protocol.messages import Thresholds, read_message
from anonymaly.stream.protocol.pooled.messages import (
    Agreed,
    Gathered,
    PooledCandidates,
    PooledReading,
    PooledShift,
    PooledSuspects,
    PooledVerdict,
)
from tests.stream.protocol.pooled.pool import LEAST, NAMES, POOL, WINDOWS

ZERO, NOBODY = bytes(16), np.zeros(len(NAMES), np.bool_)
ALL = ~NOBODY


@pytest.fixture
def detector(tmp_path: Path) -> Iterator[PooledDetector]:
    with PooledDetector(POOL, NAMES, tmp_path / "detector.journal") as made:
        yield made


@pytest.fixture
def corrector(tmp_path: Path) -> Iterator[PooledCorrector]:
    with PooledCorrector(POOL, NAMES, tmp_path / "corrector.journal") as made:
        yield made


def readings(window: int = 0) -> list[PooledReading]:
    return [PooledReading(name, window, np.array([100]), ZERO, window - 1) for name in NAMES]


def shifts(window: int = 0, moved: int = 40) -> list[PooledShift]:
    return [PooledShift(name, window, np.array([moved]), ZERO, window - 1) for name in NAMES]


def gathered(detector: PooledDetector) -> Gathered:
    made = [item.message for message in readings() for item in detector.handle(message)]
    (found,) = [message for message in made if isinstance(message, Gathered)]
    return found


def agreed(corrector: PooledCorrector, named: Gathered) -> list[Outgoing]:
    for message in shifts():
        corrector.handle(message)
    return corrector.handle(named)


def refused(party: PooledDetector | PooledCorrector, message: Message, why: str) -> None:
    with pytest.raises(InputError, match=why):
        party.handle(message)
    assert party.waiting == len(party.resume())


def test_shares_that_do_not_fit_are_refused(detector: PooledDetector, corrector: PooledCorrector) -> None:
    first, moved = readings()[0], shifts()[0]
    refused(detector, replace(first, sensor="stranger"), "not declared")
    refused(detector, replace(first, values=np.array([1, 2])), "does not fit")
    refused(corrector, replace(moved, values=np.array([1, 2])), "does not fit")
    refused(detector, replace(first, previous=0), "does not fit")
    refused(detector, moved, "is not for detector")
    refused(corrector, first, "is not for corrector")


def test_a_sensor_that_is_far_ahead_is_told_to_come_later(detector: PooledDetector) -> None:
    for window in range(256):
        detector.handle(PooledReading("room-0", window, np.array([100]), ZERO, window - 1))
    refused(detector, PooledReading("room-0", 256, np.array([100]), ZERO, 255), "ahead of what is finished")


def test_the_corrector_takes_no_list_of_another_declaration(
    corrector: PooledCorrector, tmp_path: Path
) -> None:
    other = PooledDeclaration.read(POOL.to_dict() | {"least_suspects": 4})
    with PooledDetector(other, NAMES, tmp_path / "other.journal") as detector:
        refused(corrector, gathered(detector), "another declaration")


def test_the_corrector_takes_no_other_list_than_was_agreed_on(
    detector: PooledDetector, corrector: PooledCorrector
) -> None:
    named = gathered(detector)
    few = ALL.copy()
    few[0] = False
    refused(corrector, PooledSuspects(POOL.pool, 0, ALL, NOBODY), "not agreed on")
    answers = [item.message for item in agreed(corrector, named) if isinstance(item.message, Agreed)]
    assert answers[0].members.all()
    refused(corrector, PooledCandidates(POOL.pool, 0, ALL, NOBODY, NOBODY), "never given")
    refused(corrector, PooledSuspects(POOL.pool, 0, few, NOBODY), "another list")
    refused(corrector, PooledSuspects("elsewhere", 0, ALL, NOBODY), "another pool")
    _, told = corrector.handle(PooledSuspects(POOL.pool, 0, ALL, ALL))
    assert isinstance(told.message, Thresholds)
    refused(corrector, PooledCandidates(POOL.pool, 0, few, NOBODY, NOBODY), "another list")


def test_the_corrector_tells_one_pair_of_distances_of_a_window(
    detector: PooledDetector, corrector: PooledCorrector
) -> None:
    agreed(corrector, gathered(detector))
    corrector.handle(PooledSuspects(POOL.pool, 0, ALL, ALL))
    again = corrector.handle(PooledSuspects(POOL.pool, 0, ALL, ~NOBODY & (np.arange(len(NAMES)) > 2)))
    assert len(again) == 1  # a receipt and no more


def test_too_few_suspects_are_told_no_distance_however_many_sensors_there_are(
    detector: PooledDetector, corrector: PooledCorrector
) -> None:
    agreed(corrector, gathered(detector))
    two = NOBODY.copy()
    two[[3, 4]] = True
    _, told = corrector.handle(PooledSuspects(POOL.pool, 0, ALL, two))
    assert isinstance(told.message, Thresholds)
    assert told.message.near is None


def test_the_corrector_agrees_only_to_what_it_holds_and_judges_no_shorter_list(
    detector: PooledDetector, corrector: PooledCorrector
) -> None:
    named = gathered(detector)
    for message in shifts()[: LEAST - 1]:
        corrector.handle(message)
    assert len(corrector.handle(named)) == 1  # a receipt: others may be on their way
    told, ended = corrector.tick(WINDOWS.closes(0))
    assert isinstance(told.message, Agreed)
    assert int(told.message.members.sum()) == LEAST - 1
    assert ended.recipient == "owner"
    assert [item.message for item in detector.handle(told.message)][1:] == []
    assert (detector.floor, corrector.floor) == (1, 1)


def test_the_detector_takes_no_answer_to_what_it_did_not_say(detector: PooledDetector) -> None:
    refused(detector, Agreed(POOL.pool, 0, ALL), "never named")
    refused(detector, Thresholds(POOL.pool, 0, 5, 9), "never named")
    few = [message for message in readings() if message.sensor != "room-0"]
    for message in few:
        detector.handle(message)
    detector.tick(WINDOWS.closes(0))
    refused(detector, Agreed(POOL.pool, 0, ALL), "not on the list")


def test_a_server_that_does_not_know_the_newest_sensor_yet_goes_on_with_the_others(
    detector: PooledDetector, tmp_path: Path
) -> None:
    names = [*NAMES, "room-new"]
    with PooledCorrector(POOL, names, tmp_path / "newer.journal") as corrector:
        answers = [item.message for item in agreed(corrector, gathered(detector))]
        (told,) = [message for message in answers if isinstance(message, Agreed)]
        assert (len(told.members), told.members.all()) == (len(NAMES), True)


def test_a_retired_sensor_is_not_waited_for(tmp_path: Path) -> None:
    with PooledDetector(POOL, NAMES, tmp_path / "without.journal", retired=["room-0"]) as detector:
        made = [item.message for message in readings()[1:] for item in detector.handle(message)]
        assert any(isinstance(message, Gathered) for message in made)


def test_a_pool_with_too_few_sensors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs at least 6"):
        PooledDetector(POOL, NAMES[:5], tmp_path / "few.journal")


def chosen(*places: int) -> np.ndarray:
    return np.isin(np.arange(len(NAMES)), places)


def with_shifts(corrector: PooledCorrector, named: Gathered, moved: dict[int, int]) -> None:
    for place, message in enumerate(shifts()):
        corrector.handle(replace(message, values=np.array([moved.get(place, 40)])))
    corrector.handle(named)


def test_sensors_on_the_detectors_side_make_the_distance_that_of_the_one_other_suspect(
    detector: PooledDetector, corrector: PooledCorrector
) -> None:
    with_shifts(corrector, gathered(detector), {3: 10**6, 4: 10**6, 5: 77})
    _, told = corrector.handle(PooledSuspects(POOL.pool, 0, ALL, chosen(3, 4, 5)))
    assert isinstance(told.message, Thresholds)
    assert told.message.near == 77


def test_a_sensor_that_claims_not_to_have_moved_can_hide_the_faults_of_others(
    detector: PooledDetector, corrector: PooledCorrector
) -> None:
    verdicts = []
    for honest in (True, False):
        window = 0 if honest else 1
        # Faults, which noise moved outward by about as much; a liar among the suspects, or none.
        moved = {3: 3000, 4: 3100, 5: 2950 if honest else 0}
        named = Gathered(
            POOL.pool, window, corrector._declared(len(NAMES)), ALL,
            tuple(replace(message, window=window, previous=window - 1).digest for message in shifts()),
        )  # fmt: skip
        for place, message in enumerate(shifts(window)):
            corrector.handle(replace(message, values=np.array([moved.get(place, 0)])))
        corrector.handle(named)
        corrector.handle(PooledSuspects(POOL.pool, window, ALL, chosen(3, 4, 5)))
        made = corrector.handle(PooledCandidates(POOL.pool, window, ALL, NOBODY, NOBODY))
        verdicts.append(made[1].message.confirmed)  # type: ignore[attr-defined]
    assert verdicts[0][[3, 4]].any()
    assert not verdicts[1][[3, 4]].any()


def test_sensors_that_claim_the_largest_moves_hold_nobody_up(
    detector: PooledDetector, corrector: PooledCorrector
) -> None:
    with_shifts(corrector, gathered(detector), dict.fromkeys((3, 4, 5), LARGEST_NUMBER))
    _, told = corrector.handle(PooledSuspects(POOL.pool, 0, ALL, chosen(3, 4, 5)))
    assert isinstance(read := read_message(told.message.to_bytes()), Thresholds)
    assert read.near == LARGEST_NUMBER
    assert corrector.resume(), "what it said can be read again"
    made = corrector.handle(PooledCandidates(POOL.pool, 0, ALL, NOBODY, NOBODY))
    assert isinstance(made[1].message, PooledVerdict)
