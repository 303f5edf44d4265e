# SPDX-License-Identifier: Apache-2.0
"""A question from another package: the template under another name, offered by an entry point."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import anonymaly as am
from anonymaly.ask import catalogue
from anonymaly.ask.query import Query
from anonymaly.audit.questions import audited
from anonymaly.cli.main import app
from anonymaly.errors import InputError, Refused

TEMPLATE = Path(__file__).parents[2] / "examples" / "question_template"
QUERY = '{"question": "proportion", "where": "age >= 18", "epsilon": "0.5"}'
MANIFEST = """\
name: patients
source: patients.csv
columns:
  age: {type: interval, low: 0, high: 120}
budget: 10
"""
NAMED = "questions: [proportion]\n"


def _install(folder: Path, package: str, points: str, version: str = "1.0") -> None:
    """Lay out a package and what an installer writes beside it."""
    module = package.replace("-", "_")
    shutil.copytree(TEMPLATE, folder / module)
    for path in (folder / module).glob("*.py"):
        text = path.read_text("utf-8").replace("anonymaly.questions.proportion", module)
        path.write_text(text, "utf-8")
    record = folder / f"{module}-{version}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (record / "entry_points.txt").write_text(f"[anonymaly.questions]\n{points}\n")


@dataclass
class Place:
    """A folder with a manifest and its table, and packages that are installed beside it."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    packages: list[str] = field(default_factory=list)

    def install(self, package: str = "acme-proportion", points: str = "") -> None:
        module = package.replace("-", "_")
        _install(self.folder / package, package, points or f"proportion = {module}.query:Proportion")
        self.monkeypatch.syspath_prepend(str(self.folder / package))
        self.packages.append(package)

    def uninstall(self) -> None:
        for package in self.packages:
            shutil.rmtree(self.folder / package)
            for name in list(sys.modules):
                if name.partition(".")[0] == package.replace("-", "_"):
                    del sys.modules[name]
        self.packages.clear()

    def declare(self, further: str = NAMED) -> Path:
        path = self.folder / "patients.yaml"
        path.write_text(MANIFEST + further, "utf-8")
        return path

    def run(self, *arguments: str) -> str:
        result = CliRunner().invoke(app, [str(item) for item in arguments], env={"COLUMNS": "200"})
        if isinstance(result.exception, Exception):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    (tmp_path / "patients.csv").write_text("age\n30\n17\n45\n80\n")
    made = Place(tmp_path, monkeypatch)
    yield made
    made.uninstall()


def test_it_is_refused_unless_the_owner_names_it(place: Place) -> None:
    place.install()
    query = Query.from_json(QUERY)
    curator = am.Curator.open(place.declare(""))
    with pytest.raises(Refused, match=r"acme-proportion 1\.0.* questions: \[proportion\]"):
        curator.ask(query)
    with pytest.raises(Refused, match="proportion"):
        curator.preview(query)
    assert curator.spent == 0
    dataset = am.Dataset(
        str(place.folder / "patients.csv"),
        name="others",
        columns={"age": am.Interval(0, 120)},
        questions=["proportion"],
    )
    named = am.Curator(dataset, budget=1, ledger=place.folder / "others.ledger")
    assert set(named.ask(query).value) == {"matching", "others", "proportion"}
    assert named.spent == 0.5


def test_naming_it_later_changes_neither_the_account_nor_the_manifests_text(place: Place) -> None:
    before = am.Curator.open(place.declare(""))
    text = am.Manifest.load(place.declare("")).to_json()
    first = before.ask(am.Count(epsilon=0.1))
    assert "questions" not in text
    place.install()
    after = am.Curator.open(place.declare())
    assert after.ask(am.Count(epsilon=0.1)).number == first.number
    after.ask(Query.from_json(QUERY))
    assert am.Manifest.read(json.loads(am.Manifest.load(place.declare()).to_json())).questions == (
        "proportion",
    )


def test_it_is_shown_as_not_proved_wherever_it_is_shown(place: Place) -> None:
    place.install()
    manifest = str(place.declare())
    curator = am.Curator.open(manifest)
    query = Query.from_json(QUERY)
    words = "not proved by anonymaly: acme-proportion 1.0"
    origin = {"package": "acme-proportion", "version": "1.0"}
    preview, answer = curator.preview(query), curator.ask(query)
    for told in (preview, answer, curator.answers()[0]):
        assert words in str(told)
        assert told.to_dict()["origin"] == origin
    assert words in answer._repr_html_()
    assert curator.accountant.answers()[0].record["origin"] == origin
    assert "Not proved by anonymaly" in str(curator.statement())
    assert "proportion (acme-proportion 1.0)" in str(curator.statement())
    listed = json.loads(place.run("ledger", manifest, "--json"))
    assert listed["entries"][0]["origin"] == origin
    assert listed["statement"]["not_proved"] == ["proportion (acme-proportion 1.0)"]
    assert "proportion (acme-proportion 1.0, not proved by anonymaly)" in place.run("ledger", manifest)
    assert words in place.run("check", manifest)
    assert words in place.run("proportion", manifest, "--where", "age >= 18", "--epsilon", "0.5", "--preview")
    assert words in place.run("proportion", "--help")


def test_what_anonymaly_proves_is_not_shown_so(place: Place) -> None:
    place.install()
    curator = am.Curator.open(place.declare())
    answer = curator.ask(am.Count(epsilon=0.1))
    shown = [str(answer), str(curator.statement()), str(curator.statement().to_dict()), str(answer.to_dict())]
    assert all("proved" not in text and "origin" not in text for text in shown)


def test_a_list_of_commands_names_it_and_imports_nothing_of_it(place: Place) -> None:
    place.install()
    listed = place.run("--help")
    assert "proportion" in listed
    assert "not proved by anonymaly" in listed
    assert "acme_proportion" not in sys.modules
    place.run("check", str(place.declare()))
    assert "acme_proportion" not in sys.modules


def test_it_replaces_neither_a_question_nor_a_command(place: Place) -> None:
    target = "acme_proportion.query:Proportion"
    place.install(points="\n".join(f"{name} = {target}" for name in ("count", "ledger", "proportion")))
    assert catalogue.load("count") is am.Count
    assert "count" not in catalogue.foreign()
    assert place.run("--help").count("ledger ") == 1
    assert "what was asked, spent and promised" in place.run("ledger", "--help")
    assert "acme_proportion" not in sys.modules


def test_a_question_in_a_file_imports_nothing_of_a_package_that_the_owner_does_not_name(place: Place) -> None:
    place.install()
    (place.folder / "query.json").write_text(QUERY)
    with pytest.raises(Refused, match=r"acme-proportion 1\.0.* questions: \[proportion\]"):
        place.run("ask", str(place.declare("")), str(place.folder / "query.json"))
    assert "acme_proportion" not in sys.modules
    place.run("ask", str(place.declare()), str(place.folder / "query.json"))
    assert "acme_proportion" in sys.modules


def test_a_class_that_calls_itself_by_the_name_of_another_question_is_refused(place: Place) -> None:
    place.install()
    foreign: Any = catalogue.load("proportion")

    class Impostor(foreign):  # type: ignore[misc]
        question = "count"

    with pytest.raises(Refused, match="calls itself 'count'"):
        am.Curator.open(place.declare()).ask(Impostor(where="age >= 18", epsilon="0.5"))


def test_a_name_that_two_packages_offer_is_nobodys(place: Place) -> None:
    place.install()
    place.install("other-proportion")
    with pytest.raises(InputError, match="2 installed packages offer 'proportion': acme-proportion, other-"):
        Query.from_json(QUERY)
    assert "acme-proportion, other-proportion" in place.run("check", str(place.declare()))


def test_only_other_packages_questions_are_named(place: Place) -> None:
    manifest = place.declare("questions: [count]\n")
    for attempt in (lambda: am.Curator.open(manifest), lambda: place.run("check", str(manifest))):
        with pytest.raises(InputError, match=r"names .count.* Name only questions of other packages"):
            attempt()
    with pytest.raises(InputError, match=r"questions: must be a list of names.*\['?\"proportion\"\]"):
        am.Dataset("t.csv", name="t", columns={"age": am.Interval(0, 1)}, questions="proportion")


def test_it_is_listed_when_it_is_missing_and_so_are_its_answers(place: Place) -> None:
    place.install()
    manifest = place.declare()
    curator = am.Curator.open(manifest)
    number = curator.ask(Query.from_json(QUERY)).number
    curator.ask(am.Count(epsilon=0.1))
    curator.close()
    place.uninstall()

    again = am.Curator.open(manifest)
    assert again.ask(am.Count(epsilon=0.1)).charged == 0
    for attempt in (again.answers, lambda: again.answer(number or 0)):
        with pytest.raises(
            InputError, match=rf"answer {number} .*acme-proportion 1\.0.* Install acme-propor"
        ):
            attempt()
    assert "proportion (acme-proportion 1.0)" in str(again.statement())
    assert "proportion (acme-proportion 1.0, not proved by anonymaly)" in place.run("ledger", str(manifest))
    checked = json.loads(place.run("check", str(manifest), "--json"))
    assert checked["ok"]
    assert checked["questions"] == {}
    assert ["no installed package offers 'proportion'" in line for line in checked["warnings"]] == [True]
    with pytest.raises(InputError, match="no installed package offers 'proportion'"):
        Query.from_json(QUERY)


def test_its_audit_comes_with_it_and_without_one_that_is_said(place: Place) -> None:
    place.install()
    found = audited("proportion")
    assert {item.case().adjacency for item in found.cases} == {"add_remove", "replace"}
    (kept,) = found.cases[0].case().dataset(()).declaration.questions
    assert kept == "proportion"
    place.uninstall()
    place.install()
    (place.folder / "acme-proportion" / "acme_proportion" / "audit.py").unlink()
    with pytest.raises(InputError, match="'proportion' has no audit"):
        audited("proportion")
    with pytest.raises(InputError, match="'proportion' has no audit"):
        place.run("audit", "proportion")
