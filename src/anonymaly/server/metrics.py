# SPDX-License-Identifier: Apache-2.0
"""What an owner watches of a server, in the text format of Prometheus (version 0.0.4).

No number here depends on a row: requests, jobs as they may be seen, charges, limits, who lives. Written by
hand, because the usual library counts over processes in files of one machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from anonymaly.core.epsilon import to_text
from anonymaly.errors import LedgerError
from anonymaly.server.alive import count_alive
from anonymaly.server.published import Published, list_tables
from anonymaly.server.released import count_jobs
from anonymaly.server.services import Services
from anonymaly.version import __version__

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
JOB_STATES = ("under way", "done", "refused", "failed")
Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Metric:
    """One name with its numbers by labels."""

    name: str
    kind: str
    help: str
    numbers: Iterable[tuple[Labels, str]]

    def lines(self) -> Iterator[str]:
        """Write it down."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, number in self.numbers:
            inside = ",".join(f'{name}="{_escaped(item)}"' for name, item in labels.items())
            yield f"{self.name}{{{inside}}} {number}" if inside else f"{self.name} {number}"


def render(services: Services) -> str:
    """Return all numbers as they are now."""
    return "".join(f"{line}\n" for metric in _all(services) for line in metric.lines())


def _all(services: Services) -> Iterator[Metric]:
    state = services.state
    yield Metric(
        "anonymaly_build_info", "gauge", "The version that answers.", [({"version": __version__}, "1")]
    )
    yield Metric(
        "anonymaly_requests_total",
        "counter",
        "Requests by template of the route and by status.",
        [
            ({"method": method, "route": route, "status": str(status)}, str(number))
            for (method, route, status), number in services.counts.read().items()
        ],
    )
    jobs = count_jobs(state)
    yield Metric(
        "anonymaly_jobs",
        "gauge",
        "Jobs that are kept, as they may be seen: under way until their release.",
        [({"state": name}, str(jobs.get(name, 0))) for name in JOB_STATES],
    )
    yield Metric(
        "anonymaly_workers_alive",
        "gauge",
        "Workers that said in the last seconds that they live.",
        [({}, str(count_alive(state)))],
    )
    published = list_tables(state)
    yield Metric(
        "anonymaly_table_ready",
        "gauge",
        "1 while a worker can read the table.",
        [({"table": table.name}, str(int(table.ready))) for table in published],
    )
    yield from _of_ledgers(services, published)


def _of_ledgers(services: Services, published: list[Published]) -> Iterator[Metric]:
    readable, charged, spent, limit = [], [], [], []
    for table in published:
        labels = {"table": table.name}
        try:
            ledger, account = services.ledgers.of(table), services.ledgers.account(table)
            number = 0 if ledger is None else ledger.count_charges(table.name)
        except LedgerError:
            readable.append((labels, "0"))
            continue
        readable.append((labels, "1"))
        charged.append((labels, str(number)))
        if account is not None:
            spent.append((labels, to_text(account.spent)))
            limit.append((labels, to_text(account.limit)))
    yield Metric("anonymaly_ledger_readable", "gauge", "1 if the table's ledger can be read.", readable)
    yield Metric("anonymaly_questions_charged_total", "counter", "Questions that a table paid for.", charged)
    yield Metric("anonymaly_epsilon_spent", "gauge", "The epsilon that the table spent.", spent)
    yield Metric("anonymaly_epsilon_limit", "gauge", "The epsilon that the table may spend.", limit)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
