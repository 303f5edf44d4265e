# SPDX-License-Identifier: Apache-2.0
"""Synthetic rows of a histogram: their law is the released cells', and nobody takes them for records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy.stats import chisquare

import anonymaly as am
from anonymaly.ask.synthetic import BANNER, MOST_ROWS
from anonymaly.declare.attributes import Attribute
from anonymaly.errors import InputError
from anonymaly.questions.share_histogram.value import ReleasedHistogram

AGES = am.Bins("age", [0, 18, 65, 120])
BY = [
    Attribute("ward", ("A", "B")),
    Attribute("age", AGES.labels, AGES),
    Attribute("new", (False, True)),
    Attribute("year", (2003, 2004)),
]


def histogram() -> ReleasedHistogram:
    cells = np.arange(24) * 3 - 9  # three below 0, one of 0
    return ReleasedHistogram(BY, cells)


def codes(rows: pa.Table) -> Any:
    """Return the cell of each row."""
    place = np.zeros(len(rows), np.int64)
    for item in BY:
        found = [item.code(value) for value in rows[item.column].to_pylist()]
        assert None not in found
        place = place * len(item.values) + np.array(found)
    return place


def test_cells_are_drawn_as_often_as_their_estimates_say_and_empty_ones_never() -> None:
    drawn = histogram().draw(20_000, seed=5)
    seen = np.bincount(codes(drawn.to_arrow()), minlength=24)
    mass = np.maximum(histogram().estimates, 0)
    assert not seen[mass == 0].any()
    # A fixed seed; of all seeds one in 10,000 fails.
    expected = mass[mass > 0] / mass.sum() * 20_000
    assert chisquare(seen[mass > 0], expected).pvalue > 1e-4


def test_numbers_lie_evenly_in_their_bin_and_columns_have_their_types() -> None:
    rows = histogram().draw(5000, seed=1).to_arrow()
    kinds = {field.name: field.type for field in rows.schema}
    assert kinds == {
        "ward": pa.string(),
        "age": pa.float64(),
        "new": pa.bool_(),
        "year": pa.int64(),
        "synthetic": pa.bool_(),
    }
    ages = rows["age"].to_numpy()
    middle = ages[(ages >= 18) & (ages < 65)]
    assert chisquare(np.histogram(middle, np.linspace(18, 65, 11))[0]).pvalue > 1e-4


def test_a_seed_repeats_the_rows_and_without_one_they_differ() -> None:
    first = histogram().draw(50, seed=3)
    assert first.to_arrow().equals(histogram().draw(50, seed=3).to_arrow())
    assert not first.to_arrow().equals(histogram().draw(50, seed=4).to_arrow())
    free = histogram().draw(50)
    assert not free.to_arrow().equals(histogram().draw(50).to_arrow())
    assert free.to_arrow().equals(histogram().draw(50, seed=free.seed).to_arrow())


def test_rows_say_that_they_are_synthetic_wherever_they_go(tmp_path: Path) -> None:
    rows = histogram().draw(3, seed=0)
    assert str(rows).startswith(BANNER)
    assert repr(rows).startswith("SyntheticRows(3 rows")
    assert rows.to_dict()["synthetic"] is True
    assert rows.to_pandas().attrs == {"synthetic": BANNER}
    assert rows.to_pandas()["synthetic"].all()
    for name in ("rows.csv", "rows.parquet"):
        rows.write(tmp_path / name)
    assert pyarrow.csv.read_csv(tmp_path / "rows.csv")["synthetic"].to_pylist() == [True] * 3
    assert pa.parquet.read_table(tmp_path / "rows.parquet")["synthetic"].to_pylist() == [True] * 3
    taken = ReleasedHistogram([Attribute("synthetic", ("yes", "no"))], [1, 0]).draw(1, seed=0)
    assert taken.columns == ["synthetic", "synthetic_row"]
    capital = ReleasedHistogram([Attribute("Synthetic", ("yes", "no"))], [1, 0]).draw(1, seed=0)
    assert capital.columns == ["Synthetic", "synthetic_row"], "to some engines capitals are the same name"


def test_files_without_rows_say_that_they_are_synthetic_as_well(tmp_path: Path) -> None:
    nothing = histogram().draw(0, seed=0)
    for name in ("rows.csv", "rows.parquet", "rows.arrow"):
        nothing.write(tmp_path / name)
    assert (tmp_path / "rows.csv").read_text("utf-8").strip().endswith('"synthetic"')
    for schema in (
        pa.parquet.read_schema(tmp_path / "rows.parquet"),
        pa.ipc.open_file(tmp_path / "rows.arrow").schema,
    ):
        assert schema.names[-1] == "synthetic"
        assert schema.metadata[b"synthetic"].decode() == BANNER


def test_one_cell_no_rows_and_a_histogram_without_records() -> None:
    one = ReleasedHistogram([Attribute("ward", ("A",))], [1])
    assert one.draw(2, seed=0).to_arrow()["ward"].to_pylist() == ["A", "A"]
    assert len(one.draw(0, seed=0)) == 0
    empty = ReleasedHistogram([Attribute("ward", ("A", "B"))], [0, -2])
    assert len(empty.draw(0, seed=0)) == 0
    with pytest.raises(InputError, match="no cell above 0"):
        empty.draw(1, seed=0)


@pytest.mark.parametrize("given", [{"rows": -1}, {"rows": True}, {"rows": 1.5}, {"rows": MOST_ROWS + 1}])
@pytest.mark.parametrize("seed", [None, 0])
def test_a_number_of_rows_is_checked(given: dict[str, Any], seed: int | None) -> None:
    with pytest.raises(InputError, match="rows"):
        histogram().draw(given["rows"], seed=seed)


@pytest.mark.parametrize("seed", [-1, True, "7", 0.5, 2**64])
def test_a_seed_is_checked(seed: Any) -> None:
    with pytest.raises(InputError, match="seed"):
        histogram().draw(1, seed=seed)


def test_bins_as_wide_as_numbers_go_are_drawn_from() -> None:
    wide = am.Bins("x", [-1.7e308, 1.7e308])
    rows = ReleasedHistogram([Attribute("x", wide.labels, wide)], [1]).draw(100, seed=2).to_arrow()
    assert np.isfinite(rows["x"].to_numpy()).all()
