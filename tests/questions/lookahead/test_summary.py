# SPDX-License-Identifier: Apache-2.0
"""Cells are counted on the engine."""

from __future__ import annotations

import ibis
import pyarrow as pa

from anonymaly.declare.attributes import Attribute
from anonymaly.questions.lookahead.summary import count_cells


def test_cells_of_attributes_are_counted_without_rows_that_have_no_value() -> None:
    connection = ibis.duckdb.connect()
    connection.con.register(
        "rows", pa.table({"ward": ["A", "B", "A", None, "Z"], "night": [True, False, True, True, True]})
    )
    attributes = (Attribute("ward", ("A", "B")), Attribute("night", (False, True)))
    assert count_cells(connection.table("rows"), attributes).tolist() == [0, 2, 1, 0]
