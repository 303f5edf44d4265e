# SPDX-License-Identifier: Apache-2.0
"""What a journal keeps, and what it refuses to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymaly import noise
from anonymaly.errors import InputError
from anonymaly.noise import source
from studies.journal import Journal, code_digest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Journal(tmp_path / "study.jsonl", {"seed": 1, "cells": (2, 3)}).write({"row": 1})
    return tmp_path / "study.jsonl"


def test_what_was_measured_is_read_again(path: Path) -> None:
    assert list(Journal(path, {"cells": [2, 3], "seed": 1})) == [{"row": 1}]


def test_a_line_that_was_cut_off_is_left_out(path: Path) -> None:
    kept = path.read_text("utf-8")
    path.write_text(kept + '{"row": 17, "val', "utf-8")
    assert list(Journal(path, {"cells": [2, 3], "seed": 1})) == [{"row": 1}]
    assert path.read_text("utf-8") == kept


def test_other_settings_are_refused_and_named_and_nothing_is_lost(path: Path) -> None:
    kept = path.read_bytes()
    with pytest.raises(InputError, match=r"other settings \(code, seed\).*--force") as refused:
        Journal(path, {"seed": 2, "cells": [2, 3], "code": "abc"})
    assert refused.value.exit_code == 2
    assert path.read_bytes() == kept


def test_force_begins_anew(path: Path) -> None:
    assert len(Journal(path, {"seed": 2}, force=True)) == 0
    assert len(Journal(path, {"seed": 2})) == 0


@pytest.mark.parametrize("text", ["", "no journal\n", '{"cells": [2, 3], "seed": 1}\n{"row"\n{"row": 2}\n'])
def test_what_is_no_journal_or_damaged_is_refused(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match="no journal of measurements, or damaged"):
        Journal(path, {"seed": 1, "cells": (2, 3)})


def test_an_earlier_place_is_read_only_where_there_is_no_journal_yet(path: Path, tmp_path: Path) -> None:
    settings = {"seed": 1, "cells": (2, 3)}
    moved = Journal(tmp_path / "new" / "study.jsonl", settings, earlier=path)
    assert list(moved) == [{"row": 1}]
    moved.write({"row": 2})
    assert len(Journal(tmp_path / "new" / "study.jsonl", settings, earlier=path)) == 2
    assert len(Journal(path, settings)) == 1


def test_the_digest_sees_every_file_of_a_package() -> None:
    digests = [code_digest(noise), code_digest(source), code_digest(noise, source), code_digest(source.Noise)]
    assert len(set(digests)) == 3
    assert digests[1] == digests[3]
