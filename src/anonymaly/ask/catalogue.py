# SPDX-License-Identifier: Apache-2.0
"""The one table of questions: front door, command line, contract suite and docs read it."""

from __future__ import annotations

QUESTIONS: dict[str, str] = {
    "count": "anonymaly.questions.count.query:Count",
    "explain": "anonymaly.questions.explain.query:Explain",
    "identify": "anonymaly.questions.identify.query:Identify",
    "lookahead": "anonymaly.questions.identify.query:Lookahead",
    "score": "anonymaly.questions.score.query:Score",
    "share-sample": "anonymaly.questions.share.sample_query:ShareSample",
    "share-histogram": "anonymaly.questions.share.histogram_query:ShareHistogram",
}
