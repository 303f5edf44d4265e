# SPDX-License-Identifier: Apache-2.0
"""Where a server listens: the socket that all web processes share, and files for TLS."""

from __future__ import annotations

import socket
import ssl

from anonymaly.errors import InputError


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that all web processes share."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as problem:
        # Python adds to the system's words that it was binding, and to what.
        why = (problem.strerror or "").partition(" (while")[0] if isinstance(problem, OSError) else None
        raise InputError(
            f"cannot listen at {host}, port {port} ({why or type(problem).__name__})",
            field="port",
            next_step="Choose another port with --port, or end what listens there.",
        ) from None


def refuse_useless_tls(certificate: str | None, key: str | None) -> None:
    """Refuse files that TLS cannot be done with: web processes would end at once, again and again."""
    if certificate is None or key is None:
        return
    try:
        # A key with a password would have every web process ask for it.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as problem:
        why = getattr(problem, "reason", None) or getattr(problem, "strerror", None) or "no PEM file"
    else:
        return
    raise InputError(
        f"TLS cannot be done with {certificate} and {key} ({why})",
        field="tls_cert",
        next_step="Give a certificate and its own key, both in PEM, and the key without a password.",
    )
