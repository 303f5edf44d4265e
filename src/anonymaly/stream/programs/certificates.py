# SPDX-License-Identifier: Apache-2.0
"""A stream's own certificate authority, and what it vouches for: the broker, and each party.

Certificates do not end by themselves: no decision of a stream depends on the date, and a meter may have no
clock. `anonymaly stream rotate-key` makes new ones; the broker's access list shuts out who has gone.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from anonymaly.errors import InputError
from anonymaly.stream.programs.keys import read_secret

CERTIFICATE, KEY = "ca.crt", "ca.key"
FIRST, LAST = datetime(2000, 1, 1), datetime(9999, 12, 31, 23, 59, 59)


@dataclass(frozen=True)
class Issued:
    """A certificate and its key, as the contents of two files."""

    certificate: bytes
    key: bytes


class Authority:
    """Vouches for a stream's broker and parties.

    Examples
    --------
    >>> authority = Authority.make("rooms")
    >>> issued = authority.issue("sensor/room-1")
    >>> x509.load_pem_x509_certificate(issued.certificate).subject.rfc4514_string()
    'CN=sensor/room-1'
    """

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate

    @classmethod
    def make(cls, stream: str) -> Authority:
        """Make a new one."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name(f"anonymaly {stream}"[:64])
        usage = x509.KeyUsage(
            digital_signature=False, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
            encipher_only=False, decipher_only=False,
        )  # fmt: skip
        built = (
            _begun(name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        return cls(key, built.sign(key, SHA256()))

    @classmethod
    def load(cls, folder: Path) -> Authority:
        """Read the one that `set_up` wrote."""
        key = load_pem_private_key(read_secret(folder / KEY, field="DIR"), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise InputError(
                f"{folder / KEY} is not the authority's key", field="DIR", next_step="Restore it."
            )
        return cls(key, x509.load_pem_x509_certificate((folder / CERTIFICATE).read_bytes()))

    @property
    def issued(self) -> Issued:
        """Its own certificate and key."""
        return Issued(self._certificate.public_bytes(Encoding.PEM), _private(self._key))

    def issue(self, name: str, *, hosts: tuple[str, ...] = ()) -> Issued:
        """Vouch for a party by its address, or for a broker by the names of its machine."""
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key()
        usage = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
        built = (
            _begun(_name(name[:64]), self._certificate.subject, public)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
        )
        if hosts:
            built = built.add_extension(
                x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False
            )
        return Issued(built.sign(self._key, SHA256()).public_bytes(Encoding.PEM), _private(key))


def _begun(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(FIRST)
        .not_valid_after(LAST)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
