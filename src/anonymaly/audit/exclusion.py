# SPDX-License-Identifier: Apache-2.0
"""The exclusion attack: what a release reveals about those who are missing from it.

It is in section 3.2 of Kotsogiannis et al. 2020. Bob is in one of five rooms, and only the smokers' lounge
is sensitive. The attacker knows everything but where Bob is, sees a release in which Bob is missing, and
asks how likely it is now that he is in the lounge. It is played in many independent worlds at once: of those
without Bob, in which part is he there?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from anonymaly.ask.simulation import simulate
from anonymaly.core.epsilon import to_text
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Interval
from anonymaly.declare.rules import Policy
from anonymaly.questions.share_sample.query import ShareSample

ROOMS = ("office", "library", "kitchen", "laboratory", "lounge")
SENSITIVE = "lounge"
OPEN = Policy(f"room != '{SENSITIVE}'")
PRIOR = Fraction(1, len(ROOMS))
EPSILONS = ("0.1", "0.5", "1", "2")
WORLDS = 20_000

World = tuple[int, str]
Release = Callable[[Sequence[World]], set[int]]  # from all worlds to those in which Bob is released


@dataclass(frozen=True)
class Outcome:
    """What the attacker believes after one kind of release without Bob."""

    release: str
    belief: float  # the part of the worlds without Bob in which he is in the lounge
    bound: float  # what the promise allows: 1 where there is none
    missing: int  # in how many worlds he is missing

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {
            "release": self.release, "belief": self.belief, "bound": self.bound, "missing": self.missing,
        }  # fmt: skip

    def __str__(self) -> str:
        kept = "and nothing limits it" if self.bound == 1 else f"and at most {self.bound:.1%} is allowed"
        return f"{self.release}: {self.belief:.1%} {kept}"


def exclusion_attack(epsilons: Sequence[str] = EPSILONS, *, worlds: int = WORLDS) -> tuple[Outcome, ...]:
    """Attack access control, the Suppress of personalised privacy, and samples at several ε.

    Parameters
    ----------
    epsilons : sequence of str
        Of the samples.
    worlds : int
        How many independent worlds are played.

    Examples
    --------
    >>> for outcome in exclusion_attack(["1"], worlds=5000):
    ...     print(outcome)
    access control (Truman filter): 100.0% and nothing limits it
    personalised privacy (Suppress): 100.0% and nothing limits it
    sample, ε = 1: 40.0% and at most 40.5% is allowed
    """
    played = [(world, ROOMS[world % len(ROOMS)]) for world in range(worlds)]
    found = [
        _attack("access control (Truman filter)", _filtered, played, 1.0),
        _attack("personalised privacy (Suppress)", _suppressed, played, 1.0),
    ]
    for epsilon in epsilons:
        query = ShareSample(policy="open", columns=["world"], epsilon=epsilon)
        release = _sampled(query)
        found.append(_attack(f"sample, ε = {to_text(query.cost)}", release, played, _allowed(float(epsilon))))
    return tuple(found)


def draw_attack(outcomes: Sequence[Outcome], folder: Path) -> list[Path]:
    """Draw the attacker's beliefs; return the files."""
    from anonymaly.pictures.vega.beliefs import beliefs  # noqa: PLC0415  (an extra, and the attack needs none)
    from anonymaly.pictures.vega.charts import save  # noqa: PLC0415

    chart = beliefs(
        [{"group": item.release, "value": item.belief, "bound": item.bound} for item in outcomes],
        title="Bob is missing from the release: is he in the smokers' lounge?",
        subtitle="bars: what the attacker believes, in many worlds; diamonds: the most that is allowed\n"
        f"dashed: what the attacker believed before, 1 in {len(ROOMS)} rooms",
        label="belief that Bob is in the lounge",
        before=float(PRIOR),
    )
    return save(chart, folder, "exclusion_attack")


def _attack(name: str, release: Release, played: Sequence[World], bound: float) -> Outcome:
    shown = release(played)
    missing = [room for world, room in played if world not in shown]
    return Outcome(name, missing.count(SENSITIVE) / len(missing), bound, len(missing))


def _allowed(epsilon: float) -> float:
    """Return the largest belief after odds that grow by at most e^ε, as by a sample (Lemma S1)."""
    odds = float(PRIOR / (1 - PRIOR)) * math.exp(epsilon)
    return odds / (1 + odds)


def _filtered(played: Sequence[World]) -> set[int]:
    """Rewrite the query so that only what the policy allows is seen."""
    return {world for world, room in played if room != SENSITIVE}


def _suppressed(played: Sequence[World]) -> set[int]:
    """Leave out whoever has a privacy level below the threshold, and treat the others as that level allows.

    Records that are not sensitive have the level infinity, so that with such a threshold they are shown as
    they are. With a finite one, τ, the odds grow by e^τ.
    """
    levels = {room: 1.0 if room == SENSITIVE else math.inf for room in ROOMS}
    return {world for world, room in played if levels[room] >= math.inf}


def _sampled(query: ShareSample) -> Release:
    def release(played: Sequence[World]) -> set[int]:
        worlds, rooms = zip(*played, strict=True)
        dataset = Dataset(
            pa.table({"world": pa.array(worlds, pa.float64()), "room": list(rooms)}),
            name="building",
            public=True,
            columns={"world": Interval(0, len(played)), "room": Categories(ROOMS)},
            rules={"open": OPEN},
        )
        answer = simulate(query, dataset, seed=0)
        return {int(world) for batch in answer.value.batches() for world in batch.column("world").to_pylist()}

    return release
