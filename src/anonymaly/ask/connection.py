# SPDX-License-Identifier: Apache-2.0
"""A connection to a server: what may be sent again and what not, and errors as the library has them."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO
from urllib.parse import quote, unquote, urlsplit

from anonymaly.ask.server_address import find_key, no_answer, readable_key, refuse_address
from anonymaly.ask.server_words import UNREAD, read_problem, understood
from anonymaly.core.extras import require
from anonymaly.core.value import canonical_json
from anonymaly.errors import (
    InputError,
    ServerError,
)
from anonymaly.version import __version__

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0
# How long it is tried again: a server that was never reached, one that is busy, one that was lost.
PATIENCE_AT_FIRST, PATIENCE_IF_BUSY, PATIENCE_IF_LOST = 3.0, 20.0, 60.0
TIMEOUT_SECONDS = 90.0  # longer than the longest wait that is asked for
CONNECT_SECONDS = 10.0
MEGABYTE = 1 << 20
MOST_ITEMS = 200  # of a page
_AGAIN = frozenset({429, 502, 503, 504})
_DONE_PERHAPS = frozenset({502, 504})  # a proxy lost the answer


class ServerConnection:
    """Sends requests to one table of one server.

    Parameters
    ----------
    url : str
        The table's address, such as ``https://curator.example/patients``.
    key : str, optional
        The key of whoever asks.
    """

    def __init__(self, url: str, key: str | None) -> None:
        require("client", "A curator on another machine")
        import httpx  # noqa: PLC0415

        parts = urlsplit(url)
        place, _, table = parts.path.rstrip("/").rpartition("/")
        refuse_address(parts, table)
        self.host, self.table = f"{parts.netloc}{place}", unquote(table)
        self._errors = httpx.RequestError
        self._never_sent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
        # Redirects are not followed: they could carry the key to another host. Nor is a proxy of the
        # environment used without TLS: it would read the key.
        self._client = httpx.Client(
            base_url=f"{parts.scheme}://{parts.netloc}{place}",
            headers={
                "Authorization": f"Bearer {readable_key(key or find_key(url))}",
                "User-Agent": f"anonymaly/{__version__}",
                "Accept-Encoding": "identity",
            },
            timeout=httpx.Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=parts.scheme == "https",
        )
        self._reached = False

    def of_table(self, *rest: str) -> str:
        """Return the path of something about the table."""
        return "/".join(["/v1/tables", quote(self.table, safe=""), *(quote(part, safe="") for part in rest)])

    def get(self, path: str, **parameters: Any) -> Any:
        """Return what is at a path."""
        return self._send("GET", path, params=parameters)

    def post(self, path: str, content: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """Return the answer to what is sent; only what may be sent twice is sent here."""
        return self._send("POST", path, **_body(content, headers))

    def post_once(self, path: str, content: Mapping[str, Any], if_lost: str) -> Any:
        """Return the answer to what must not be done twice; ``if_lost`` is what to do if none comes."""
        return self._send("POST", path, if_lost=if_lost, **_body(content))

    def put(self, path: str, content: Mapping[str, Any]) -> Any:
        """Return the answer to what is put in the place of what was there."""
        return self._send("PUT", path, **_body(content))

    def delete(self, path: str, **parameters: Any) -> Any:
        """Return the answer to a removal."""
        return self._send("DELETE", path, params=parameters)

    def pages(self, path: str) -> list[Any]:
        """Return all items of a list that comes in pages."""
        found: list[Any] = []
        page = self.get(path, limit=MOST_ITEMS)
        with understood(self.host):
            while True:
                found.extend(page["items"])
                if page["next"] is None:
                    return found
                page = self.get(path, limit=MOST_ITEMS, after=page["next"])

    def download(self, path: str, file: BinaryIO) -> None:
        """Write what is at a path to a file, from the beginning again if the connection breaks."""

        def once() -> Any:
            file.seek(0)
            file.truncate()
            with self._client.stream("GET", path) as response:
                if response.status_code != 200:
                    response.read()
                    return response
                for part in response.iter_bytes(MEGABYTE):
                    file.write(part)
                return response

        self._raised(self._often(once))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def compare_versions(self) -> None:
        """Say if the server is of another version."""
        told = self._send("GET", "/v1")
        theirs = told.get("version") if isinstance(told, Mapping) else None
        if not isinstance(theirs, str) or told.get("name") != "anonymaly":
            raise self._no_curator()
        if theirs != __version__:
            warnings.warn(
                f"{self.host} runs anonymaly {theirs}, and this is {__version__}: questions that only one of "
                "them knows are refused",
                stacklevel=4,
            )

    def _send(self, method: str, path: str, *, if_lost: str | None = None, **how: Any) -> Any:
        response = self._raised(self._often(lambda: self._client.request(method, path, **how), if_lost))
        try:
            return response.json()
        except (ValueError, RecursionError):
            raise self._no_curator() from None

    def _often(self, send: Callable[[], Any], if_lost: str | None = None) -> Any:
        """Send until there is an answer that will not be another one in a moment.

        With ``if_lost`` it is not sent again once it may have arrived.
        """
        began, pause, restarts = time.monotonic(), FIRST_PAUSE_SECONDS, False
        while True:
            response: Any = None
            trouble, said = "", ""
            try:
                response = send()
                self._reached = True
            except self._errors as problem:
                trouble, said = type(problem).__name__, str(problem)
                if "CERTIFICATE_VERIFY_FAILED" in str(problem):
                    raise ServerError(
                        f"{self.host} has a certificate that is not trusted here",
                        field="url",
                        next_step="Set SSL_CERT_FILE to the certificate of whoever signed it.",
                    ) from None
                if if_lost is not None and not isinstance(problem, self._never_sent):
                    raise self._lost(trouble, if_lost) from None
            if if_lost is not None and response is not None and response.status_code in _DONE_PERHAPS:
                raise self._lost(str(response.status_code), if_lost)
            if response is not None and response.status_code not in _AGAIN:
                return response
            restarts = restarts or (response is None and self._reached)
            patience = PATIENCE_AT_FIRST if response is None else PATIENCE_IF_BUSY
            # A server that begins anew answers before its tables are ready.
            if time.monotonic() - began + pause > (PATIENCE_IF_LOST if restarts else patience):
                break
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        if response is not None:
            return response
        raise ServerError(
            f"{self.host} does not answer ({no_answer(trouble, said)})",
            field="url",
            next_step="Check the address, or try again later: the same question is charged once.",
        )

    def _raised(self, response: Any) -> Any:
        """Return a response that is good; raise the error of one that is not."""
        if response.status_code < 300:
            return response
        if response.status_code < 400:
            raise ServerError(
                f"{self.host} sends on to another address, which could carry the key there",
                field="url",
                next_step="If you trust that address, give it instead.",
            )
        if response.status_code == 401:
            raise InputError(
                f"{self.host} does not accept it",
                field="key",
                next_step="It may be mistyped, expired or revoked; the owner gives out keys.",
            )
        try:
            told = json.loads(response.content)
            found = read_problem(told)
        except UNREAD:
            raise self._no_curator() from None
        raise found

    def _lost(self, trouble: str, if_lost: str) -> ServerError:
        return ServerError(
            f"what {self.host} answered was lost on the way ({trouble}), and it may have been done",
            field="url",
            next_step=if_lost,
        )

    def _no_curator(self) -> ServerError:
        return ServerError(
            f"{self.host} does not answer as a curator does",
            field="url",
            next_step="Check the address: https, the host, and the name of the table.",
        )


def _body(content: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {
        "content": canonical_json(content).encode(),
        "headers": {"Content-Type": "application/json", **(headers or {})},
    }
