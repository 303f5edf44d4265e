# SPDX-License-Identifier: Apache-2.0
"""``anonymaly demo``: odd records found and explained on built-in data, with real noise and a real ledger."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.rule import Rule
from rich.text import Text

from anonymaly import Curator
from anonymaly.ask.answer import Answer
from anonymaly.audit.exclusion import exclusion_attack
from anonymaly.cli.output import AsJson, out, say_json
from anonymaly.datasets import census, salaries
from anonymaly.declare.rules import AnomalyModel, Policy
from anonymaly.errors import Refused
from anonymaly.finding.find import find
from anonymaly.finding.found import OddRecords
from anonymaly.ledger import Ledger
from anonymaly.questions.count.query import Count
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.identify.query import Identify
from anonymaly.questions.score.query import Score
from anonymaly.questions.share_sample.query import ShareSample

Serve = Annotated[
    bool, typer.Option("--serve", help="Open the console on the built-in tables, until stopped.")
]
Port = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, help="Of the console; 8765 if not given, 0 for any.")
]
# As in the README. Two are as ordinary as the table's, one is not.
NEW = (
    {"job": "Manager", "sector": "Ministries", "year": 2004, "salary": 105_000.0},
    {"job": "Director", "sector": "Hospitals", "year": 2005, "salary": 640_000.0},
    {"job": "Physician", "sector": "Hospitals", "year": 2006, "salary": 118_000.0},
)
ACCENT = "bright_blue"
NEXT = """\
anonymaly init --guided your-table.csv     declare a table of your own, by answering questions
anonymaly find your-table.yaml new.csv --epsilon 1     the oddest records of a file, and why
anonymaly demo --serve     the console in a browser, on the tables of this demonstration"""


def demo(as_json: AsJson = False, serve: Serve = False, port: Port = None) -> None:
    """Find and explain an odd record, and show most questions, on built-in data, in under a minute."""
    if serve:
        from anonymaly.cli.demo_server import serve_demo  # noqa: PLC0415  (databases, for this alone)

        serve_demo(port)
        return
    with tempfile.TemporaryDirectory(prefix="anonymaly-demo-") as folder:
        shown = _run(Path(folder), quiet=as_json)
    if as_json:
        say_json(shown)


def _show(title: str, text: str) -> None:
    """Print a title, and a text whose first line stands out and whose labels stand back."""
    out.print(Rule(Text(title, style="bold"), align="left", style=ACCENT))
    first, *rest = text.split("\n")
    out.print(Text(first, style=f"bold {ACCENT}"))
    for line in rest:
        label, gap, words = line[2:].partition("  ") if line.startswith("  ") else ("", "", "")
        shown = Text(line)
        if gap and words:
            shown.stylize("dim", 0, 2 + len(label))
        out.print(shown)
    out.print()


def _run(folder: Path, *, quiet: bool) -> dict[str, Any]:
    """Ask everything in turn, print it unless quiet, and return it as plain data."""

    def show(title: str, text: str) -> None:
        if not quiet:
            _show(title, text)

    found = _find(folder)
    show("Three new salaries: which of them is odd, compared with those of the table, and why?", str(found))

    people = census(rules={"rare": AnomalyModel(["age", "hours_per_week"], radius=5, beta=100)})
    curator = Curator(people, budget=1.0, ledger=folder / "census.ledger")
    show("The owner declares a table, what an anomaly in it is, and a budget", f"{people!r}\n{curator!r}")

    query = Identify(record={"age": 66, "hours_per_week": 99}, model="rare", epsilon=0.2)
    show("Before asking: what would it cost, and how often is it wrong?", str(curator.preview(query)))

    verdict = curator.ask(query)
    show("Is somebody of 66 who works 99 hours a week an anomaly? Charged, then answered", str(verdict))

    again = curator.ask(query)
    show("The same question again is free: the same stored answer", str(again).splitlines()[0])

    try:
        curator.ask(Count(where="age >= 90", epsilon=0.9))
        refusal = ""
    except Refused as refused:
        refusal = f"{type(refused).__name__}: {refused}"
    show("A question that costs more than remains is refused, and nothing is spent", refusal)

    count = curator.ask(Count(where="occupation == 'Sales' and income == '>50K'", epsilon=0.2))
    show("How many people in sales earn more than 50,000?", str(count))

    model, scores = _score(curator)
    lines = [str(model), *(f"  {what:<16}{score:.3g}" for what, score in scores.items())]
    show("How unusual is a new record, compared with the census?", "\n".join(lines))

    statement = curator.statement()
    show("What was spent, and what is still promised to whom", str(statement))

    with Ledger.open(folder / "census.ledger", create=False) as ledger:
        verified = ledger.verify()
    show("The ledger verifies", f"{verified.entries} entries, chain and sums agree: {verified.ok}")

    group = _explain(folder)
    show("In which group does a manager's salary of 169,449.41 stand out?", str(group))
    shared, attack = _share(folder)
    show("Records that are not sensitive, published as they are", str(shared))
    show("Why not simply leave out whoever is in the lounge? Bob is missing: how surely is he there?", attack)
    if not quiet:
        show("The odd records as a page, with pictures; open it in a browser", str(_save(found)))
        show("What to try next", f"{_activation()}{NEXT}")
    return {
        "find": found.to_dict(),
        "explain": group.to_dict(),
        "identify": verdict.to_dict(),
        "score": {"answer": {**model.to_dict(), "value": dict(model.value.describe())}, "scores": scores},
        "share": shared.to_dict(),
        "attack": attack,
        "answer": count.to_dict(),
        "again": again.to_dict(),
        "refusal": refusal,
        "statement": statement.to_dict(),
        "verification": verified.to_dict(),
    }


def _activation() -> str:
    """Return how the program is put on the path, if it is in an environment that is not active."""
    script = Path(sys.executable).with_name("activate")
    if shutil.which("anonymaly") is not None or not script.is_file():
        return ""
    place = script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script
    return f"source {place}     first, so that your shell finds anonymaly\n"


def _find(folder: Path) -> OddRecords:
    """Compare new salaries with those disclosed, and explain the oddest."""
    curator = Curator(salaries(name="disclosed"), budget=4.0, ledger=folder / "disclosed.ledger")
    return find(curator, list(NEW), epsilon=2, top=1, explain=1)


def _save(found: OddRecords) -> Path:
    """Write the report where the system keeps what may be thrown away, in a folder of our own."""
    place = Path(tempfile.mkdtemp(prefix="anonymaly-demo-"), "odd-records.html")
    found.save(place)
    return place


def _share(folder: Path) -> tuple[Answer, str]:
    """Publish a sample under a policy, and attack the alternative, which is to publish all the rest."""
    people = census(name="survey", rules={"modest": Policy("income == '<=50K' and age >= 18")})
    curator = Curator(people, budget=1.0, ledger=folder / "survey.ledger")
    sample = curator.ask(
        ShareSample(policy="modest", columns=["age", "education", "occupation"], epsilon=0.5)
    )
    return sample, "\n".join(map(str, exclusion_attack(["0.5"])))


def _explain(folder: Path) -> Answer:
    """Ask about one of the disclosed salaries; everyone is protected, so no rule is needed."""
    people = salaries()
    curator = Curator(people, budget=1.0, ledger=folder / "salaries.ledger")
    record = {"job": "Manager", "sector": "Ministries", "year": 2004, "salary": 169449.41}
    return curator.ask(
        Explain(record=record, metric="salary", attributes=["job", "sector", "year"], epsilon=0.2)
    )


def _score(curator: Curator) -> tuple[Answer, dict[str, float]]:
    """Release a model of working hours, and score two records that are not in the table."""
    answer = curator.ask(Score(columns=["age", "hours_per_week", "capital_gain"], epsilon=0.5))
    records = {"38 years, 40 h": [38, 40, 0], "88 years, 99 h": [88, 99, 0]}
    scores = answer.value.score(list(records.values()))
    return answer, {what: float(score) for what, score in zip(records, scores, strict=True)}
