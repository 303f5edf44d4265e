# SPDX-License-Identifier: Apache-2.0
"""The question asked of a curator: charged, stored, promised; and what is refused before any charge."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import anonymaly as am
from anonymaly.audit.fit import fit_integers
from anonymaly.errors import InputError, Refused
from anonymaly.noise import Noise, two_sided_geometric_mass
from anonymaly.questions.score.methods.lattice import axes_in_index

RECORDS = pd.DataFrame(np.random.default_rng(1).normal(0.5, 0.1, (300, 4)), columns=list("abcd"))
COLUMNS = {name: am.Interval(0, 1) for name in "abcd"}


@pytest.fixture
def curator(tmp_path: Path) -> am.Curator:
    more = {"e": am.Interval(0, 1), "f": am.Interval(0, 1), "g": am.Interval(0, 1)}
    narrow = am.Interval(2**60, 2**60 + 1)  # one double
    columns = {**COLUMNS, "d": am.Categories(["x"]), **more, "h": narrow}
    table = am.Dataset(RECORDS.assign(d="x", e=0.5, f=0.5, g=0.5, h=2**60), name="t", columns=columns)
    return am.Curator(table, budget=10, ledger=tmp_path / "t.ledger")


@pytest.mark.parametrize("method", ["grid", "marginals", "auto", None])
def test_a_released_model_scores_saves_and_says_its_promise(
    curator: am.Curator, method: str | None, tmp_path: Path
) -> None:
    answer = curator.ask(am.Score(columns=["a", "b", "c"], method=method, epsilon=1))
    model = answer.value
    assert model.guarantee == answer.guarantee
    assert "ε = 1" in model.promise
    usual, odd = model.score([[0.5, 0.5, 0.5], [0.02, 0.98, 0.02]])
    assert usual < odd
    assert curator.ask(am.Score(columns=["a", "b", "c"], method=method, epsilon=1)).charged == 0
    model.save(tmp_path / "m.model")
    assert am.Model.load(tmp_path / "m.model").guarantee == answer.guarantee
    assert f"a model by the method {model.method.name}" in str(answer)


def test_a_simulated_model_says_that_nothing_is_promised() -> None:
    table = am.Dataset(RECORDS, name="t", columns=COLUMNS, public=True)
    model = am.simulate(am.Score(columns=["a"], epsilon=1), table, seed=1).value
    assert model.guarantee is None
    assert "Nothing is promised" in model.promise


@pytest.mark.parametrize(
    "options", [{"method": "grid"}, {"method": "marginals"}, {"method": "grid", "cells": 2}], ids=str
)
def test_a_preview_says_that_a_number_of_rows_that_is_given_is_public(
    curator: am.Curator, options: dict[str, Any]
) -> None:
    given = curator.preview(am.Score(columns=["a", "b"], rows=300, epsilon=1, **options))
    assert "not hidden: rows=300 is public" in str(given)
    assert "is public" not in str(curator.preview(am.Score(columns=["a", "b"], epsilon=1, **options)))


@pytest.mark.parametrize("method", ["grid", "marginals"])
def test_a_model_says_wherever_it_goes_that_a_number_of_rows_that_is_given_is_public(
    curator: am.Curator, method: str, tmp_path: Path
) -> None:
    public = "The number of records, 300, was given as public and is not hidden."
    query = am.Score(columns=["a", "b"], method=method, rows=300, contamination=0.1, epsilon=1)
    model = curator.ask(query).value
    model.save(tmp_path / "m.model")
    renamed = model.with_columns(["x", "y"])
    for told in (model, am.Model.load(tmp_path / "m.model"), curator.ask(query).value, renamed):
        assert told.promise.splitlines()[-1] == public
    counted = curator.ask(am.Score(columns=["a", "b"], method=method, epsilon=1)).value
    assert "given as public" not in counted.promise
    assert "rows" not in counted.describe(), "a model that was not given a number is the file that it was"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"columns": []}, "columns"),
    ({"columns": ["a", "nobody"]}, "no declared column 'nobody'"),
    ({"columns": ["a", "a"]}, "twice"),
    ({"columns": {"a", "b"}}, "no order"),
    ({"columns": ["a", "d"], "method": "marginals"}, "needs numbers"),
    ({"method": "svm"}, "no method 'svm'"),
    ({"method": "grid", "bins": 5}, "bins: is not a parameter"),
    ({"method": "marginals", "cells": 5}, "cells: is not a parameter"),
    ({"method": "grid", "cells": 1}, "cells"),
    ({"method": "grid", "cells": 5000}, "cells"),
    ({"method": "grid", "neighbours": 0}, "neighbours"),
    ({"method": "grid", "depth": 0}, "depth: must be positive"),
    ({"method": "grid", "depth": "far"}, "depth"),
    ({"method": "grid", "distance": "cosine"}, "distance"),
    ({"method": "grid", "threshold": -1}, "threshold"),
    ({"method": "grid", "cells": 500, "threshold": 1}, "for a file to hold"),
    ({"method": "grid", "threshold": 1, "columns": ["a", "b", "c", "e", "f", "g"]}, "for a file to hold"),
    ({"columns": ["a", "h"]}, "bounds of h, .* are too close"),
    ({"method": "grid", "cells": 1000, "distance": "euclidean"}, "too many for euclidean"),
    ({"contamination": 0}, "contamination: must be positive"),
    ({"contamination": 0.7}, "contamination"),
    ({"contamination": "nan"}, "contamination"),
    ({"rows": 0}, "rows"),
    ({"epsilon": "0.000000005", "contamination": 0.1}, "epsilon: is too small"),
]


@pytest.mark.parametrize(("options", "said"), BAD, ids=[said for _, said in BAD])
def test_what_cannot_be_asked_is_refused_before_the_charge(
    curator: am.Curator, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        curator.ask(am.Score(**{"columns": ["a", "b", "c"], "epsilon": 1, **options}))
    assert curator.spent == 0


def test_a_held_model_is_refused_before_the_charge_and_where_cells_have_no_index(curator: am.Curator) -> None:
    query = am.Score(columns=["a", "b"], method="grid", form="held", epsilon=1)
    with pytest.raises(Refused, match="cannot be stored"):
        curator.ask(query)
    with pytest.raises(Refused):
        curator.preview(query)
    assert curator.spent == 0
    wide = {f"c{number}": am.Interval(0, 1) for number in range(axes_in_index(10) + 1)}
    frame = pd.DataFrame({name: [0.5] for name in wide})
    table = am.Dataset(frame, name="wide", columns=wide, public=True)
    with pytest.raises(InputError, match="at most 27 columns"):
        am.simulate(
            am.Score(columns=list(wide), method="grid", cells=10, form="held", epsilon=1), table, seed=1
        )


def _held(noise: Noise, cells: int = 2) -> Any:
    table = am.Dataset(RECORDS, name="t", columns=COLUMNS, public=True)
    query = am.Score(columns=["a", "b"], method="grid", cells=cells, form="held", rows=300, epsilon=1)
    return query.bind(table.declaration).answer(table.table, noise)


def test_every_held_release_has_a_fresh_key() -> None:
    keys = [_held(Noise.system())._body["key"].tobytes() for _ in range(10)]
    assert len(set(keys)) == 10
    assert all(len(key) == 32 for key in keys)
    bits = np.unpackbits(np.frombuffer(b"".join(keys), np.uint8))
    assert stats.binomtest(int(bits.sum()), len(bits)).pvalue > 1e-6


def test_keyed_noise_of_a_lattices_cells_has_the_law_of_the_charge() -> None:
    model = _held(Noise.system(), cells=100)
    noise = Noise.keyed(model._body["key"].tobytes())
    drawn = noise.two_sided_geometric_at(Fraction(model.method.rate), np.arange(10_000))
    assert model.method.rate == "1"
    assert fit_integers(drawn, lambda value: two_sided_geometric_mass(Fraction(1), value)).fits
    assert not fit_integers(drawn, lambda value: two_sided_geometric_mass(Fraction(9, 10), value)).fits


def test_the_rows_and_adjacency_of_a_person_widen_the_noise(tmp_path: Path) -> None:
    frame = RECORDS.assign(who=[f"p{number // 3}" for number in range(len(RECORDS))])
    rates = []
    for adjacency, person in (
        ("add_remove", {}),
        ("replace", {}),
        ("replace", {"person": "who", "max_rows": 3}),
    ):
        table = am.Dataset(frame, name="t", columns=COLUMNS, **person)
        curator = am.Curator(table, budget=1, ledger=tmp_path / f"{len(rates)}.ledger", adjacency=adjacency)
        model = curator.ask(am.Score(columns=["a", "b"], method="grid", rows=300, epsilon="0.6")).value
        rates.append(Fraction(model.method.rate))
    assert rates == [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)]
