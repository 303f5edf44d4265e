# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime

import pytest

from anonymaly.errors import InputError
from anonymaly.stream import PooledWindows

MINUTES = PooledWindows(start="2026-01-01T00:00:00+00:00", seconds=0.1, lateness=30, least_sensors=2)


def test_windows_meet_and_do_not_overlap() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    # A tenth of a second is no binary number: quotients of floats would put some ends into the window before.
    assert [MINUTES.number_of(start + number / 10) for number in range(2000)] == list(range(2000))
    assert MINUTES.number_of(start + 0.0999) == 0


def test_a_moment_is_the_same_however_it_is_written() -> None:
    moment = datetime(2026, 1, 1, 1, tzinfo=UTC)
    texts = ["2026-01-01T01:00:00+00:00", "2026-01-01T02:00:00+01:00"]
    assert MINUTES.numbers_of([*texts, moment, moment.timestamp()]).tolist() == [36_000] * 4


@pytest.mark.parametrize(
    "moment", ["2026-01-01T01:00:00", "noon", datetime(2026, 1, 1), True, float("nan"), None]
)
def test_a_moment_that_could_be_several_is_refused(moment: object) -> None:
    with pytest.raises(InputError, match="offset from UTC"):
        MINUTES.number_of(moment)  # type: ignore[arg-type]


def test_a_moment_before_the_first_window_is_refused() -> None:
    with pytest.raises(InputError, match="lies before the first window"):
        MINUTES.number_of("2025-12-31T23:59:59+00:00")
