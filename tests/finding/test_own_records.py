# SPDX-License-Identifier: Apache-2.0
"""The asker's own records, and how they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymaly as am
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import InputError
from anonymaly.finding.own_records import OwnRecords, compared_columns

REFUSED: dict[str, tuple[Any, str]] = {
    "no records": ([], "has no records. Give at least one"),
    "a single record": ({"age": 41}, "Put a single record into a list"),
    "a row": (pd.DataFrame({"age": [41]}).iloc[0], "got Series. Put a single record into a list"),
    "no names": (np.ones((2, 1)), "must have named columns, got ndarray. Give a data frame"),
    "a path": ("new.csv", "Of a file: am.read_alike"),
}


@pytest.mark.parametrize(("records", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_frame_of_records_is_refused_with_how_it_is_given(records: Any, words: str) -> None:
    with pytest.raises(InputError) as refused:
        OwnRecords.read(records, ["age"])
    assert words in str(refused.value)


def test_a_single_name_of_a_column_is_asked_for_in_brackets() -> None:
    declared = Declaration.read(name="people", columns={"age": am.Interval(0, 120)})
    with pytest.raises(InputError, match=r"columns: must be a list of columns\. Put it in brackets"):
        compared_columns(declared, "age")
