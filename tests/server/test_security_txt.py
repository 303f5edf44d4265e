# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from anonymaly.errors import InputError
from anonymaly.server.security_txt import render
from anonymaly.server.settings import ServerSettings
from tests.server.web.served import serve

CONTACT = "mailto:security@example.org"


def test_it_names_a_contact_and_its_day_and_goes_when_that_has_come() -> None:
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    assert render(CONTACT, tomorrow.isoformat()) == (
        f"Contact: {CONTACT}\nExpires: {tomorrow.isoformat()}T00:00:00Z\nPreferred-Languages: en\n"
    )
    assert render(CONTACT, datetime.now(UTC).date().isoformat()) is None
    assert render(None, None) is None


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("security_contact: security@example.org\nsecurity_expires: 2099-01-01", "security_contact"),
        (f"security_contact: {CONTACT}", "security_expires"),
        (f"security_contact: {CONTACT}\nsecurity_expires: soon", "security_expires"),
        ("security_expires: 2099-01-01", "security_contact"),
        (
            'security_contact: "mailto:a@b.example\\nPolicy: x"\nsecurity_expires: 2099-01-01',
            "security_contact",
        ),
    ],
)
def test_what_is_no_contact_is_refused(tmp_path: Path, text: str, field: str) -> None:
    (tmp_path / "server.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        ServerSettings.load(tmp_path)
    assert caught.value.field == field


def test_a_day_needs_no_quotes(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text(f"security_contact: {CONTACT}\nsecurity_expires: 2099-01-01\n")
    told = ServerSettings.load(tmp_path).for_web(tmp_path)
    assert (told.security_contact, told.security_expires) == (CONTACT, "2099-01-01")


def test_the_server_shows_it_to_anyone(tmp_path: Path) -> None:
    with serve(tmp_path) as served, served.client(None) as client:
        assert client.get("/.well-known/else.txt").status_code == 303  # to the login, as any page
        found = client.get("/.well-known/security.txt")
        assert found.headers["content-type"] == "text/plain; charset=utf-8"
        assert found.text.startswith(f"Contact: {CONTACT}\n")
