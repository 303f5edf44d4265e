# SPDX-License-Identifier: Apache-2.0
"""All parties and a broker as processes of this machine: to show and measure a stream, not to run one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import connection as pipes
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from anonymaly.stream.counting.messages import COUNTERS
from anonymaly.stream.programs.pool_config import LoadedPool, load_config
from anonymaly.stream.programs.pool_program import (
    from_file,
    run_pool_owner,
    run_pool_sensor,
    run_pool_sensors,
    run_pool_server,
)
from anonymaly.stream.programs.program import Event, Report, run_owner, run_sensor, run_server
from anonymaly.stream.programs.register import BROKER, CONFIG
from anonymaly.stream.programs.setup import folder_of

READINGS = "readings.csv"  # in a sensor's folder
SERVERS = (BROKER, "detector", "corrector", "owner")
POOL_SERVERS = (BROKER, *COUNTERS, "owner")
ALL_SENSORS = "sensors"  # a pool's sensors in one process
_READY = {"event": "ready"}  # what a process reports first: the broker listens, a party is connected
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
    servers : iterable of str
        All others; ``POOL_SERVERS`` for a pool, with ``ALL_SENSORS`` where one process is all sensors.

    Attributes
    ----------
    ready : set of str
        Which parties are connected, and whether the broker listens.
    """

    def __init__(self, folder: Path, sensors: Iterable[str], servers: Iterable[str] = SERVERS) -> None:
        self.folder = folder
        self.addresses = [*servers, *(f"sensor/{name}" for name in sensors)]
        self.ready: set[str] = set()
        self._processes: dict[str, ForkServerProcess] = {}
        self._reports: dict[str, pipes.Connection[Any, Event]] = {}
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([__name__, "anonymaly.stream.programs.broker"])

    def start(self, address: str) -> None:
        """Start a party, or start it again."""
        receiving, sending = self._context.Pipe(duplex=False)
        run = {BROKER: run_broker_here, ALL_SENSORS: run_all_sensors}.get(address, run_party)
        folder = self.folder if address == ALL_SENSORS else self.folder / folder_of(address)
        process = self._context.Process(target=run, args=(folder, sending), name=address, daemon=True)
        process.start()
        sending.close()
        self._processes[address], self._reports[address] = process, receiving

    def kill(self, address: str) -> None:
        """Kill a party at once, in the middle of its work."""
        self._processes[address].kill()
        self._processes[address].join()
        self.ready.discard(address)

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
                    report = self._reports[address].recv()
                except (EOFError, OSError):  # the process has ended
                    self._reports.pop(address).close()
                    self.ready.discard(address)
                    continue
                if report == _READY:
                    self.ready.add(address)
                else:
                    reports.append({"from": address, **report})
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


def run_broker_here(folder: Path, sending: pipes.Connection[Event, Any]) -> None:
    """Run the broker in this process; it reports that it listens, and nothing else."""
    from anonymaly.stream.programs.broker import run_broker  # noqa: PLC0415  (an extra)

    run_broker(folder, lambda: sending.send(_READY))


def run_all_sensors(folder: Path, sending: pipes.Connection[Event, Any]) -> None:
    """Run all sensors of a pool in this process, and report what happens."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))  # journals have what is to be kept
    loaded = [load_config(path) for path in sorted(folder.glob(f"sensor-*/{CONFIG}"))]
    run_pool_sensors(
        [party for party in loaded if isinstance(party, LoadedPool)],
        sending.send,
        lambda sensor: from_file(folder / folder_of(sensor.address) / READINGS, sensor),
        READINGS,
    )


def run_party(folder: Path, sending: pipes.Connection[Event, Any]) -> None:
    """Run the party of a folder in this process, and report what happens."""
    loaded = load_config(folder / CONFIG)
    loaded.when_connected = lambda: sending.send(_READY)

    def report(event: Event) -> None:
        sending.send(event)

    if isinstance(loaded, LoadedPool):
        _run_pool_party(loaded, report, folder / READINGS)
    elif loaded.config.party == "sensor":
        run_sensor(loaded, report, lambda inputs: inputs.from_file(folder / READINGS))
    elif loaded.config.party == "owner":
        run_owner(loaded, report)
    else:
        run_server(loaded, report)


def _run_pool_party(loaded: LoadedPool, report: Report, readings: Path) -> None:
    if loaded.config.party == "sensor":
        run_pool_sensor(loaded, report, lambda sensor: from_file(readings, sensor), readings.name)
    elif loaded.config.party == "owner":
        run_pool_owner(loaded, report)
    else:
        run_pool_server(loaded, report)


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port of this machine on which a broker can listen, kept from everybody else until the block ends."""
    with socket.socket() as reserving:
        # Both sockets may have the port, because both set this and only the broker's listens. A port that was
        # free a moment ago may go to any new connection, even to that of a party that looks for the broker.
        reserving.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserving.bind(("127.0.0.1", 0))
        yield int(reserving.getsockname()[1])
