# SPDX-License-Identifier: Apache-2.0
"""Write `openapi.json`, the document of the HTTP interface, from its routes: run by `make tables`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from anonymaly.server.web import make_document

DOCUMENT = Path(__file__).parent / "openapi.json"


def render() -> str:
    """Return the document as it is committed."""
    return json.dumps(make_document().openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    text = render()
    if "--check" in sys.argv:
        if not DOCUMENT.exists() or DOCUMENT.read_text("utf-8") != text:
            sys.exit("docs/openapi.json is not current; run: python docs/openapi.py")
    else:
        DOCUMENT.write_text(text, "utf-8")
