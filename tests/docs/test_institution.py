# SPDX-License-Identifier: Apache-2.0
"""The page for institutions and the files of `deploy/`, as far as they can be tried without being root."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import typer
import yaml

from anonymaly.cli.main import app
from anonymaly.declare.manifest import Manifest
from anonymaly.server.settings import ServerSettings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "institution.md").read_text("utf-8")
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
WRITTEN = re.findall(r"^    cat >>? (\S+) <<'YAML'\n(.*?)^    YAML$", PAGE, re.M | re.S)
FILES = {  # what is added later stands at the end
    name: "".join(line[4:] + "\n" for other, text in WRITTEN if other == name for line in text.splitlines())
    for name, _ in WRITTEN
}


def test_the_files_that_the_page_writes_are_read(tmp_path: Path) -> None:
    assert len(FILES) == 3
    assert len(WRITTEN) == 5
    (tmp_path / "client-secret").write_text("of the provider", "utf-8")
    (tmp_path / "client-secret").chmod(0o600)
    for name, text in FILES.items():
        path = tmp_path / Path(name).name
        path.write_text(text, "utf-8")
        if path.name == "server.yaml":
            settings = ServerSettings.load(tmp_path)
            assert settings.outbox == "/srv/anonymaly/outbox"
            assert settings.login is not None
            if "/web/" in name:
                back = settings.login.for_web(tmp_path).callback
                assert f"`{back}`" in PAGE
                assert not settings.login.people.names  # for workers alone
            else:
                assert settings.login.for_workers().people.names
                assert (settings.login.client_secret, settings.login.client_secret_file) == (None, None)
            path.unlink()
        else:
            manifest = Manifest.load(path)
            assert manifest.name == path.stem
            assert manifest.declaration().about_rows == 5000


def options(command: str) -> set[str]:
    program = typer.main.get_command(app)
    command, _, inner = command.partition(" ")
    with program.make_context("anonymaly", [command, "--help"], resilient_parsing=True) as context:
        found = program.get_command(context, command)  # type: ignore[attr-defined]
    if inner:
        found = found.commands[inner]
    while hasattr(found, "commands") and command in found.commands:
        found = found.commands[command]
    return {name for item in found.params for name in item.opts}


def commands(text: str) -> list[tuple[str, set[str]]]:
    """Return each command with its options."""
    found = re.findall(r"bin/anonymaly (stream )?([\w%]+)([^|\n]*)", text)
    return [
        (f"{group}{command}".replace("%i", "detector"), set(re.findall(r"(?<= )--[a-z-]+", rest)))
        for group, command, rest in found
    ]


PAGES = [ROOT / "docs" / name for name in ("institution.md", "operation.md")]


@pytest.mark.parametrize("place", [*UNITS, *PAGES], ids=lambda path: path.name)
def test_every_command_and_option_is_there(place: Path) -> None:
    found = commands(place.read_text("utf-8"))
    assert found
    for command, given in found:
        if command in ("serve", "backup", "ledger", "check", "count") or command.startswith("stream "):
            assert given <= options(command), command
        else:
            assert command == "owner"


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_gives_longer_to_stop_than_the_server_takes(unit: Path) -> None:
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read(unit)
    service = read["Service"]
    assert service["User"] not in ("root", "")
    if " serve " in service["ExecStart"]:
        assert int(service["TimeoutStopSec"]) > ServerSettings().stop_seconds
        assert service["KillMode"] == "mixed"


def test_systemd_understands_the_units() -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("needs the program systemd-analyze; install: apt-get install systemd")
    units = [str(path) for path in sorted((DEPLOY / "systemd").iterdir())]
    said = subprocess.run([program, "verify", *units], capture_output=True, text=True, check=False).stderr
    # That the program is not installed here is no fault of the units.
    wrong = [line for line in said.splitlines() if "anonymaly" in line and "not executable" not in line]
    assert not wrong, wrong


def test_prometheus_gets_an_owners_key_from_a_file() -> None:
    server, stream = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert (server["metrics_path"], "credentials_file" in server["authorization"]) == ("/metrics", True)
    # That of a stream answers its own machine alone, and needs no key.
    unit = (DEPLOY / "systemd" / "anonymaly-stream-watch.service").read_text("utf-8")
    (target,) = stream["static_configs"][0]["targets"]
    assert f"--metrics {target.removeprefix('127.0.0.1:')} " in unit
