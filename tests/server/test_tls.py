# SPDX-License-Identifier: Apache-2.0
"""A server with TLS of its own: who trusts its certificate asks it, and nobody else sends a key."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import anonymaly as am
from anonymaly.errors import InputError, ServerError
from anonymaly.server.run import Supervisor
from anonymaly.server.settings import ServerSettings
from tests.server.places import Place
from tests.server.running import SETTINGS, Running


def write_certificate(folder: Path, password: bytes | None = None, name: str = "server") -> None:
    """Write a certificate for this machine, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a curator")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    hidden = (
        serialization.NoEncryption() if password is None else serialization.BestAvailableEncryption(password)
    )
    (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden)
    )


@pytest.mark.slow
def test_a_server_with_tls_is_asked_by_whoever_trusts_its_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_certificate(tmp_path)
    server = Running(tmp_path)
    settings = {**SETTINGS, "tls_cert": "server.pem", "tls_key": "server.key"}
    (tmp_path / "server.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    server.base = f"https://127.0.0.1:{server.port}"
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
    try:
        server.start()
        server.wait_until_ready()
        key = server.add("ann")
        curator = am.connect(f"{server.base}/patients", key=key)
        assert curator.ask(am.Count(epsilon="0.1")).charged == 0.1
        assert f"at {server.base}" in (tmp_path / "log").read_text("utf-8")
        with pytest.raises(httpx.TransportError):  # nothing is said without TLS
            httpx.get(f"http://127.0.0.1:{server.port}/v1", timeout=300)
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(ServerError, match="not trusted"):
            am.connect(f"{server.base}/patients", key=key).remaining  # noqa: B018
    finally:
        server.stop()


@pytest.mark.parametrize("wrong", ["no pem", "another's key", "a password"])
def test_what_tls_cannot_be_done_with_is_said_before_anything_starts(here: Place, wrong: str) -> None:
    write_certificate(here.folder, b"secret" if wrong == "a password" else None)
    if wrong == "no pem":
        (here.folder / "server.pem").write_bytes(b"\x00 no certificate")
    if wrong == "another's key":
        write_certificate(here.folder, name="other")
        (here.folder / "other.key").rename(here.folder / "server.key")
    settings = ServerSettings(port=0, tls_cert="server.pem", tls_key="server.key")
    with pytest.raises(InputError, match="without a password") as caught:
        Supervisor(here.folder, settings).prepare(lambda _: None)
    assert caught.value.field == "tls_cert"
