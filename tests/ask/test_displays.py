# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: every public object draws itself, and nothing that anybody wrote is run."""

from __future__ import annotations

import html.parser
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am

HOSTILE = "<script>alert(1)</script>"
PUBLIC_TAGS = {
    "div", "style", "figure", "svg", "rect", "line", "path", "polyline", "polygon", "circle", "text", "table",
    "tr", "th", "td", "p", "br", "h1", "h2", "h3", "b", "span", "details", "summary", "strong",
}  # fmt: skip


class _Tags(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Everything that a notebook may be asked to show, of a table whose names are hostile."""
    folder = tmp_path_factory.mktemp("shown")
    rows = pandas.DataFrame({HOSTILE: [HOSTILE, "B"] * 200, "pay": [30.0, 31.0, 32.0, 33.0] * 100})
    table = am.Dataset(
        rows,
        name="wards",
        columns={HOSTILE: am.Categories([HOSTILE, "B"]), "pay": am.Interval(0, 100)},
        rules={HOSTILE: am.Policy("pay >= 31"), "rare": am.AnomalyModel(["pay"], radius=1, beta=3)},
    )
    curator = am.Curator(table, budget=100, ledger=folder / "wards.ledger")
    count = am.Count(where="pay < 32", epsilon=0.25)
    found = am.find(curator, [{HOSTILE: HOSTILE, "pay": 95.0}], epsilon=20, explain=1)
    histogram = curator.ask(am.ShareHistogram(by=[HOSTILE], method="geometric", epsilon=1))
    sample = curator.ask(am.ShareSample(policy=HOSTILE, columns=[HOSTILE, "pay"], epsilon=1))
    model = curator.ask(am.Score(columns=[HOSTILE, "pay"], epsilon=20))
    record = {HOSTILE: HOSTILE, "pay": 95.0}
    explained = curator.ask(am.Explain(record=record, metric="pay", attributes=[HOSTILE], epsilon=20))
    from anonymaly.questions.explain.value import Choice, Context

    return {
        "dataset": table,
        "curator": curator,
        "preview": curator.preview(count),
        "previews": curator.preview([count, am.Count(epsilon=0.5)]),
        "plan": curator.plan(count, for_error=20),
        "answer": curator.ask(count),
        "histogram answer": histogram,
        "histogram": histogram.value,
        "sample answer": sample,
        "table": sample.value,
        "model answer": model,
        "model": model.value,
        "reasons": model.value.reasons([record]),
        "explanation": explained,
        "context": Context([Choice(HOSTILE, [HOSTILE])], bits="10"),
        "found": found,
        "find plan": found.plan,
        "answers": curator.answers(),
        "statement": curator.statement(),
        "rehearsal": curator.rehearse(count),
    }


NAMES = [
    "dataset", "curator", "preview", "previews", "plan", "answer", "histogram answer", "histogram",
    "sample answer", "table", "model answer", "model", "reasons", "explanation", "context", "found",
    "find plan", "answers", "statement", "rehearsal",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_everything_shows_itself_and_runs_nothing_that_a_name_says(shown: dict[str, Any], name: str) -> None:
    item = shown[name]
    page = _Tags(item._repr_html_())
    assert page.tags <= PUBLIC_TAGS
    assert not {"style", "src", "href", "onload"} & page.attributes
    for text in (str(item), repr(item)):
        assert "_nano=" not in text, "no raw dump of fields"
        assert "object at 0x" not in text


@pytest.mark.parametrize("name", ["curator", "preview", "plan", "histogram answer", "found", "statement"])
def test_what_has_a_picture_shows_it(shown: dict[str, Any], name: str) -> None:
    assert "<svg" in shown[name]._repr_html_()


def test_answers_are_a_list_like_any_other(shown: dict[str, Any]) -> None:
    answers = shown["answers"]
    assert isinstance(answers, list)
    assert [answer.number for answer in answers] == sorted(answer.number for answer in answers)
    assert answers[-1].question == "count"
    assert len(str(answers).splitlines()) == len(answers)
    page = answers._repr_html_()
    assert '<th class="wide">asked</th>' in page, "what is asked is said below, too"
    assert page.count("<details>") == len(answers)


def test_previews_are_counted_and_taken_by_their_place(shown: dict[str, Any]) -> None:
    previews = shown["previews"]
    assert len(previews) == len(list(previews)) == 2
    assert previews[1].cost == 0.5


def test_amounts_are_numbers_of_epsilon_everywhere(shown: dict[str, Any]) -> None:
    preview, answer, statement, found = (shown[name] for name in ("preview", "answer", "statement", "found"))
    assert (preview.cost, preview.shares) == (0.25, {"count": 0.25})
    assert (answer.charged, shown["previews"].cost) == (0.25, 0.75)
    assert answer.remaining == statement.remaining == shown["curator"].remaining
    assert statement.spent + statement.remaining == pytest.approx(statement.budget)
    assert shown["plan"].remaining < 100
    assert found.charged == float(found.cost)
    assert found.remaining < 100
    assert found.plan.epsilon == 20


def test_showing_imports_no_package_for_pictures(tmp_path: Path) -> None:
    code = """
import sys, pandas, anonymaly as am
table = am.Dataset(pandas.DataFrame({"a": [1, 2]}), name="t", columns={"a": am.Interval(0, 9)})
curator = am.Curator(table, budget=1)
answer = curator.ask(am.Count(epsilon=0.5))
preview, told = curator.preview(am.Count(epsilon=0.1)), curator.statement()
for item in (table, curator, answer, preview, told, curator.answers()):
    item._repr_html_()
print([name for name in ("altair", "vl_convert") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_completion_has_the_names_that_users_need_and_none_of_pydantics() -> None:
    names = [name for name in dir(am.Count(epsilon=1)) if not name.startswith("_")]
    assert {"where", "epsilon", "describe", "to_json"} <= set(names)
    assert not [name for name in names if name.startswith("model_")]
    assert {"parse_raw", "from_orm", "construct", "bind", "stages", "cost"}.isdisjoint(names)
    assert dir(am.inspect) == sorted(am.inspect.__all__)
    assert {"low", "high"} <= set(dir(am.Interval(0, 1)))


def test_help_opens_with_the_question_and_a_signature_that_people_read() -> None:
    import inspect
    import pydoc

    assert str(inspect.signature(am.Count)) == "(*, where=None, epsilon)"
    assert str(inspect.signature(am.Interval)).startswith("(low, high")
    opened = pydoc.render_doc(am.Count, renderer=pydoc.plaintext)
    assert "BeforeValidator" not in opened.partition("Method resolution order")[0]
    lines = [line.strip(" |") for line in opened.splitlines()]
    assert "Count(*, where=None, epsilon)" in lines[3]
    assert "How many records match?" in lines[5]
