# SPDX-License-Identifier: Apache-2.0
"""The supervisor: binds the socket, starts web processes and workers, and starts anew what dies."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, Literal

from anonymaly.core.extras import require
from anonymaly.core.files import appearing
from anonymaly.errors import InputError
from anonymaly.server import alive, jobs
from anonymaly.server.held import find_manifests
from anonymaly.server.keys import ApiKey
from anonymaly.server.listening import bind, refuse_useless_tls
from anonymaly.server.logs import begin_log
from anonymaly.server.people import first_owner_key
from anonymaly.server.served_folder import alone_in, make_private, remove
from anonymaly.server.settings import ServerSettings, WebSettings, WorkerSettings
from anonymaly.server.state import State

Only = Literal["web", "workers"]
FIRST_KEY = "first-owner-key"
SOON_SECONDS = 5.0  # a process that lived shorter is started again later and later
LATEST_SECONDS = 30.0
logger = logging.getLogger(__name__)


class Supervisor:
    """One server on one machine: all of it, or its web processes or its workers alone."""

    def __init__(self, folder: Path, settings: ServerSettings, only: Only | None = None) -> None:
        self.folder = folder.absolute()
        self.settings = settings
        self._only = only
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._open = ExitStack()  # what is closed in the end
        self._socket: socket.socket | None = None
        self._told_web: dict[str, Any] = {}
        self._told_workers: dict[str, Any] = {}
        self._state: State | None = None

    @property
    def address(self) -> str | None:
        """Where web processes listen."""
        if self._socket is None:
            return None
        host, port = self._socket.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        return f"{'http' if self.settings.tls_cert is None else 'https'}://{shown}:{port}"

    def prepare(self, show_key: Callable[[str], None], *, new_owner_key: bool = False) -> None:
        """Check and make all that is needed, so that what is wrong is said before anything starts.

        What a start that fails has made goes with it.
        """
        made: list[Path] = []
        try:
            self._prepare(made)
            self._first_key(show_key, new_owner_key)
        except BaseException as problem:
            self.close()
            for path in made:
                remove(path)
            if not isinstance(problem, OSError):
                raise
            raise InputError(
                f"{problem.filename or self.folder} cannot be made or used ({type(problem).__name__})",
                field="folder",
                next_step="Give a folder that this user may write to; check the paths of state and outbox.",
            ) from None

    def _prepare(self, made: list[Path]) -> None:
        """Check all that may be wrong, and only then make anything."""
        settings, ledgers = self.settings, {}
        told: WorkerSettings | None = None
        web: WebSettings | None = None
        if settings.login is not None:
            require("oidc", "Login by OpenID Connect")
        if self._only != "web":
            manifests = find_manifests(self.folder)
            ledgers = {item.name: str(item.ledger_location(path.parent)) for path, item in manifests.items()}
            told = settings.for_workers(self.folder, alone=self._only == "workers")
            self._told_workers = {"settings": told.to_dict()}
            if "://" not in told.state:
                self._open.enter_context(alone_in(self.folder))
        if self._only != "workers":
            web = settings.for_web(self.folder, ledgers)
            self._told_web = {
                "settings": web.to_dict(),
                "stop_seconds": settings.stop_seconds,
                "tls_cert": self._file(settings.tls_cert, "tls_cert"),
                "tls_key": self._file(settings.tls_key, "tls_key"),
            }
            refuse_useless_tls(self._told_web["tls_cert"], self._told_web["tls_key"])
            self._socket = self._open.enter_context(bind(settings.host, settings.port))
        if told is not None:
            self._begin(told.state, Path(told.outbox), made)
        if web is not None:
            State.open(web.state).close()

    def _begin(self, place: str, outbox: Path, made: list[Path]) -> None:
        """Make what processes share, and note what was not there before."""
        files = [outbox] if "://" in place else [outbox, Path(place)]
        made += [path for path in files if not path.exists()]
        make_private(outbox)
        self._state = self._open.enter_context(closing(State.open(place, create=True)))
        if "://" not in place:
            os.chmod(place, 0o600)  # also one that somebody copied here

    def run(self) -> None:
        """Start all processes, and anew those that die, until told to stop; then end them."""
        keepers = [
            threading.Thread(target=self._keep, args=(kind, number), name=f"{kind} {number}")
            for kind, count in (("worker", self.settings.workers), ("web", self.settings.web))
            for number in range(count)
            if (self._told_workers if kind == "worker" else self._told_web)
        ]
        for keeper in keepers:
            keeper.start()
        try:
            while not self._stopping.wait(1.0):
                pass
        finally:
            self._stopping.set()
            self._end_all(keepers)
            self.close()

    def stop(self) -> None:
        """Have all end."""
        self._stopping.set()

    def close(self) -> None:
        """Let go of the socket, the folder and the shared tables."""
        self._open.close()

    def _keep(self, kind: str, number: int) -> None:
        """Start a process, and anew whenever it ends."""
        quick = 0
        while not self._stopping.is_set():
            name = f"{kind} {number} {socket.gethostname()} {uuid.uuid4().hex[:12]}"
            began = time.monotonic()
            code = self._run_one(kind, name)
            if kind == "worker":
                self._let_go(name)
            if self._stopping.is_set():
                return
            quick = quick + 1 if time.monotonic() - began < SOON_SECONDS else 0
            logger.error("%s %d ended with %s; it is started again", kind, number, code)
            if quick > 1:
                self._stopping.wait(min(LATEST_SECONDS, 0.5 * 2.0**quick))

    def _run_one(self, kind: str, name: str) -> int:
        handed = [] if kind == "worker" or self._socket is None else [self._socket.fileno()]
        told = self._told_workers if kind == "worker" else {**self._told_web, "socket": handed[0]}
        with self._lock:
            if self._stopping.is_set():
                return 0
            process = subprocess.Popen(  # noqa: S603  (this very Python)
                [sys.executable, "-m", "anonymaly.server.process", kind],
                stdin=subprocess.PIPE,
                pass_fds=handed,
                cwd=self.folder,
                process_group=0,  # a terminal's interrupt is for the supervisor, which ends them in order
            )
            self._running[name] = process
        try:
            log = {"log": self.settings.log_at(self.folder), "log_json": self.settings.log_json}
            tell(process, json.dumps({**told, **log, "name": name}).encode() + b"\n")
            return process.wait()
        finally:
            with self._lock:
                self._running.pop(name, None)
            close_pipe(process)

    def _let_go(self, name: str) -> None:
        """Let others have the jobs of a worker that has ended, without waiting until it is missed."""
        try:
            if self._state is not None:
                jobs.let_go(self._state, name)
                alive.leave(self._state, name)
        except Exception as problem:  # the job is claimed again later, then
            logger.error("the shared tables cannot be used: %s", type(problem).__name__)

    def _end_all(self, keepers: list[threading.Thread]) -> None:
        """End all: nothing new is taken, and what is under way has its time to end."""
        until = time.monotonic() + self.settings.stop_seconds
        for kind in ("web", "worker"):  # whoever waits for an answer still gets it from a worker
            with self._lock:
                running = [process for name, process in self._running.items() if name.startswith(kind)]
            for process in running:
                process.send_signal(signal.SIGTERM)
            for keeper in (item for item in keepers if item.name.startswith(kind)):
                keeper.join(max(0.0, until - time.monotonic()))
        with self._lock:
            late = list(self._running.values())
        for process in late:
            process.kill()  # its job is claimed again at the next start
        for keeper in keepers:
            keeper.join()

    def _first_key(self, show: Callable[[str], None], anew: bool) -> None:
        """Show the first owner's key once: on a terminal, else in a private file; never in a log."""

        def present(key: ApiKey) -> None:
            if sys.stdout.isatty():
                show(f"An owner's key, shown only now:\n\n    {key.text}\n")
                return
            place = self.folder / FIRST_KEY
            with appearing(place) as file:
                file.write(f"{key.text}\n".encode())
            show(f"An owner's key is in {place}. Read it, keep it safe and remove the file.")

        if self._state is not None:
            first_owner_key(self._state, present, anew=anew)

    def _file(self, name: str | None, field: str) -> str | None:
        if name is None:
            return None
        path = self.folder / name
        if not path.is_file():
            raise InputError(f"there is no file {path}", field=field, next_step="Check the path.")
        return str(path)


def tell(process: subprocess.Popen[bytes], line: bytes) -> None:
    """Write a line to a process."""
    if process.stdin is None:
        raise AssertionError("a process without a pipe")
    with suppress(BrokenPipeError):  # it died at once; its end says how
        process.stdin.write(line)
        process.stdin.flush()


def close_pipe(process: subprocess.Popen[bytes]) -> None:
    """Close the pipe to a process, also if it died before it read what was written."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):  # closing writes what is left, and closes in any case
            process.stdin.close()


def serve(
    folder: Path,
    options: Mapping[str, Any],
    only: Only | None,
    say: Callable[[str], None],
    *,
    new_owner_key: bool = False,
) -> None:
    """Run a server until SIGTERM or an interrupt."""
    os.umask(0o077)  # nothing that a server writes is for others on its machine
    settings = ServerSettings.load(folder, options)
    begin_log(settings.log_at(folder), as_json=settings.log_json)
    supervisor = Supervisor(folder, settings, only)
    supervisor.prepare(say, new_owner_key=new_owner_key)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: supervisor.stop())
    if supervisor.address is not None:
        say(f"Serving {folder} at {supervisor.address}")
    supervisor.run()
