# SPDX-License-Identifier: Apache-2.0
"""Uses every compiled function once, on a few invented rows, family by family; nothing is charged or kept."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

import anonymaly
from anonymaly.ask.catalogue import QUESTIONS, load
from anonymaly.ask.query import Query
from anonymaly.ask.simulation import simulate
from anonymaly.core.compiled import KERNELS
from anonymaly.core.extras import missing
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Interval
from anonymaly.detectors import DETECTORS
from anonymaly.noise import Noise
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.identify.balls import METRICS, Balls
from anonymaly.questions.identify.kernels.counter import BallCounter
from anonymaly.questions.score.query import Score
from anonymaly.questions.share_histogram.methods import METHODS

RATE = Fraction(1, 10)
KERNEL_FOLDERS = ("anonymaly.noise", "anonymaly.core", "anonymaly.questions")


def use_noise() -> None:
    """Draw from every law."""
    noise = Noise.system()
    noise.two_sided_geometric(RATE, 2)
    noise.one_sided_geometric(RATE, 2)
    noise.uniform(5, 2)
    noise.bernoulli_exp(RATE, 2)
    noise.bernoulli(RATE, 2)
    noise.permutation(2)
    noise.thin([3], RATE)
    noise.partition(np.zeros((2, 4), np.int64))
    noise.choose([1, 2], RATE)
    Noise.keyed(bytes(32)).two_sided_geometric_at(RATE, [1])


def use_explain() -> None:
    """Look for groups by every detector, among all groups and among a sample of them."""
    _ask_examples(load("explain"))
    under_rule = Explain.examples()[-1]
    for detector in DETECTORS:
        for search in ("exact", "random_walk"):
            changed = under_rule.query.model_copy(update={"detector": detector, "search": search})
            _ask(changed, under_rule.records, under_rule.columns, under_rule.rules)
    many = [f"{number}" for number in range(30)]  # so many subsets that a sample of them is judged
    _ask(
        Explain(
            record={"job": "1", "city": "2", "pay": 9},
            metric="pay",
            attributes=["job", "city"],
            among="subsets",
            epsilon="0.5",
        ),
        {"job": many, "city": many, "pay": [1] * 29 + [9]},
        {"job": Categories(many), "city": Categories(many), "pay": Interval(0, 10, 1)},
    )


def use_identify() -> None:
    """Count rows in balls, by each metric."""
    along = np.linspace(0, 1, 5_000)
    rows = np.column_stack([along, along * 7 % 1])
    for metric in METRICS:
        BallCounter(Balls(rows[:50], 0.1, metric, 10)).add(rows)


def use_score() -> None:
    """Make a model by each method, and score a record by it."""
    _ask_examples(load("score"))
    for method in ("grid", "marginals"):
        columns = {"age": Interval(0, 120), "weight": Interval(20, 220)}
        rows: dict[str, list[float]] = {"age": [71, 64, 58], "weight": [80, 70, 75.5]}
        query = Score(columns=list(columns), method=method, epsilon="0.5")
        _ask(query, rows, columns).value.score({name: [values[0]] for name, values in rows.items()})


def use_share_histogram() -> None:
    """Count records of each kind, by each method."""
    example = load("share-histogram").example()
    for method in METHODS:
        query = example.query.model_copy(update={"method": method})
        _ask(query, example.records, example.columns, example.rules)


def use_other_questions() -> None:
    """Ask the questions that have no compiled functions of their own, and use those of the noise."""
    for name in QUESTIONS:
        if name not in FAMILIES:
            _ask_examples(load(name))


def use_stream() -> None:
    """Count readings near a place."""
    from anonymaly.stream.protocol.neighbourhoods import Squares  # noqa: PLC0415  (an extra)

    Squares(np.zeros((3, 1)), radius=0.5, number=2).reach(np.zeros((1, 1)))


FAMILIES: Mapping[str, Callable[[], None]] = MappingProxyType(
    {
        "noise": use_noise,
        "explain": use_explain,
        "identify": use_identify,
        "score": use_score,
        "share-histogram": use_share_histogram,
        "other questions": use_other_questions,
        **({} if missing("stream") else {"stream": use_stream}),
    }
)


def all_kernels() -> list[Any]:
    """Return every compiled function, having imported the modules that define one."""
    for module in pkgutil.walk_packages(anonymaly.__path__, "anonymaly."):
        folders = module.name.split(".")
        if module.name.startswith(KERNEL_FOLDERS) and ("kernels" in folders or "questions" not in folders):
            importlib.import_module(module.name)
    return list(KERNELS)


def use_all() -> Iterator[str]:
    """Use one family after the other, and yield its name before."""
    for name, use in FAMILIES.items():
        yield name
        use()


def _ask_examples(kind: type[Query]) -> None:
    for example in kind.examples():
        persons = {} if example.person is None else {"person": example.person, "max_rows": example.max_rows}
        _ask(example.query, example.records, example.columns, example.rules, **persons)


def _ask(query: Query, records: Any, columns: Any, rules: Any = None, **persons: Any) -> Any:
    table = Dataset(
        pa.table(dict(records)), name="invented", columns=columns, rules=rules or {}, public=True, **persons
    )
    return simulate(query, table, seed=0)
