# SPDX-License-Identifier: Apache-2.0
"""Write the table of a question's fields into its page; ``--check`` says whether the tables are current.

A page asks for a table by two comments, ``<!-- fields of score -->`` and ``<!-- end -->``; what stands
between them is replaced.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pydantic.fields import FieldInfo

from anonymaly.ask.catalogue import load

PAGES = Path(__file__).parent / "questions"
PLACE = re.compile(r"(?<=^<!-- fields of )([a-z-]+)( -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)


def table(question: str) -> str:
    """Return a question's fields with their defaults and descriptions, epsilon last as in the docstring."""
    fields = load(question).model_fields
    lines = ["| field | default | |", "|---|---|---|"]
    for name in sorted(fields, key=lambda name: name == "epsilon"):
        described = (fields[name].description or "").replace("|", "\\|")
        lines.append(f"| `{name}` | {_default(fields[name])} | {described} |")
    return "\n".join(lines) + "\n"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    return "" if field.default in (None, ()) else f"`{field.default}`"


def with_tables(text: str) -> str:
    """Return a page with the table that each pair of comments asks for."""
    return PLACE.sub(lambda found: f"{found[1]}{found[2]}\n{table(found[1])}\n", text)


if __name__ == "__main__":
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text("utf-8")
        if with_tables(text) == text:
            continue
        if "--check" in sys.argv:
            sys.exit(f"docs/questions/{page.name} is not current; run: python docs/question_fields.py")
        page.write_text(with_tables(text), "utf-8")
