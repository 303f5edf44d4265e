# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import MutableMapping
from typing import Any

import pytest

from anonymaly.server.headers import HEADERS
from anonymaly.server.process import from_proxy


@pytest.mark.parametrize(
    ("client", "status"),
    [("10.0.0.2", 200), ("127.0.0.1", 200), ("::1", 200), ("10.0.0.3", 403), ("", 403)],
)
def test_behind_a_proxy_nobody_else_is_answered(client: str, status: int) -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {}

    scope = {"type": "http", "client": (client, 1) if client else None}
    asyncio.run(from_proxy(app, "10.0.0.2")(scope, receive, send))
    assert sent[0]["status"] == status
    if status == 403:  # as all errors are
        headers = {name.decode(): item.decode() for name, item in sent[0]["headers"]}
        assert headers["content-type"] == "application/problem+json"
        assert headers.items() >= {name.lower(): item for name, item in HEADERS.items()}.items()
        assert json.loads(sent[1]["body"])["status"] == 403


def test_a_worker_imports_nothing_of_the_web_and_no_exact_look_at_rows() -> None:
    code = (
        "import sys, anonymaly.server.worker, anonymaly.server.process, anonymaly.server.run\n"
        "anonymaly.server.worker.warm_up()\n"
        "bad = [name for name in sys.modules if name.startswith(('fastapi', 'starlette', 'uvicorn', "
        "'anonymaly.inspect')) or name.endswith('.inspect') and name.startswith('anonymaly')]\n"
        "sys.exit(str(bad) if bad else 0)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
