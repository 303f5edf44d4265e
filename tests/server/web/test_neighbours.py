# SPDX-License-Identifier: Apache-2.0
"""Two servers on tables that differ in one row: what they say differs in answers, and in nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.server.web.served import COUNT, Served, serve

# What differs from run to run, on the same table too: ids, hashes, keys and moments.
_RANDOM = re.compile(r"anm_[0-9a-f]{16}_[\w-]{43}|[0-9a-f]{64}|[0-9a-f]{32}|\b[0-9a-f]{16}\b")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}\+00:00)?")
_RELEASE = re.compile(r'"release_after":[0-9.]+')
_DIGEST = re.compile(r"sha-256=[A-Za-z0-9+/=]+")
# The answers themselves, and what is reckoned from them: two answers that happen to be equal have one digest.
_VALUE = re.compile(r'"(value|size)":-?\d+')
_ANSWERS_DIGEST = re.compile(r'(?<="digest":")[0-9a-f]{64}|(?<="sha-256:)[0-9a-f]{64}')


class Told:
    """All that one server said, with what is random by the order in which it first came."""

    def __init__(self) -> None:
        self.said: list[tuple[Any, ...]] = []
        self._names: dict[str, str] = {}

    def note(self, status: int, headers: Any, body: str, *, is_answer: bool = False) -> None:
        padded = len(body) >= 1024 and len(body).bit_count() == 1
        shown = [
            (name, self._plain(text)) for name, text in sorted(headers.items()) if name != "content-length"
        ]
        text = "" if is_answer else self._plain(body)
        # Where an answer is, its length must not show.
        holds = _VALUE.search(body) is not None and '"items"' not in body
        assert padded or not holds or is_answer, body
        self.said.append((status, shown, text.rstrip(), len(body) if padded else len(text)))

    def _plain(self, text: str) -> str:
        text = _VALUE.sub(r'"\1":0', _RELEASE.sub('"release_after":0', _DIGEST.sub("digest", text)))
        text = _ANSWERS_DIGEST.sub("", _MOMENT.sub("moment", text))
        return _RANDOM.sub(lambda found: self._names.setdefault(found[0], f"<{len(self._names)}>"), text)


def converse(served: Served) -> Told:
    """Send the same requests to a server: good ones, wrong ones, and looks at all that there is."""
    told = Told()
    questions = [COUNT | {"where": f"age < {age}"} for age in (25, 30, 31, 60, 120)]
    questions += [COUNT | {"where": "height < 3"}, COUNT | {"epsilon": "11"}, COUNT | {"epsilon": "0"}, {}]
    jobs = []
    for number, query in enumerate(questions):
        found = served.ask("analyst", f"conversation-{number}", query)
        told.note(found.status_code, found.headers, found.text)
        if "job" in found.json():
            jobs.append(found.json()["job"])
    again = served.ask("analyst", "conversation-0", questions[0], wait=0)
    told.note(again.status_code, again.headers, again.text)
    paths = ["/v1", "/v1/me", "/v1/tables", "/v1/tables/patients", "/v1/tables/patients/statement"]
    paths += ["/v1/tables/patients/answers", "/v1/tables/patients/ledger", "/v1/keys", "/v1/nowhere"]
    paths += [f"/v1/{kind}/{job}" for job in jobs for kind in ("jobs", "answers")]
    paths += [f"/v1/answers/{job}/receipt" for job in jobs]
    for who in ("analyst", "other analyst", "auditor", None):
        with served.client(who) as client:
            for path in paths:
                found = client.get(path)
                told.note(found.status_code, found.headers, found.text)
            for job in jobs:
                found = client.get(f"/v1/answers/{job}/content")
                told.note(found.status_code, found.headers, found.text, is_answer=found.status_code == 200)
            for query in questions:
                for name, body in (("preview", {"query": query}), ("plan", {"query": query, "for_error": 9})):
                    found = client.post(f"/v1/tables/patients/{name}", json=body)
                    told.note(found.status_code, found.headers, found.text)
    return told


@pytest.fixture
def both(tmp_path: Path) -> Iterator[list[Served]]:
    with ExitStack() as stack:
        running = []
        for extra in (0, 1):
            folder = tmp_path / str(extra)
            folder.mkdir()
            # Slots so long that every job ends in the first of them, however slow the machine is.
            running.append(stack.enter_context(serve(folder, extra=extra, slot=3.0)))
        yield running


@pytest.mark.slow
def test_servers_on_neighbouring_tables_differ_in_no_byte_but_in_answers(both: list[Served]) -> None:
    left, right = (converse(served) for served in both)
    assert len(left.said) > 150
    for one, other in zip(left.said, right.said, strict=True):
        assert one == other


def test_the_comparison_sees_what_it_should() -> None:
    def told(body: dict[str, Any], size: int = 1024) -> list[tuple[Any, ...]]:
        found = Told()
        found.note(200, {}, json.dumps(body, separators=(",", ":")).ljust(size))
        return found.said

    assert told({"value": 12, "job": "a" * 32}) == told({"value": 99, "job": "b" * 32})
    assert told({"value": 12}) != told({"value": 12}, 2048)
    assert told({"rows": 12}) != told({"rows": 13})
    same, other = ({"digest": digit * 64, "first": "c" * 64} for digit in "cd")
    assert told(same) == told(other)
    first, second = Told(), Told()
    for noted, digits in ((first, "cd"), (second, "cc")):  # answers that are equal on one table only
        for digit in digits:
            noted.note(200, {"etag": f'"sha-256:{digit * 64}"'}, "", is_answer=True)
    assert first.said == second.said
