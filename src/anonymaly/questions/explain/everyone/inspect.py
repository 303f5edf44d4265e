# SPDX-License-Identifier: Apache-2.0
"""What the owner alone may look at: the group in which a record stands out most, without any noise."""

from __future__ import annotations

import numpy as np

from anonymaly.declare.dataset import Dataset
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.explain.everyone.binding import bind_for_everyone
from anonymaly.questions.explain.everyone.mechanism import listed_margins
from anonymaly.questions.explain.everyone.summary import count_steps_by_cell, count_steps_of_groups
from anonymaly.questions.explain.everyone.value import Explanation, Group
from anonymaly.questions.explain.everyone.why import QUARTERS, quartile_utilities
from anonymaly.questions.explain.query import Explain


def best_group(dataset: Dataset, query: Explain) -> Explanation:
    """Return the group with the largest margin, its size and its quartiles: the exact truth, not for release.

    Of several groups with the same margin it is the first of the list. There is none if no margin is above 0.
    """
    bound = bind_for_everyone(query, dataset.declaration)
    if bound.sampled:
        raise InputError(
            "make more groups than can all be looked at",
            field="attributes",
            next_step='Use fewer attributes, or among="simple".',
        )
    table = dataset.table
    # All groups are looked at, so that nothing is drawn from this noise.
    listed, margins = listed_margins(count_steps_by_cell(table, bound), bound, Noise.system())
    best = int(np.argmax(margins))
    if margins[best] <= 0:
        return Explanation(bound.metric, bound.record_value, [], needed=0, why=True)
    name = listed.name(best)
    (counts,) = count_steps_of_groups(table, bound, [name])
    quartiles = [
        bound.grid.rounded_edge(int(np.argmax(quartile_utilities(counts, quarter)))) for quarter in QUARTERS
    ]
    parts = [axis.part(option) for axis, option in zip(bound.axes, name, strict=True)]
    group = Group(parts, int(counts.sum()), None, quartiles, bound.metric)
    return Explanation(bound.metric, bound.record_value, [group], needed=0, why=True)
