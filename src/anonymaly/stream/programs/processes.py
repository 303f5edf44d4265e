# SPDX-License-Identifier: Apache-2.0
"""All parties and a broker as processes of this machine: to show and measure a stream, not to run one."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable
from multiprocessing.connection import Connection, wait
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
FAREWELL = 5.0  # seconds to end in order


class Cast:
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
        self._ears: dict[str, Connection[Any, Event]] = {}
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([__name__, "anonymaly.stream.programs.broker"])

    def start(self, address: str) -> None:
        """Start a party, or start it again."""
        ear, mouth = self._context.Pipe(duplex=False)
        play = play_broker if address == BROKER else play_party
        process = self._context.Process(
            target=play, args=(self.folder / folder_of(address), mouth), name=address, daemon=True
        )
        process.start()
        mouth.close()
        self._processes[address], self._ears[address] = process, ear

    def kill(self, address: str) -> None:
        """End a party in the middle of whatever it does."""
        self._processes[address].kill()
        self._processes[address].join()

    def process(self, address: str) -> int:
        """Return the number of a party's process."""
        return self._processes[address].pid or 0

    def is_alive(self, address: str) -> bool:
        """Say whether a party runs."""
        return self._processes[address].is_alive()

    def hear(self, timeout: float) -> list[Event]:
        """Return what the parties tell, after so many seconds at the latest."""
        speakers = {ear: address for address, ear in self._ears.items()}
        heard = []
        for ear in wait(list(speakers), timeout):
            address = speakers[ear]  # type: ignore[index]
            try:
                heard.append({"from": address, **self._ears[address].recv()})
            except (EOFError, OSError):
                self._ears.pop(address).close()
        return heard

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
            process.join(FAREWELL)
            if process.is_alive():
                process.kill()
                process.join()


def play_broker(folder: Path, _: Connection[Event, Any]) -> None:
    """Be the broker."""
    from anonymaly.stream.programs.broker import run_broker  # noqa: PLC0415  (an extra)

    run_broker(folder)


def play_party(folder: Path, mouth: Connection[Event, Any]) -> None:
    """Be the party whose folder it is, and tell what happens."""
    loaded = PartyConfig.load(folder / CONFIG)

    def tell(event: Event) -> None:
        mouth.send(event)

    if loaded.config.party == "sensor":
        run_sensor(loaded, tell, lambda sensor: read_file(folder / READINGS, sensor))
    elif loaded.config.party == "owner":
        run_owner(loaded, tell)
    else:
        run_server(loaded, tell)
