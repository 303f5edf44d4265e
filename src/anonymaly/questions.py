# SPDX-License-Identifier: Apache-2.0
"""The one table of questions: front door, command line, contract suite and docs read it."""

from __future__ import annotations

QUESTIONS: dict[str, str] = {
    "count": "anonymaly.count.query:Count",
    "explain": "anonymaly.explain.query:Explain",
    "identify": "anonymaly.identify.query:Identify",
    "lookahead": "anonymaly.identify.query:Lookahead",
    "score": "anonymaly.score.query:Score",
    "share-sample": "anonymaly.share.sample_query:ShareSample",
    "share-histogram": "anonymaly.share.histogram_query:ShareHistogram",
}
