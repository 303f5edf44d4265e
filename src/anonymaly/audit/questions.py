# SPDX-License-Identifier: Apache-2.0
"""The table of audits, by question: one line for each."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from anonymaly.ask.catalogue import foreign, load
from anonymaly.audit.cases.count import COUNT_CASES, COUNT_MUTANTS
from anonymaly.audit.cases.count_list import COUNT_LIST_CASES, COUNT_LIST_MUTANTS
from anonymaly.audit.cases.explain import EXPLAIN_CASES, EXPLAIN_MUTANTS
from anonymaly.audit.cases.explain_everyone import EXPLAIN_EVERYONE_CASES, EXPLAIN_EVERYONE_MUTANTS
from anonymaly.audit.cases.identify import IDENTIFY_CASES, IDENTIFY_MUTANTS
from anonymaly.audit.cases.lookahead import LOOKAHEAD_CASES, LOOKAHEAD_MUTANTS
from anonymaly.audit.cases.score import SCORE_CASES, SCORE_MUTANTS
from anonymaly.audit.cases.share_histogram import SHARE_HISTOGRAM_CASES, SHARE_HISTOGRAM_MUTANTS
from anonymaly.audit.cases.share_ngrams import SHARE_NGRAMS_CASES, SHARE_NGRAMS_MUTANTS
from anonymaly.audit.cases.share_persons import SHARE_PERSONS_CASES, SHARE_PERSONS_MUTANTS
from anonymaly.audit.cases.share_sample import SHARE_SAMPLE_CASES, SHARE_SAMPLE_MUTANTS
from anonymaly.audit.listed import Audited
from anonymaly.errors import InputError

AUDITED: Mapping[str, Audited] = {
    "count": Audited((*COUNT_CASES, *COUNT_LIST_CASES), (*COUNT_MUTANTS, *COUNT_LIST_MUTANTS)),
    "explain": Audited(
        (*EXPLAIN_EVERYONE_CASES, *EXPLAIN_CASES), (*EXPLAIN_EVERYONE_MUTANTS, *EXPLAIN_MUTANTS)
    ),
    "identify": Audited(IDENTIFY_CASES, IDENTIFY_MUTANTS),
    "lookahead": Audited(LOOKAHEAD_CASES, LOOKAHEAD_MUTANTS),
    "score": Audited(SCORE_CASES, SCORE_MUTANTS),
    "share-sample": Audited(
        (*SHARE_SAMPLE_CASES, *SHARE_PERSONS_CASES), (*SHARE_SAMPLE_MUTANTS, *SHARE_PERSONS_MUTANTS)
    ),
    "share-histogram": Audited(SHARE_HISTOGRAM_CASES, SHARE_HISTOGRAM_MUTANTS),
    "share-ngrams": Audited(SHARE_NGRAMS_CASES, SHARE_NGRAMS_MUTANTS),
}


def audited(question: str) -> Audited:
    """Return what is audited of a question.

    A question of another package brings it along: ``AUDITED`` in the module ``audit`` beside its ``query``.

    Examples
    --------
    >>> {name: len(audited(name).cases) for name in ("count", "share-histogram")}
    {'count': 12, 'share-histogram': 20}
    """
    if question in AUDITED:
        return AUDITED[question]
    if question in foreign():
        beside = load(question).__module__.rpartition(".")[0]
        try:
            found = importlib.import_module(f"{beside}.audit").AUDITED
        except (ImportError, AttributeError, ValueError):
            found = None
        if isinstance(found, Audited):
            return found
    raise InputError(
        f"{question!r} has no audit",
        field="question",
        next_step="Its package can list cases and planted faults: see Adding a question.",
    )
