# SPDX-License-Identifier: Apache-2.0
"""Write JSON schemas of questions and the YAML file, from their classes; ``--check``: are they current?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anonymaly as am
from anonymaly.ask.catalogue import QUESTIONS, load
from anonymaly.core.value import Value

FOLDER = Path(__file__).with_name("schemas")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
KINDS = (am.Interval, am.Unbounded, am.Categories, am.Flag, am.Timestamps, am.Opaque)
RULES = (am.Policy, am.AnomalyModel, am.SameContexts)
NUMBER = {"anyOf": [{"type": "number"}, {"type": "string"}]}  # every number may be written as text


def question(name: str) -> dict[str, Any]:
    """Return the schema of a question as ``anonymaly ask`` and the server read it."""
    schema = _schema(load(name))
    schema["properties"] = {"question": {"const": name}, **schema["properties"]}
    schema["required"] = ["question", *schema.get("required", [])]
    return {"$schema": DIALECT, **schema}


def manifest() -> dict[str, Any]:
    """Return the schema of the YAML file, columns and rules included."""
    schema = _schema(am.Manifest)
    fields = schema["properties"]
    shared: dict[str, Any] = {}
    fields["columns"]["additionalProperties"] = {"anyOf": [_part(kind, shared) for kind in KINDS]}
    rules = {"type": "object", "additionalProperties": {"anyOf": [_part(rule, shared) for rule in RULES]}}
    fields["rules"]["anyOf"] = [rules, {"const": "any"}]
    fields["reading"] = {"description": fields["reading"]["description"], "$ref": "#/$defs/Reading"}
    _part(am.Reading, shared)
    # Values of a category may be listed in a file, which is read before anything else is.
    values = shared["Categories"]["properties"]["values"]
    listed = {"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}}}
    shared["Categories"]["properties"]["values"] = {"anyOf": [values, listed]}
    fields["budget"] = {**NUMBER, "description": fields["budget"]["description"]}
    fields["version"] = {"anyOf": [{"type": "string"}, {"type": "integer"}], "default": "1"}
    return {"$schema": DIALECT, **schema, "$defs": {**schema.get("$defs", {}), **shared}}


def _part(kind: type[Value], shared: dict[str, Any]) -> dict[str, str]:
    schema = _schema(kind)
    shared.update(schema.pop("$defs", {}))
    if "type" in schema["properties"]:
        schema["required"] = sorted({"type", *schema.get("required", [])})
    shared[kind.__name__] = schema
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _schema(kind: type[Value]) -> dict[str, Any]:
    """Return the class's schema; of a docstring the first paragraph, as fields are described one by one."""
    schema: dict[str, Any] = kind.model_json_schema()
    written = kind.model_json_schema(mode="serialization")
    pairs = [(schema, written)]
    pairs += [(part, written["$defs"][name]) for name, part in schema.get("$defs", {}).items()]
    for part, other in pairs:
        # A mapping is kept as pairs, and pydantic describes these; how it is written is what people type.
        for name, field in part.get("properties", {}).items():
            if "prefixItems" in json.dumps(field):
                part["properties"][name] = other["properties"][name]
        if "description" in part:
            part["description"] = " ".join(part["description"].partition("\n\n")[0].split())
    return schema


def schemas() -> dict[str, dict[str, Any]]:
    """Return every schema by its name."""
    return {"manifest": manifest(), **{name: question(name) for name in sorted(QUESTIONS)}}


if __name__ == "__main__":
    for name, schema in schemas().items():
        path = FOLDER / f"{name}.json"
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        if "--check" not in sys.argv:
            path.write_text(text, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            sys.exit(f"docs/schemas/{name}.json is not current; run: python docs/schemas.py")
