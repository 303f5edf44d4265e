# SPDX-License-Identifier: Apache-2.0
"""What every question promises to the curator, to the command line and to its readers."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from anonymaly import Curator
from anonymaly.ask.query import Example, Query
from anonymaly.ask.simulation import simulate
from anonymaly.audit.questions import audited
from anonymaly.audit.report import LAYERS
from anonymaly.cli.main import app
from anonymaly.core.epsilon import to_nano
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Flag
from anonymaly.errors import InputError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("epsilon", ["0.000000001", "0.1", "3", "50"])
def test_the_cost_is_epsilon_and_known_before_any_row_is_read(
    example: Example, adjacency: Any, epsilon: str
) -> None:
    query = type(example.query).read({**example.query.to_dict(), "epsilon": epsilon})
    declaration = example.dataset().with_adjacency(adjacency)
    refusal: InputError | None = None
    try:
        bound = query.bind(declaration)
    except InputError as problem:
        refusal = problem
    if refusal is not None:
        # A question with several stages may refuse what cannot be split, and nothing larger.
        assert (refusal.field, epsilon) == ("epsilon", "0.000000001")
        return
    assert bound.query.cost == to_nano(epsilon)
    assert bound.guarantee.nano == to_nano(epsilon)
    assert sum(bound.shares.values()) == bound.query.cost
    assert all(share > 0 for share in bound.shares.values())
    assert [stage.name for stage in bound.stages] == list(bound.shares)


def test_a_preview_reads_no_rows_and_spends_nothing(
    example: Example, open_curator: Callable[..., Curator], monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = open_curator()

    def forbidden(self: Dataset) -> None:
        raise AssertionError("a preview looked at the table")

    monkeypatch.setattr(Dataset, "table", property(forbidden))
    monkeypatch.setattr(Dataset, "check", forbidden)
    preview = curator.preview(example.query)
    assert curator.spent == 0
    assert preview.guarantee.nano == preview.query.cost == preview.cost_nano
    assert str(preview.query.describe()) in str(preview)


def test_the_promise_is_in_the_accounts_adjacency_and_unit(example: Example, adjacency: Any) -> None:
    declaration = example.dataset().with_adjacency(adjacency)
    guarantee = example.query.bind(declaration).guarantee
    assert guarantee.relation.adjacency == adjacency
    assert guarantee.relation.rows == declaration.unit_rows


def test_a_question_survives_json_and_its_text_is_canonical(example: Example) -> None:
    query = example.query
    again = Query.from_json(query.to_json())
    assert again == query
    assert hash(again) == hash(query)
    assert (
        again.to_json()
        == query.to_json()
        == json.dumps(json.loads(query.to_json()), sort_keys=True, separators=(",", ":"))
    )


def test_binding_what_was_bound_changes_nothing(example: Example) -> None:
    declaration = example.dataset().declaration
    once = example.query.bind(declaration).query
    assert once.bind(declaration).query == once


def test_unknown_fields_are_refused(kind: type[Query], example: Example) -> None:
    with pytest.raises(InputError, match="wherre"):
        kind.read({**example.query.to_dict(), "wherre": "x"})


def test_epsilon_is_required_named_and_has_no_default(kind: type[Query], example: Example) -> None:
    fields = {
        name: item for name, item in example.query.to_dict().items() if name not in ("epsilon", "question")
    }
    with pytest.raises(InputError, match="epsilon"):
        kind(**fields)
    with pytest.raises(InputError, match="without a name"):
        kind("0.1", **fields)


def test_a_question_cannot_be_changed_after_construction(example: Example) -> None:
    for name in type(example.query).model_fields:
        with pytest.raises(Exception, match="frozen"):
            setattr(example.query, name, None)
    assert isinstance(hash(example.query), int)


def test_the_fingerprint_tells_questions_versions_and_repeats_apart(example: Example) -> None:
    declaration = example.dataset().declaration
    other = type(example.query).read({**example.query.to_dict(), "epsilon": "0.123"})
    prints = [
        example.query.bind(declaration).fingerprint(),
        example.query.bind(declaration).fingerprint(1),
        other.bind(declaration).fingerprint(),
        example.query.bind(example.dataset(version="2").declaration).fingerprint(),
        example.query.bind(example.dataset(name="another").declaration).fingerprint(),
        example.query.bind(example.dataset().with_adjacency("replace")).fingerprint(),
    ]
    assert len(set(prints)) == len(prints)
    assert example.query.bind(example.dataset().declaration).fingerprint() == prints[0]


def test_an_answer_depends_on_no_column_or_rule_but_those_that_the_question_says_it_uses(
    example: Example, adjacency: Any
) -> None:
    bound = example.query.bind(example.dataset().with_adjacency(adjacency))
    used = bound.used
    assert used is not None
    assert used.columns <= set(example.columns)
    assert used.rules <= set(example.rules)
    # Another column is needed where a question uses none, and would be noticed where it uses some.
    columns = {"further": Flag(), **{name: example.columns[name] for name in used.columns}}
    records = {name: list(example.records[name]) for name in used.columns}
    records["further"] = [True] * len(next(iter(example.records.values())))
    rules = {name: example.rules[name] for name in used.rules}
    fewer = dataclasses.replace(example, records=records, columns=columns, rules=rules)
    alone = example.query.bind(fewer.dataset().with_adjacency(adjacency))
    for what in ("query", "relation", "shares", "expectation", "used", "policy"):
        assert getattr(alone, what) == getattr(bound, what)
    drawn = []
    for item in (example, fewer):
        answer = simulate(item.query, item.dataset(public=True), seed=1, adjacency=adjacency)
        file = BytesIO()
        item.query.encode(answer.value, file)
        drawn.append(file.getvalue())
    assert drawn[0] == drawn[1]


def test_the_guarantee_and_a_documentation_page_exist(kind: type[Query]) -> None:
    folder = Path(str(importlib.import_module(kind.__module__).__file__)).parent
    assert "Proof" in (folder / "GUARANTEE.md").read_text("utf-8")
    page = (ROOT / "docs" / "questions" / f"{kind.question}.md").read_text("utf-8")
    assert f"am.{kind.__name__}(" in page
    assert f"questions/{kind.question}.md" in (ROOT / "mkdocs.yml").read_text("utf-8")


def test_it_has_an_audit_in_both_adjacencies_by_every_layer_and_planted_faults(kind: type[Query]) -> None:
    found = audited(kind.question)
    cases = [item.case() for item in found.cases]
    assert {type(case.query) for case in cases} <= {kind, *kind.__subclasses__()}
    assert {case.adjacency for case in cases} == {"add_remove", "replace"}
    assert {layer for item in found.cases for layer in item.layers} == set(LAYERS)
    assert found.mutants


def test_every_field_is_an_option_of_its_command(kind: type[Query]) -> None:
    result = CliRunner().invoke(app, [kind.question, "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert result.exit_code == 0
    for name, field in kind.model_fields.items():
        assert f"--{name.replace('_', '-')}" in result.output
        assert field.description, f"{name} needs a description"


def test_the_front_door_has_it(kind: type[Query]) -> None:
    front = importlib.import_module("anonymaly")
    assert kind.__name__ in front.__all__
    assert getattr(front, kind.__name__) is kind
