# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from anonymaly.audit.system.fault import replaced
from anonymaly.audit.system.power import POWER_FAULTS
from anonymaly.audit.system.power_stories import stories, story_cuts, story_problems
from anonymaly.core import files

STRIDE = 15  # in the tests; `benchmarks/faults_by_number.py` cuts after every step


pytestmark = pytest.mark.usefixtures("heard")


@pytest.mark.slow
@pytest.mark.parametrize(("place", "story"), list(enumerate(stories())), ids=list(stories()))
def test_what_was_reported_before_a_power_cut_is_there_after_it(place: int, story: str) -> None:
    # Each story begins elsewhere, so that together they cut after most steps.
    assert list(story_problems(story, first=place % STRIDE, stride=STRIDE)) == []


def test_a_story_is_cut_after_each_thing_that_it_reports(tmp_path: Path) -> None:
    steps = [cut.after for cut in story_cuts("grants", tmp_path)]
    for told in ("handed over an answer", "granted", "pause", "resume", "revoked", "began to read rows"):
        assert told in steps


@pytest.mark.slow
def test_a_release_whose_name_is_not_on_the_disk_in_time_is_noticed() -> None:
    with replaced(files, "sync_folder", lambda path: None):
        assert any("was released, and is lost" in problem for problem in story_problems("ask share-sample"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["secret not synced", "name of the secret not synced", "anchor written once"]
)
def test_a_story_after_whose_cut_an_answer_is_not_found_again_is_noticed(name: str) -> None:
    (fault,) = [it for it in POWER_FAULTS if it.name == name]
    with fault.planted():
        assert any(story_problems("raise"))
