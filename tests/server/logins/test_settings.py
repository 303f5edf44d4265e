# SPDX-License-Identifier: Apache-2.0
"""What an owner sets of logins, and which process is told what of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymaly.errors import InputError
from anonymaly.server.logins.settings import LoginSettings, WebLogin
from anonymaly.server.settings import ServerSettings, WebSettings, WorkerSettings

LOGIN: dict[str, Any] = {
    "issuer": "https://login.example.org/realms/clinic",
    "client_id": "curator",
    "client_secret_file": "client-secret",
    "address": "https://curator.example.org/",
    "people": {"claim": "email", "names": {"ann@example.org": {"person": "ann", "role": "analyst"}}},
}
SECRET = "the secret"  # noqa: S105
DOCS = Path(__file__).parents[3] / "docs" / "login.md"


def load(folder: Path, **changes: Any) -> ServerSettings:
    (folder / "server.yaml").write_text(yaml.safe_dump({"login": {**LOGIN, **changes}}), "utf-8")
    return ServerSettings.load(folder)


def write_secret(folder: Path, text: str = f"{SECRET}\n", mode: int = 0o600) -> None:
    (folder / "client-secret").write_text(text, "utf-8")
    (folder / "client-secret").chmod(mode)


def test_web_processes_have_the_secret_and_workers_the_people(tmp_path: Path) -> None:
    write_secret(tmp_path)
    settings = load(tmp_path)
    web, working = settings.for_web(tmp_path), settings.for_workers(tmp_path)
    assert web.login == WebLogin(
        issuer=LOGIN["issuer"],
        client_id="curator",
        client_secret=SECRET,
        callback="https://curator.example.org/login/callback",
        scope="openid email",
        name="your institution",
    )
    assert "ann" not in web.to_json()
    assert SECRET not in working.to_json()
    assert WebSettings.read(json.loads(web.to_json())) == web
    assert WorkerSettings.read(json.loads(working.to_json())) == working


def test_each_kind_of_process_needs_its_own_part_alone(tmp_path: Path) -> None:
    alone = {"client_secret_file": "nowhere", "address": None}
    assert load(tmp_path, **alone).for_workers(tmp_path).login is not None
    write_secret(tmp_path)
    assert load(tmp_path, people={"claim": "email"}).for_web(tmp_path).login is not None


def test_nobody_is_let_in_whom_nobody_named() -> None:
    assert LoginSettings(issuer="https://a.example", client_id="x").for_workers().people.names == {}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"issuer": "http://login.example.org"}, "login.issuer"),
        ({"issuer": "https://user:word@login.example.org"}, "login.issuer"),
        ({"issuer": "login.example.org"}, "login.issuer"),
        ({"issuer": "https://login.example.org?x=1"}, "login.issuer"),
        ({"address": "http://curator.example.org"}, "login.address"),
        ({"address": "https://curator.example.org/console"}, "login.address"),
        ({"client_secret": "twice"}, "login.client_secret"),
        ({"client_id": ""}, "client_id"),
        ({"people": {"claim": "name"}}, "claim"),
        ({"people": {"names": {"x": {"person": "", "role": "owner"}}}}, "login.people.names.x.person"),
        ({"people": {"names": {"x": {"person": "ann", "role": "god"}}}}, "role"),
        ({"people": {"names": {"x": {"person": "ann"}}}}, "role"),
        ({"people": {"domains": ["example.org"]}}, "domains"),
    ],
)
def test_what_cannot_be_or_is_not_safe_is_refused_by_its_name(
    tmp_path: Path, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, **changes)
    assert caught.value.field == field


def test_this_machine_may_do_without_tls(tmp_path: Path) -> None:
    load(tmp_path, issuer="http://127.0.0.1:4000", address="http://localhost:8765")


@pytest.mark.parametrize(("text", "mode"), [("", 0o600), ("a\nb", 0o600), ("x", 0o604), (None, 0)])
def test_a_secret_that_is_none_or_everybodys_is_refused(tmp_path: Path, text: str | None, mode: int) -> None:
    if text is not None:
        write_secret(tmp_path, text, mode)
    with pytest.raises(InputError) as caught:
        load(tmp_path).for_web(tmp_path)
    assert caught.value.field == "login.client_secret_file"


def test_a_web_process_is_told_where_browsers_reach_it(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, address=None).for_web(tmp_path)
    assert caught.value.field == "login.address"


def test_the_page_has_every_field_and_an_example_that_is_read(tmp_path: Path) -> None:
    page = DOCS.read_text("utf-8")
    fields = set(LoginSettings.model_fields) - {"people"} | {"people.claim", "people.names"}
    assert all(f"| `{name}` |" in page for name in fields)
    (tmp_path / "server.yaml").write_text(page.partition("```yaml\n")[2].partition("```")[0], "utf-8")
    write_secret(tmp_path)
    settings = ServerSettings.load(tmp_path)
    assert settings.for_web(tmp_path).login is not None
