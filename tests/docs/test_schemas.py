# SPDX-License-Identifier: Apache-2.0
"""The published JSON schemas take what the code takes, and refuse what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from anonymaly.ask.catalogue import QUESTIONS, load
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import AnonymalyError
from tests.docs.test_code_blocks import PAGES, ROOT, _blocks

SCHEMAS = {
    path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "docs" / "schemas").glob("*.json")
}
MANIFESTS = [
    pytest.param(read, id=f"{page.stem} {number}")
    for page in PAGES
    for number, (language, text) in enumerate(_blocks(page))
    if language == "yaml"
    and not {"login", "streams"} & (read := yaml.safe_load(text)).keys()  # of server.yaml
]


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data, default=str))  # YAML reads dates


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_a_schema_takes_the_examples_of_its_question_and_no_unknown_field(question: str) -> None:
    schema = Draft202012Validator(SCHEMAS[question])
    Draft202012Validator.check_schema(SCHEMAS[question])
    for example in load(question).examples():
        written = _plain(example.query.to_dict())
        assert list(schema.iter_errors(written)) == []
        assert not schema.is_valid({**written, "epsilonn": 1})
        assert not schema.is_valid({**written, "question": "another"})
        del written["epsilon"]
        assert not schema.is_valid(written)


@pytest.mark.parametrize("read", MANIFESTS)
def test_the_schema_of_the_yaml_file_takes_every_file_of_the_documentation(read: Any) -> None:
    assert list(Draft202012Validator(SCHEMAS["manifest"]).iter_errors(_plain(read))) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"budgt": 3},
        {"adjacency": "both"},
        {"columns": {"age": {"type": "intervall", "low": 0, "high": 3}}},
        {"columns": {"age": {"type": "interval", "low": 0}}},
        {"rules": {"rare": {"type": "anomaly_model", "columns": ["age"], "radius": 1, "beta": 0}}},
    ],
    ids=str,
)
def test_what_the_code_refuses_the_schema_refuses(wrong: dict[str, Any]) -> None:
    right = {"name": "a", "source": "a.csv", "columns": {"age": {"type": "interval", "low": 0, "high": 3}}}
    assert Draft202012Validator(SCHEMAS["manifest"]).is_valid(right)
    assert not Draft202012Validator(SCHEMAS["manifest"]).is_valid({**right, **wrong})
    Manifest.from_dict(right)
    with pytest.raises(AnonymalyError):
        Manifest.from_dict({**right, **wrong}).declaration()
