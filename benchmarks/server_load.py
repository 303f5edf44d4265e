# SPDX-License-Identifier: Apache-2.0
"""Previews and answers a second, and how long they take, beside a FastAPI handler that does nothing.

All in one run on one machine: the clients that ask, in one process, take their part of its cores too. A
client sends its next request when it has the answer to the last. Answers are asked for with slots of 0.1 s
and without any (which nothing but this benchmark can have): the difference is what slots cost.

    python benchmarks/server_load.py --seconds 20 --json
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from server_place import AGES, Progress, Server, a_server, machine, show
from server_timing import ENOUGH, processes

TABLE = "first"
BARE = """
import socket, sys
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from anonymaly.server.protocol import TimedProtocol
app = FastAPI(openapi_url=None)
@app.post("/v1/bare")
async def bare(request: Request) -> dict[str, int]:
    return {"size": len(await request.body())}
config = uvicorn.Config(app, http=TimedProtocol, ws="none", access_log=False, log_level="warning")
uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
"""
QUERY = {"question": "count", "epsilon": "0.001", "where": "age < 40"}
Request = Callable[[int], tuple[str, dict[str, str], dict[str, Any]]]


@contextmanager
def bare_handler() -> Iterator[str]:
    """Run a handler that reads a body and says its length."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", BARE, str(listening.fileno())], pass_fds=[listening.fileno()]
    )
    listening.close()
    try:
        httpx.get(base, timeout=120)  # waits until it has started
        yield base
    finally:
        process.terminate()
        process.wait()


async def _client(base: str, make: Request, numbers: Iterator[int], until: float, times: list[float]) -> None:
    """Send one request after the other over one connection."""
    place = urlsplit(base)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        while time.perf_counter() < until:
            path, headers, body = make(next(numbers))
            content = json.dumps(body).encode()
            head = [f"POST {path} HTTP/1.1", f"Host: {place.netloc}", "Content-Type: application/json"]
            head += [
                f"Content-Length: {len(content)}",
                *(f"{name}: {text}" for name, text in headers.items()),
            ]
            began = time.perf_counter()
            writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + content)
            got = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.partition(b":")[2])
                for line in got.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            )
            answer = await reader.readexactly(length)
            times.append(time.perf_counter() - began)
            if not got.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(answer.decode())
    finally:
        writer.close()


def load(base: str, make: Request, clients: int, seconds: float, numbers: Iterator[int]) -> dict[str, Any]:
    """Let so many clients ask for so long."""

    async def run() -> tuple[list[float], float]:
        times: list[float] = []
        began = time.perf_counter()
        await asyncio.gather(*(_client(base, make, numbers, began + seconds, times) for _ in range(clients)))
        return times, time.perf_counter() - began

    times, took = asyncio.run(run())
    milliseconds = np.array(times) * 1000
    return {
        "clients": clients,
        "a_second": round(len(times) / took, 1),
        "median_ms": round(float(np.median(milliseconds)), 2),
        "p99_ms": round(float(np.quantile(milliseconds, 0.99)), 2),
    }


def requests_of(server: Server) -> dict[str, Request]:
    """Return what is sent to a server, by the number of the request."""
    key = {"Authorization": f"Bearer {server.keys['ann'].text}"}

    def preview(_: int) -> tuple[str, dict[str, str], dict[str, Any]]:
        return f"/v1/tables/{TABLE}/preview", key, {"query": QUERY}

    def ask(number: int) -> tuple[str, dict[str, str], dict[str, Any]]:
        headers = {**key, "Idempotency-Key": f"number {number:09}", "Prefer": "wait=60"}
        return f"/v1/tables/{TABLE}/ask", headers, {"query": QUERY, "repeat": number}

    return {"preview": preview, "ask": ask}


def run(clients: int, seconds: float) -> dict[str, Any]:
    """Measure all, one after the other."""
    numbers, found, progress = itertools.count(1), {}, Progress("measured")
    body = {"query": QUERY}
    with bare_handler() as base:
        found["bare handler"] = load(base, lambda _: ("/v1/bare", {}, body), clients, seconds, numbers)
    progress.say(1, 5)
    with a_server() as server:
        server.add_person("ann")
        for name in (TABLE, "second"):
            server.add_table(name, rows=AGES)
            server.grant(name, ["ann"], ENOUGH, budget=ENOUGH)
        for off in (False, True):
            with processes(server, 0.1, off=off):
                made = requests_of(server)
                load(server.base, made["ask"], 1, 1.0, numbers)  # so that nothing waits for compilers
                if not off:
                    found["previews"] = load(server.base, made["preview"], clients, seconds, numbers)
                    progress.say(2, 5)
                name = "answers without slots" if off else "answers with slots of 0.1 s"
                found[name] = load(server.base, made["ask"], clients, seconds, numbers)
                found[f"{name}, one client"] = load(server.base, made["ask"], 1, seconds, numbers)
                progress.say(5 if off else 4, 5)
    on, off_ = (found[f"answers {kind}, one client"] for kind in ("with slots of 0.1 s", "without slots"))
    found["slots cost one client, ms"] = round(on["median_ms"] - off_["median_ms"], 2)
    return found


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    before = machine()
    show({**before, **run(options.clients, options.seconds), "load_after": machine()["load"]}, options.json)


if __name__ == "__main__":
    main()
