# SPDX-License-Identifier: Apache-2.0
"""`simulate`: answers from the same stages, with a seed and without a ledger, for public data only."""

from __future__ import annotations

from anonymaly.ask import catalogue
from anonymaly.ask.answer import Answer
from anonymaly.ask.binding import StageFailure
from anonymaly.ask.query import Query, T
from anonymaly.ask.reader import root_cause
from anonymaly.core.rate import Adjacency
from anonymaly.declare.dataset import Dataset
from anonymaly.errors import InputError, Refused
from anonymaly.noise import Noise


def simulate(
    query: Query[T], dataset: Dataset, *, seed: int, adjacency: Adjacency = "add_remove"
) -> Answer[T]:
    """Answer a question about public data with repeatable noise; nothing is charged or promised.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> ages = am.Dataset(pandas.DataFrame({"age": range(100)}), name="ages", public=True,
    ...                   columns={"age": am.Interval(0, 120)})
    >>> am.simulate(am.Count(where="age < 50", epsilon=50), ages, seed=0).value
    50
    """
    if not isinstance(query, Query) or not isinstance(dataset, Dataset):
        raise InputError(
            "takes a question and a dataset", next_step="As in am.simulate(am.Count(…), dataset, seed=0)."
        )
    if not dataset.public:
        raise Refused(
            f"{dataset.name} is not declared public, and a seeded answer has no privacy: whoever knows the "
            "seed can subtract the noise",
            field="dataset",
            next_step="Ask through a Curator, or declare Dataset(..., public=True) if it holds no secrets.",
        )
    bound = query.bind(dataset.with_adjacency(adjacency))
    try:
        value = bound.answer(dataset.view(bound.policy), Noise.seeded(seed))
        value = type(bound.query).recalled(value, bound.query.to_dict(), bound.guarantee)
    except StageFailure as failure:
        # The table is public, so the real error helps and harms nobody.
        raise root_cause(failure) from None
    asks = bound.query.describe()
    return Answer(
        value=value,
        asks=asks,
        shown=bound.query.show(value, asks),
        question=bound.query.question,
        guarantee=bound.guarantee,
        expectation=bound.expectation,
        number=None,
        charged_nano=0,
        remaining_nano=None,
        origin=catalogue.origin(bound.query.question),
    ).labelled(query)
