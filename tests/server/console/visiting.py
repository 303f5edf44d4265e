# SPDX-License-Identifier: Apache-2.0
"""A browser without JavaScript: it keeps cookies, follows nothing by itself, and fills in forms."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import httpx

from tests.server.web.served import Served


class Reader(HTMLParser):
    """Elements of a page with their attributes, forms with their fields, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.forms: list[tuple[dict[str, str | None], dict[str, Any]]] = []
        self.text = ""
        self._select: str | None = None
        self._area: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        if tag == "form":
            self.forms.append((given, {}))
        if not self.forms:
            return
        fields, name = self.forms[-1][1], given.get("name") or ""
        if tag == "input" and name:
            boxes = given.get("type") in ("checkbox", "radio")
            if not boxes or "checked" in given:
                fields.setdefault(name, []).append(given.get("value") or ("on" if boxes else ""))
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            fields.setdefault(self._select, []).append(given.get("value") or "")
        elif tag == "textarea":
            self._area = name
            fields[name] = [""]

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = None
        elif tag == "select":
            self._select = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._area:
            self.forms[-1][1][self._area][0] += data

    def form(self, action: str) -> dict[str, Any]:
        """Return the fields of the form that is sent to a place, as they stand."""
        return dict(next(fields for given, fields in self.forms if given.get("action") == action))


class Browser:
    """Somebody who visits the console."""

    def __init__(self, served: Served, who: str | None = None) -> None:
        self.client = httpx.Client(base_url=served.base, timeout=300)
        if who is not None:
            entered = self.client.post("/login", data={"key": served.keys[who].text})
            assert entered.status_code == 303, entered.text

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.client.get(path, **more)

    def read(self, path: str) -> Reader:
        found = self.get(path)
        assert found.status_code == 200, found.text
        return Reader(found.text)

    @property
    def token(self) -> str:
        """The token of this session's forms."""
        return str(self.read("/").form("/logout")["csrf"][0])

    def send(self, path: str, fields: dict[str, Any] | None = None, **more: Any) -> httpx.Response:
        """Send a form with the token of the session."""
        return self.client.post(path, data={"csrf": self.token, **(fields or {})}, **more)

    def follow(self, response: httpx.Response) -> httpx.Response:
        """Go where a form that was sent ends."""
        assert response.status_code == 303, response.text
        return self.get(response.headers["Location"])
