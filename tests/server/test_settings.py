# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from anonymaly.errors import InputError
from anonymaly.server.settings import ServerSettings, WebSettings, WorkerSettings


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3"])  # noqa: S104
def test_beyond_loopback_it_needs_tls_or_a_named_proxy(tmp_path: Path, host: str) -> None:
    with pytest.raises(InputError, match="--tls-cert"):
        ServerSettings.load(tmp_path, {"host": host})
    ServerSettings.load(tmp_path, {"host": host, "tls_cert": "cert.pem", "tls_key": "key.pem"})
    ServerSettings.load(tmp_path, {"host": host, "behind_proxy": "10.0.0.2"})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_neither(tmp_path: Path, host: str) -> None:
    assert ServerSettings.load(tmp_path, {"host": host}).host == host


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"tls_cert": "cert.pem"}, "tls_key"),
        ({"tls_key": "key.pem"}, "tls_cert"),
        ({"behind_proxy": "anybody"}, "behind_proxy"),
        ({"behind_proxy": "0.0.0.0/0"}, "behind_proxy"),
        ({"slots": {"count": 0.05}}, "slots.count"),
        ({"slots_of": {"patients": {"count": 0.0}}}, "slots_of.patients.count"),
        ({"port": 70_000}, "port"),
        ({"workers": 0}, "workers"),
        ({"seconds": 0}, "seconds"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(
    tmp_path: Path, options: dict[str, object], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        ServerSettings.load(tmp_path, options)
    assert caught.value.field == field


def test_options_go_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text("port: 1234\nweb: 2\nslots: {count: 0.5}\nlimits: {jobs: 9}\n")
    settings = ServerSettings.load(tmp_path, {"port": 4321, "web": None})
    assert (settings.port, settings.web, settings.slots, settings.limits.jobs) == (4321, 2, {"count": 0.5}, 9)


def test_a_web_process_is_told_neither_of_tables_nor_of_the_workers_role(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text(
        "state: postgresql://worker:secret@db/state\nweb_state: postgresql://web@db/state\n"
        "ledgers: {patients: 'postgresql://reader@db/ledger'}\n"
    )
    settings = ServerSettings.load(tmp_path)
    told = settings.for_web(tmp_path, {"patients": "postgresql://writer:secret@db/ledger"})
    assert "secret" not in told.to_json()
    assert told.ledgers == {"patients": "postgresql://reader@db/ledger"}
    assert WebSettings.read(told.to_dict()) == told
    working = settings.for_workers(tmp_path)
    assert WorkerSettings.read(working.to_dict()) == working
