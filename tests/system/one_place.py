# SPDX-License-Identifier: Apache-2.0
"""One account used in one environment, in a process of its own; run by `test_places`.

python one_place.py MANIFEST TABLE-OPTIONS, where the options are JSON. What must not depend on the
environment goes to standard output as one JSON document in ASCII, and what must be checked in it, too.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import anonymaly as am
from anonymaly.core.value import canonical_json
from anonymaly.engine import spill

# At this ε an answer is the true one, but for a chance of less than 1e-20.
QUESTIONS = [
    am.Count(where="ward == 'Ä' and seen >= '2026-02-01'", epsilon=50),
    am.Count(where=["ward == 'I'", "ward == 'ı'", "age < 0.3"], epsilon=100),
    am.Identify(record={"age": 40}, model="rare", epsilon=50),
    am.ShareHistogram(by=["ward"], method="geometric", epsilon=50),
]
# What is random or of the moment: digests and hashes, the ledger's name, times.
VARYING = re.compile(r"\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b|\d{4}-\d\d-\d\dT[0-9:.]+\+00:00")


def asked(curator: am.Curator) -> dict[str, Any]:
    """Ask everything, ask it again, and return what was seen."""
    found = []
    for query in QUESTIONS:
        bound = curator.accountant.accept(query)
        preview = curator.preview(query)
        answer = curator.ask(query)
        again = curator.ask(query)
        assert again.charged == 0
        assert again.receipt == answer.receipt
        found.append(
            {
                "fingerprint": f"F{bound.fingerprint(0)}",  # not taken for one of the digests below
                "cost": bound.query.cost,
                "preview": preview.to_dict(),
                "answer": answer.to_dict(),
                "shown": str(answer),
            }
        )
    return {"asked": found}


def in_child(manifest: str) -> dict[str, Any]:
    """Open the account in another process, and ask there."""
    with_own = am.Curator.open(manifest)
    try:
        return asked(with_own)
    finally:
        with_own.close()


def by_fork(curator: am.Curator) -> dict[str, Any]:
    """Ask in a forked child, with its parent's curator."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with os.fdopen(write, "wb") as file:
                file.write(json.dumps(asked(curator)).encode("ascii"))
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        content = file.read()
    assert os.waitpid(child, 0)[1] == 0
    found: dict[str, Any] = json.loads(content)
    return found


def main() -> None:
    """Open, ask, ask again, and say what is there."""
    manifest, options = sys.argv[1], json.loads(sys.argv[2])
    folder = Path(manifest).parent.absolute()
    os.umask(int(options["umask"], 8))
    here = os.getcwd()
    if options["paths"] == "relative":
        os.chdir(folder)
        manifest = Path(manifest).name
    curator = am.Curator.open(manifest)
    if options["working folder"] == "changes":
        os.chdir(options["elsewhere"])
    match options["process"]:
        case "own":
            found = asked(curator)
        case "fork":
            found = by_fork(curator)
        case "spawn":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found = pool.apply(in_child, (os.path.join(folder, Path(manifest).name),))
    os.chdir(here)
    entries = [canonical_json(entry.to_dict()) for entry in curator.accountant.ledger.entries()]
    text = json.dumps(
        {
            **found,
            "entries": entries,
            "statement": curator.statement().to_dict(),
            "spent": curator.spent,
            "verified": curator.accountant.verify().ok,
        },
        sort_keys=True,
    )
    made = [path for path in folder.rglob("*") if not path.name.startswith("table.")]
    # The folder of all ledgers' answers is an ordinary one; what is in it is its owner's alone.
    ours = [path for path in made if path.suffix not in (".yaml", ".answers")]
    modes = {f"{stat.S_IMODE(path.lstat().st_mode):o} {path.is_dir()}" for path in ours}
    curator.close()
    sys.stdout.buffer.write(
        json.dumps(
            {
                "same": json.loads(VARYING.sub("…", text)),
                "modes": sorted(modes),
                "spill": f"{stat.S_IMODE(spill.folder().stat().st_mode):o}",
                "encoding": sys.getfilesystemencoding(),
            }
        ).encode("ascii")
    )


if __name__ == "__main__":
    main()
