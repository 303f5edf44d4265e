# SPDX-License-Identifier: Apache-2.0
"""Which question is mine: one small tree for the dialogue, its flags, the console and docs/choosing.md.

Numbers in the reasons are computed from the questions' own formulas, so that they stay true, for accounts in
which one row comes or goes; a plan has those of any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anonymaly.ask.odds import HOLDS, Odds
from anonymaly.core.epsilon import to_nano
from anonymaly.errors import InputError
from anonymaly.noise import laws
from anonymaly.questions.identify.choices import Setting
from anonymaly.questions.share_sample.binding import kept_share

MANIFEST = "patients.yaml"  # what commands are written for if no other file is named


@dataclass(frozen=True)
class Decision:
    """One of the questions that lead to an advice: its flag, its words, and the choices by name."""

    name: str
    asks: str
    choices: Mapping[str, str]


DECISIONS = (
    Decision(
        "asks",
        "Who asks?",
        {
            "owner": "you, who hold the table, and pass the answer on",
            "analyst": "people who may not see the table, and whom you know",
            "public": "everybody: the answer is published",
        },
    ),
    Decision(
        "protect",
        "Who must be protected?",
        {
            "everyone": "everyone in the table",
            "policy": "all but some, whom a condition on their own record names: adults who agreed",
            "ordinary": "ordinary people; who stands alone in the table may be found",
        },
    ),
    Decision(
        "leaves",
        "What leaves the house?",
        {
            "number": "a number: how many",
            "verdict": "a verdict on one record: is it an anomaly here?",
            "model": "a model that scores new records",
            "group": "a group: among whom does this record stand out?",
            "table": "a table: records, or counts of all kinds of records",
            "stream": "readings of sensors, as they come",
        },
    ),
)


@dataclass(frozen=True)
class Start:
    """A number to begin with, and why."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True)
class Advice:
    """Where the decisions lead: a question, its promise, the rule to declare, numbers, and what to type."""

    question: str
    promise: str
    rule: str | None = None  # a line of YAML below `rules:`
    starts: tuple[Start, ...] = ()
    commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data."""
        return {
            "question": self.question,
            "promise": self.promise,
            "rule": self.rule,
            "start": {item.name: {"value": item.value, "reason": item.reason} for item in self.starts},
            "commands": list(self.commands),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [("question", self.question), ("promise", self.promise)]
        if self.rule is not None:
            lines.append(("rule to declare", f"rules:\n  {self.rule}"))
        lines += [("start with", f"{item.name} {item.value}: {item.reason}") for item in self.starts]
        lines += [("note", note) for note in self.notes]
        lines += [("type next", f"$ {command}") for command in self.commands]
        return "\n".join(f"{label:<17}{text}".replace("\n", "\n" + " " * 17) for label, text in lines)


def around(epsilon: str) -> str:
    """Say how far off a count is at this ε."""
    width = laws.two_sided_geometric_half_width(Fraction(epsilon), Fraction(95, 100))
    return f"within ±{width:,} of the true number in 95 of 100 draws"


def wrong(beta: int, k: int, epsilon: str) -> str:
    """Say how often a verdict on a lone record is wrong."""
    return f"wrong for {100 * Setting(beta, k).error(Fraction(epsilon)):.2g} of 100 lone records"


EVERYONE = "ε-differential privacy: whether anybody is in the table, and what it says of them"
RADIUS = Start(
    "radius",
    "2",
    "how near two people are who count as alike, in the columns' own units; never from the rows",
)
COUNT = Advice(
    "count",
    EVERYONE,
    starts=(Start("epsilon", "0.1", around("0.1")),),
    commands=(
        "anonymaly plan patients.yaml count --for-error 20",
        "anonymaly count patients.yaml --where 'age >= 60' --epsilon 0.1 --preview",
    ),
    notes=("several filters of which a record matches at most one cost as much as one count",),
)
LOOKAHEAD = Advice(
    "lookahead",
    "sensitive privacy: ε for whoever shares all values with at least beta + 1 − k records; smaller counts "
    "are exact",
    rule="rare_exact: {type: anomaly_model, columns: [ward], radius: 0, beta: 10, k: 1}",
    starts=(
        Start("epsilon", "0.5", f"each count from beta − k on is {around('0.5')}"),
        Start("beta", "10", "a value that at most so many records have is an anomaly, and not protected"),
        Start("k", "1", "raise it to protect values that are nearly common"),
    ),
    commands=(
        "anonymaly plan patients.yaml lookahead --columns ward --model rare_exact --for-error 6",
        "anonymaly lookahead patients.yaml --columns ward --model rare_exact --epsilon 0.5 --preview",
    ),
)
VERDICT_FOR_EVERYONE = Advice(
    "identify",
    EVERYONE,
    starts=(
        Start(
            "epsilon",
            "5",
            f"{wrong(1, 1, '5')}; at 0.1 it is {wrong(1, 1, '0.1')}, little better than a coin, because "
            "whether one record is there must be hidden",
        ),
        Start("beta", "40", "an anomaly has at most so many records near it; it does not change that error"),
        RADIUS,
    ),
    commands=(
        "anonymaly identify patients.yaml --record age=97 --columns age --radius 2 --beta 40 "
        "--guarantee differential --epsilon 5 --preview",
    ),
    notes=(
        "a model (score) protects everyone, too, and its verdicts on any number of records cost nothing more",
    ),
)
VERDICT = Advice(
    "identify",
    "sensitive privacy: ε for whoever has at least beta + 1 − k records within the radius; anomalies may be "
    "found",
    rule="rare: {type: anomaly_model, columns: [age], radius: 2, beta: 40, k: 1}",
    starts=(
        Start(
            "epsilon",
            "0.1",
            f"with the numbers below {wrong(40, 1, '0.1')}; with beta 10 {wrong(10, 1, '0.1')}",
        ),
        Start("beta", "40", "an anomaly has at most so many records near it; the larger, the fewer mistakes"),
        Start(
            "k", "1", f"raise it to protect those who are nearly ordinary; with k = 10 {wrong(40, 10, '0.1')}"
        ),
        RADIUS,
    ),
    commands=(
        "anonymaly plan patients.yaml identify --model rare --for-error 0.01",
        "anonymaly identify patients.yaml --record age=97 --model rare --epsilon 0.1 --preview",
    ),
)
MODEL = Advice(
    "score",
    EVERYONE,
    starts=(
        Start(
            "epsilon",
            "1",
            "it is divided among the columns' histograms; how right scores are depends on the number of "
            "records, too, and has no formula: rehearse, or try it on public data",
        ),
    ),
    commands=(
        "anonymaly score patients.yaml --columns age --epsilon 1 --rehearse",
        "anonymaly score patients.yaml --columns age --epsilon 1 --preview",
    ),
    notes=("the model is paid for once: scoring new records with it costs nothing",),
)
GROUP = Advice(
    "explain",
    EVERYONE,
    starts=(
        Start(
            "epsilon",
            "0.5",
            "the preview says by how many records someone must stand out to be seen",
        ),
    ),
    commands=(
        "anonymaly explain patients.yaml --record age=97 --record ward=A --metric age --attributes ward "
        "--epsilon 0.5 --rehearse",
        "anonymaly explain patients.yaml --record age=97 --record ward=A --metric age --attributes ward "
        "--epsilon 0.5 --preview",
    ),
    notes=("a rule (same_contexts) permits other detectors, under a promise that protects far fewer",),
)
HISTOGRAM = Advice(
    "share-histogram",
    EVERYONE,
    starts=(
        Start("epsilon", "0.5", f"each cell is {around('0.5')}"),
        Start(
            "method",
            "geometric",
            "plain noise on every cell; try smoothed or dawa where most cells are empty",
        ),
    ),
    commands=(
        "anonymaly plan patients.yaml share-histogram --by ward --method geometric --for-error 6",
        "anonymaly share-histogram patients.yaml --by ward --method geometric --epsilon 0.5 --preview",
    ),
)
SAMPLE = Advice(
    "share-sample",
    "one-sided ε-differential privacy: ε for whoever is sensitive by the policy; others may be seen",
    rule="adults: {type: policy, text: age >= 18 and consent}",
    starts=(
        Start(
            "epsilon", "1", f"{100 * kept_share(1.0):.0f} of 100 records that are not sensitive are published"
        ),
    ),
    commands=(
        "anonymaly plan patients.yaml share-sample --policy adults --columns age --for-error 0.4",
        "anonymaly share-sample patients.yaml --policy adults --columns age --epsilon 1 --preview",
    ),
    notes=("counts of all records under the same policy: share-histogram --policy adults",),
)
STREAM = Advice(
    "stream",
    "ε-differential privacy of a sensor's reading against each of two servers, whatever it does, while the "
    "other is honest, and nothing about readings in windows that are not counted",
    starts=(
        Start(
            "epsilon", "0.5", "for a reading in a counted window: one of 96 quarters of an hour, so 0.5 a day"
        ),
        Start("least_sensors", "100", "with fewer sensors in a window nothing is counted or judged"),
    ),
    commands=("anonymaly stream init streams",),
    notes=(
        "a single sensor, or fewer than about a hundred: anonymaly stream init streams --protocol "
        "correction, which promises less; see the page on streams",
    ),
)

# What leaves the house → who must be protected → the advice.
TREE: Mapping[str, Mapping[str, Advice]] = {
    "number": {"everyone": COUNT, "policy": COUNT, "ordinary": LOOKAHEAD},
    "verdict": {"everyone": VERDICT_FOR_EVERYONE, "policy": VERDICT_FOR_EVERYONE, "ordinary": VERDICT},
    "model": {"everyone": MODEL, "policy": MODEL, "ordinary": MODEL},
    "group": {"everyone": GROUP, "policy": GROUP, "ordinary": GROUP},
    "table": {"everyone": HISTOGRAM, "policy": SAMPLE, "ordinary": LOOKAHEAD},
    "stream": {"everyone": STREAM, "policy": STREAM, "ordinary": STREAM},
}
# Who asks decides how much there is to spend in all, and what is said besides.
BUDGETS: Mapping[str, Start] = {
    "owner": Start(
        "budget", "2", "for all that you pass on; what you look at yourself costs nothing (inspect)"
    ),
    "analyst": Start(
        "budget", "2", "for all analysts together: those who may talk to each other count as one"
    ),
    "public": Start("budget", "1", "for all that is ever published of this table"),
}
IN_ODDS = f"{Odds(to_nano(1), persons=False)}; {HOLDS}"
MORE_THAN_NEEDED = "it protects everyone, which is more than you asked for"


def advise(*, asks: str, protect: str, leaves: str, manifest: str = MANIFEST) -> Advice:
    """Return the advice for three decisions, with commands for the given manifest.

    Examples
    --------
    >>> advise(asks="analyst", protect="ordinary", leaves="verdict").question
    'identify'
    """
    given = {"asks": asks, "protect": protect, "leaves": leaves}
    for decision in DECISIONS:
        if given[decision.name] not in decision.choices:
            raise InputError(
                f"is {given[decision.name]!r}, which is no answer to: {decision.asks}",
                field=decision.name,
                next_step=f"One of {', '.join(decision.choices)}.",
            )
    found = TREE[leaves][protect]
    notes = list(found.notes)
    if found.promise is EVERYONE and protect != "everyone":
        notes.append(MORE_THAN_NEEDED)
    if asks == "public" and found.promise is EVERYONE:
        notes.append(IN_ODDS)
    starts = found.starts if leaves == "stream" else (*found.starts, BUDGETS[asks])
    return Advice(
        question=found.question,
        promise=found.promise,
        rule=found.rule,
        starts=starts,
        commands=tuple(command.replace(MANIFEST, manifest) for command in found.commands),
        notes=tuple(notes),
    )
