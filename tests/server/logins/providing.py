# SPDX-License-Identifier: Apache-2.0
"""A real OpenID Connect provider in a process of its own, and somebody who logs in there."""

from __future__ import annotations

import importlib.util
import json
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, quote, urljoin, urlsplit

import httpx
import pytest

FOLDER = Path(__file__).parents[2] / "provider"
CLIENTS = {"console": "a secret of the console: %+&", "another": "another secret", "public": ""}
BACK = "http://127.0.0.1:9/login/callback"  # where nobody listens: a test reads the code itself


class _Forms(HTMLParser):
    """The first form of a page: where it goes, and its fields."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form" and not self.action:
            self.action = given.get("action") or ""
        if tag == "input" and given.get("name"):
            self.fields[str(given["name"])] = given.get("value") or ""


@dataclass
class RunningProvider:
    """Where it listens; ``enter`` fills in its forms as a person does in a browser."""

    issuer: str

    def enter(self, client: httpx.Client, place: str, person: str) -> str:
        """Log in at the provider and consent; return the address that it sends the browser back to."""
        for _ in range(10):
            if not place.startswith(self.issuer):
                return place
            found = client.get(place)
            if found.is_redirect:
                place = urljoin(place, found.headers["Location"])
                continue
            assert found.status_code == 200, found.text
            form = _Forms(found.text)
            own = {"login": person, "password": "any"} if "login" in form.fields else {}
            sent = client.post(urljoin(place, form.action), data={**form.fields, **own})
            assert sent.is_redirect, sent.text
            place = urljoin(place, sent.headers["Location"])
        raise AssertionError("the provider does not come to an end")

    def token(
        self, person: str, *, client: str = "console", scope: str = "openid email profile"
    ) -> tuple[str, str]:
        """Log somebody in and change the code for an ID token; return it and its nonce."""
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        nonce, verifier = secrets.token_hex(32), secrets.token_hex(32)
        asked = {
            "client_id": client,
            "response_type": "code",
            "scope": scope,
            "redirect_uri": BACK,
            "state": "any",
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
        with httpx.Client() as browser:
            place = str(httpx.URL(f"{self.issuer}/auth", params=asked))
            code = parse_qs(urlsplit(self.enter(browser, place, person)).query)["code"][0]
        given = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": BACK,
            "code_verifier": verifier,
        }
        auth = (quote(client, safe=""), quote(CLIENTS[client], safe=""))
        found = httpx.post(f"{self.issuer}/token", data=given, auth=auth)
        assert found.status_code == 200, found.text
        return str(found.json()["id_token"]), nonce


@contextmanager
def running_provider(host: str = "127.0.0.1") -> Iterator[RunningProvider]:
    """Run a provider, or skip: where CI is set, that is a failure. To browsers, localhost is another site."""
    if importlib.util.find_spec("authlib") is None:
        pytest.skip("needs Authlib; install: pip install 'anonymaly[oidc]'")
    if shutil.which("node") is None:
        pytest.skip("needs Node 20; install: apt-get install nodejs npm")
    if not (FOLDER / "node_modules" / "oidc-provider").is_dir():
        pytest.skip("needs oidc-provider; install: npm install --no-package-lock --prefix tests/provider")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = json.dumps({"host": host, "port": port, "clients": CLIENTS})
    process = subprocess.Popen(
        ["node", str(FOLDER / "provider.mjs"), told], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        yield RunningProvider(f"http://{host}:{port}")
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
