# SPDX-License-Identifier: Apache-2.0
"""Write tables of fields into the pages of questions and of the YAML file; ``--check``: are they current?

A page asks for a table by two comments, ``<!-- fields of score -->`` and ``<!-- end -->``; what stands
between them is replaced. Besides questions there are the parts of a YAML file, by their ``type``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pydantic.fields import FieldInfo

import anonymaly as am
from anonymaly.ask.catalogue import load

FOLDER = Path(__file__).parent
PAGES = [*sorted((FOLDER / "questions").glob("*.md")), FOLDER / "reference" / "yaml.md"]
PARTS = {
    "manifest": am.Manifest,
    "reading": am.Reading,
    "interval": am.Interval,
    "categories": am.Categories,
    "timestamps": am.Timestamps,
    "policy": am.Policy,
    "anomaly_model": am.AnomalyModel,
    "same_contexts": am.SameContexts,
}
PLACE = re.compile(r"(?<=^<!-- fields of )([a-z_-]+)( -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)


def table(name: str) -> str:
    """Return the fields of a question or part with defaults and descriptions, epsilon last."""
    fields = (PARTS.get(name) or load(name)).model_fields
    lines = ["| field | default | |", "|---|---|---|"]
    for field in sorted(fields, key=lambda field: field == "epsilon"):
        described = " ".join((fields[field].description or "").split())
        described = described.replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| `{field}` | {_default(fields[field])} | {described} |")
    return "\n".join(lines) + "\n"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    return "" if field.default in (None, (), {}) or field.default_factory else f"`{field.default}`"


def with_tables(text: str) -> str:
    """Return a page with the table that each pair of comments asks for."""
    return PLACE.sub(lambda found: f"{found[1]}{found[2]}\n{table(found[1])}\n", text)


if __name__ == "__main__":
    for page in PAGES:
        text = page.read_text("utf-8")
        if with_tables(text) == text:
            continue
        if "--check" in sys.argv:
            sys.exit(f"docs/{page.relative_to(FOLDER)} is not current; run: python docs/question_fields.py")
        page.write_text(with_tables(text), "utf-8")
