# SPDX-License-Identifier: Apache-2.0
"""What runs in each process of a server: ``python -m anonymaly.server.process worker`` or ``web``.

The supervisor writes one line of JSON to it: settings may hold passwords, and everybody on a machine can see
a command line and what is in its environment. As long as the pipe stays open the supervisor lives; when it
closes, the process ends.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from types import TracebackType
from typing import Any

from anonymaly.errors import AnonymalyError
from anonymaly.server.settings import LOOPBACK, WebSettings, WorkerSettings

APP = "anonymaly.server.web"  # has make_app(settings)
GRACE_SECONDS = 5  # for requests that are being answered when a web process ends
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Plain(logging.Formatter):
    """Lines for an owner's log, without tracebacks: an engine's error quotes rows."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatException(  # noqa: N802  (logging's name)
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        """Write the class alone."""
        return "" if ei[0] is None else ei[0].__name__


def begin_log() -> None:
    """Write what happens to the owner's log: the file that the environment names, or standard error."""
    place = os.environ.get("ANONYMALY_LOG")
    handler = logging.FileHandler(place) if place else logging.StreamHandler(sys.stderr)
    handler.setFormatter(Plain())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("anonymaly").setLevel(logging.INFO)


def main(arguments: list[str]) -> int:
    """Run one process until its supervisor ends, or tells it to."""
    os.umask(0o077)
    begin_log()
    # A terminal sends its interrupt to all; the supervisor ends its processes one by one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = sys.stdin.buffer.readline()
    if not line:
        return 0  # the supervisor has ended already
    told = json.loads(line)
    try:
        if arguments == ["worker"]:
            _work(WorkerSettings.read(told["settings"]), told["name"])
        else:
            _serve(WebSettings.read(told["settings"]), told)
    except AnonymalyError as problem:
        logging.getLogger("anonymaly.server").error("%s", problem)
        return problem.exit_code
    return 0


def _work(settings: WorkerSettings, name: str) -> None:
    from anonymaly.server.worker import Worker  # noqa: PLC0415  (web processes do without engines)

    worker = Worker(settings, name)
    signal.signal(signal.SIGTERM, lambda *_: worker.stop())
    _when_alone(worker.stop)
    worker.run()


def _serve(settings: WebSettings, told: dict[str, Any]) -> None:
    import uvicorn  # noqa: PLC0415  (an extra)

    from anonymaly.server.protocol import TimedProtocol  # noqa: PLC0415

    app = importlib.import_module(APP).make_app(settings)
    config = uvicorn.Config(
        app if settings.only_from is None else from_proxy(app, settings.only_from),
        http=TimedProtocol,
        ws="none",
        log_config=None,
        access_log=False,  # addresses and paths; the app logs what may be logged
        server_header=False,
        proxy_headers=False,
        ssl_certfile=told["tls_cert"],
        ssl_keyfile=told["tls_key"],
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    _when_alone(lambda: os.kill(os.getpid(), signal.SIGTERM))
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=told["socket"])])


def from_proxy(app: App, proxy: str) -> App:
    """Answer a proxy, and this machine, and nobody else: they would be without TLS."""
    from anonymaly.server.headers import HEADERS  # noqa: PLC0415  (workers do without)
    from anonymaly.server.problems import Problem  # noqa: PLC0415

    not_read = {**HEADERS, "Connection": "close"}

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (scope.get("client") or ("",))[0] not in (proxy, LOOPBACK, "::1"):
            refused = Problem(
                403, "only the proxy is answered", next_step="Use its address.", headers=not_read
            )
            await refused.response()(scope, receive, send)
            return
        await app(scope, receive, send)

    return guarded


def _when_alone(end: Callable[[], None]) -> None:
    """End when the supervisor has: its end of the pipe closes however it ends."""

    def wait() -> None:
        # Not by Python's own reader: a process that ends meanwhile would wait for its lock, and abort.
        while os.read(sys.stdin.fileno(), 4096):
            pass
        end()

    threading.Thread(target=wait, name="supervisor", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
