# SPDX-License-Identifier: Apache-2.0
"""The one table of questions: front door, command line, contract suite and documentation read it.

Another package may offer a question by an entry point of the group ``anonymaly.questions``. It is answered
only where the owner names it in the manifest, its promise is not proved here, and it never takes a
name that is in use.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from anonymaly.core.suggestions import guess
from anonymaly.errors import InputError, Refused

QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        "count": "anonymaly.questions.count.query:Count",
        "explain": "anonymaly.questions.explain.query:Explain",
        "identify": "anonymaly.questions.identify.query:Identify",
        "lookahead": "anonymaly.questions.lookahead.query:Lookahead",
        "score": "anonymaly.questions.score.query:Score",
        "share-sample": "anonymaly.questions.share_sample.query:ShareSample",
        "share-histogram": "anonymaly.questions.share_histogram.query:ShareHistogram",
        "share-ngrams": "anonymaly.questions.share_ngrams.query:ShareNgrams",
    }
)
GROUP = "anonymaly.questions"


@dataclass(frozen=True)
class Origin:
    """The other package that a question comes from."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"not proved by anonymaly: {self.package} {self.version} says what is promised"

    def to_dict(self) -> dict[str, str]:
        """Return package and version as the ledger keeps them."""
        return {"package": self.package, "version": self.version}


def foreign() -> dict[str, EntryPoint]:
    """Return the questions that other installed packages offer, by name, without importing them.

    A name that one of our questions has, or that two packages offer, is left out.
    """
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    names = [*QUESTIONS, *(point.name for point in points)]
    return {point.name: point for point in points if names.count(point.name) == 1}


def origin(name: str) -> Origin | None:
    """Return the package that a question comes from; None for one of ours."""
    if name in QUESTIONS:
        return None
    point = foreign().get(name)
    if point is None or point.dist is None:
        return Origin("an unknown package", "of unknown version")
    return Origin(point.dist.name, point.dist.version)


def problem(name: str) -> str | None:
    """Return why a question of another package cannot be asked; None if it can. Imports nothing of it."""
    offers = [point for point in entry_points(group=GROUP) if point.name == name]
    if len(offers) == 1:
        return None
    if offers:
        packages = ", ".join(sorted(point.dist.name for point in offers if point.dist is not None))
        return f"{len(offers)} installed packages offer {name!r}: {packages}; keep one of them"
    return f"no installed package offers {name!r}; install the one that does, or leave the name out"


def refuse_own(names: Iterable[str]) -> None:
    """Refuse a list of other packages' questions that names one of ours: all of ours are always allowed."""
    for name in names:
        if name in QUESTIONS:
            raise InputError(
                f"names {name!r}, a question of anonymaly, all of which may be asked",
                field="questions",
                next_step="Name only questions of other packages.",
            )


def refuse_unnamed(name: str, named: Collection[str]) -> None:
    """Refuse another package's question that the owner does not name; imports nothing of it."""
    offering = origin(name)
    if offering is not None and name not in named:
        raise Refused(
            f"{name!r} is a question of {offering.package} {offering.version}, which the owner did not allow",
            field="questions",
            next_step=f"The owner can name it in the manifest: questions: [{name}].",
        )


def load(name: str) -> Any:
    """Import the type of a question by its name."""
    if name in QUESTIONS:
        module, _, kind = QUESTIONS[name].partition(":")
        return getattr(importlib.import_module(module), kind)
    others = foreign()
    if name not in others:
        raise InputError(
            f"there is no question {name!r}: {problem(name)}",
            field="question",
            next_step=f"{guess(name, [*QUESTIONS, *others])}Questions: {', '.join([*QUESTIONS, *others])}.",
        )
    return others[name].load()
