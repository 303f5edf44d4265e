# SPDX-License-Identifier: Apache-2.0
"""All parties and a broker as processes of this machine: to show and measure a stream, not to run one."""

from __future__ import annotations

import multiprocessing
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import connection as pipes
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from anonymaly.stream.programs.config import PartyConfig
from anonymaly.stream.programs.program import Event, run_owner, run_sensor, run_server
from anonymaly.stream.programs.readings import read_file
from anonymaly.stream.programs.setup import BROKER, CONFIG, folder_of

READINGS = "readings.csv"  # in a sensor's folder
SERVERS = (BROKER, "detector", "corrector", "owner")
LONGEST_END = 5.0  # seconds for a process to end by itself before it is killed


class Processes:
    """Processes by the addresses of their parties; the broker is ``broker``.

    What they import takes seconds, so a fork server imports it once.

    Parameters
    ----------
    folder : Path
        What `set_up` wrote; each sensor's folder has a file of readings.
    sensors : iterable of str
        Their names.
    """

    def __init__(self, folder: Path, sensors: Iterable[str]) -> None:
        self.folder = folder
        self.addresses = [*SERVERS, *(f"sensor/{name}" for name in sensors)]
        self._processes: dict[str, ForkServerProcess] = {}
        self._reports: dict[str, pipes.Connection[Any, Event]] = {}
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([__name__, "anonymaly.stream.programs.broker"])

    def start(self, address: str) -> None:
        """Start a party, or start it again."""
        receiving, sending = self._context.Pipe(duplex=False)
        run = run_broker_here if address == BROKER else run_party
        process = self._context.Process(
            target=run, args=(self.folder / folder_of(address), sending), name=address, daemon=True
        )
        process.start()
        sending.close()
        self._processes[address], self._reports[address] = process, receiving

    def kill(self, address: str) -> None:
        """Kill a party at once, in the middle of its work."""
        self._processes[address].kill()
        self._processes[address].join()

    def process(self, address: str) -> int:
        """Return the number of a party's process."""
        return self._processes[address].pid or 0

    def wait_for_reports(self, timeout: float) -> list[Event]:
        """Return what the parties report next; nothing if none reports for ``timeout`` seconds."""
        while True:
            senders = {receiving: address for address, receiving in self._reports.items()}
            ready = pipes.wait(list(senders), timeout)
            reports = []
            for receiving in ready:
                address = senders[receiving]  # type: ignore[index]
                try:
                    reports.append({"from": address, **self._reports[address].recv()})
                except (EOFError, OSError):  # the process has ended
                    self._reports.pop(address).close()
            if reports or not ready:
                return reports

    def __enter__(self) -> Self:
        for address in self.addresses:
            self.start(address)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes.values()):
            process.terminate()
        for process in reversed(self._processes.values()):
            process.join(LONGEST_END)
            if process.is_alive():
                process.kill()
                process.join()


def run_broker_here(folder: Path, _: pipes.Connection[Event, Any]) -> None:
    """Run the broker in this process; it reports nothing."""
    from anonymaly.stream.programs.broker import run_broker  # noqa: PLC0415  (an extra)

    run_broker(folder)


def run_party(folder: Path, sending: pipes.Connection[Event, Any]) -> None:
    """Run the party of a folder in this process, and report what happens."""
    loaded = PartyConfig.load(folder / CONFIG)

    def report(event: Event) -> None:
        sending.send(event)

    if loaded.config.party == "sensor":
        run_sensor(loaded, report, lambda sensor: read_file(folder / READINGS, sensor))
    elif loaded.config.party == "owner":
        run_owner(loaded, report)
    else:
        run_server(loaded, report)


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port of this machine on which a broker can listen, kept from everybody else until the block ends."""
    with socket.socket() as reserving:
        # Both sockets may have the port, because both set this and only the broker's listens. A port that was
        # free a moment ago may go to any new connection, even to that of a party that looks for the broker.
        reserving.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserving.bind(("127.0.0.1", 0))
        yield int(reserving.getsockname()[1])
