# SPDX-License-Identifier: Apache-2.0
"""The console's own files: style, script and icon."""

from __future__ import annotations

from starlette.responses import Response

from anonymaly.server.console.static_files import static_files
from anonymaly.server.console.visit import ConsolePage, Visit
from anonymaly.server.problems import unknown

FOR_GOOD = "public, max-age=31536000, immutable"


def static_file(visit: Visit) -> Response:
    """Return a file by the name that its bytes give it."""
    for file in static_files().values():
        if file.name == visit.places["file"]:
            return Response(file.content, media_type=file.media_type, headers={"Cache-Control": FOR_GOOD})
    raise unknown()


PAGES = (ConsolePage("GET", "/static/{file}", static_file),)
