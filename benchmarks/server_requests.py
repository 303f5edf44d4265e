# SPDX-License-Identifier: Apache-2.0
"""Requests made from the OpenAPI document, valid and not: no 5xx, no trace, all as the document says.

Schemathesis makes them for every operation, with the keys of an owner, an analyst and an auditor. Half of
them are about tables, jobs and people that are there: names by chance lead nowhere.

    python benchmarks/server_requests.py --requests 100000 --json
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from server_place import NANO, Progress, a_server, machine, show

from anonymaly.server.web import make_document

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
DOCUMENT = json.loads(json.dumps(make_document().openapi()))
NAMES = [said["operationId"] for methods in DOCUMENT["paths"].values() for said in methods.values()]
# Jobs of an owner, each of which waits for its slot: fewer of them, and more of the others.
WAITED = ("put_grant", "delete_grant", "raise_budget", "pause", "resume", "make_key", "revoke_key")
SHARE_WAITED = 0.03
WHO = {"owner": "olga", "analyst": "ann", "auditor": "carl"}
QUERY = {"question": "count", "epsilon": "0.01", "where": "age < 40"}
SHOWN = 5  # faults of an operation that are kept


@dataclass
class Sent:
    """What was sent to one operation, and what came."""

    name: str
    count: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def attack(name: str, count: int, seed: int, base: str, keys: dict[str, str], job: str) -> Sent:
    """Send so many requests to one operation."""
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    operations = [item.ok() for item in schema.get_all_operations()]
    operation = next(item for item in operations if item.definition.raw["operationId"] == name)
    # What is done to the table that is asked stays small: another one is paused, and another's grant revoked.
    known = {
        "table": "others" if name in WAITED else "patients",
        "job": job,
        "analyst": "eve",
        "key": "0" * 16,
    }
    session, sent = requests.Session(), Sent(name)

    @seeded(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=_cases(operation), number=st.integers(0, 2**64), who=st.sampled_from(list(WHO)))
    def send(case: Any, number: int, who: str) -> None:
        if number % 2 == 0:
            case.path_parameters = {part: known[part] for part in case.path_parameters or {}}
        if number % 3 and isinstance(case.body, dict) and "query" in case.body:
            fields = case.body["query"] if isinstance(case.body["query"], dict) else {}
            case.body["query"] = {**fields, **QUERY}
        headers = {"Authorization": f"Bearer {keys[who]}"}
        response = case.call(base_url=base, session=session, headers=headers, timeout=300)
        sent.count += 1
        sent.statuses[response.status_code] += 1
        try:
            if b"Traceback" in response.content:
                raise AssertionError("a traceback")
            case.validate_response(response, checks=CHECKS)
        except Exception as fault:  # whatever a check found
            sent.faults.append(f"{name}: {fault}"[:2000])
        except BaseExceptionGroup as several:
            sent.faults += [f"{name}: {fault}"[:2000] for fault in several.exceptions]
        del sent.faults[SHOWN:]

    # Where few requests are possible, they come again until there are as many.
    while sent.count < count:
        before = sent.count
        send()
        if sent.count == before:
            break
    return sent


def _cases(operation: Any) -> st.SearchStrategy[Any]:
    """Return requests that fit the document and, where something can be wrong, those that do not."""
    fitting = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    if not (operation.definition.raw.get("parameters") or operation.definition.raw.get("requestBody")):
        return fitting
    return st.one_of(fitting, operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))


def run(total: int, seed: int, processes: int) -> dict[str, Any]:
    """Start a server, attack it, and return what was found."""
    began, statuses, sent = time.monotonic(), Counter[int](), Counter[str]()
    waited = max(10, round(total * SHARE_WAITED / len(WAITED)))
    each = -(-(total - waited * len(WAITED)) // (len(NAMES) - len(WAITED)))
    faults: list[str] = []
    with a_server() as server:
        for role, person in WHO.items():
            server.add_person(person, role)  # type: ignore[arg-type]
        for table in ("patients", "others"):
            server.add_table(table)
            server.grant(table, ["ann", "eve"], 10 * NANO)
        server.start(web=1, workers=1, slots={"count": 0.1, "other": 0.1})
        with server.client("ann") as client:
            headers = {"Idempotency-Key": "the first one", "Prefer": "wait=60"}
            first = client.post("/v1/tables/patients/ask", json={"query": QUERY}, headers=headers).json()[
                "job"
            ]
        keys = {role: server.keys[person].text for role, person in WHO.items()}
        progress = Progress("requests")
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
            # Those that wait first: they take longest, and the others need the processor meanwhile.
            names = sorted(NAMES, key=lambda name: name not in WAITED)
            running = [
                pool.submit(attack, name, waited if name in WAITED else each, seed, server.base, keys, first)
                for name in names
            ]
            for found in as_completed(running):
                ended = found.result()
                sent[ended.name] = ended.count
                statuses.update(ended.statuses)
                faults += ended.faults
                progress.say(sum(sent.values()), total)
        server.stop()
        log = [line for line in server.log.splitlines() if "Traceback" in line or " ERROR " in line]
    return {
        "requests": sum(sent.values()),
        "operations": len(sent),
        "seconds": round(time.monotonic() - began),
        "statuses": {str(number): count for number, count in sorted(statuses.items())},
        "faults": faults,
        "log": log[:20],
    }


def main() -> None:
    """Print what was found; 1 if anything was not as the document says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=2, help="that make requests")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    before = machine()
    found = run(options.requests, options.seed, options.processes)
    show({**before, "seed": options.seed, **found}, options.json)
    sys.exit(1 if found["faults"] or found["log"] or found["requests"] < options.requests else 0)


if __name__ == "__main__":
    main()
