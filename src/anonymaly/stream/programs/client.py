# SPDX-License-Identifier: Apache-2.0
"""The MQTT client, and what it means when it cannot connect: which of many reasons, and what to do."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from aiomqtt import Client, MqttError, ProtocolVersion, TLSParameters
from aiomqtt import Message as Packet
from aiomqtt.exceptions import MqttCodeError, MqttConnectError
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from anonymaly.errors import InputError

Version = Literal["3.1.1", "5"]
LONGEST_GREETING = 3.0  # seconds that a broker has to answer; one that knows no MQTT 5 may not answer at all
SESSION = 24 * 3600  # seconds for which the broker keeps what a party did not fetch; senders send it again
_REFUSED = {4, 5, 134, 135}  # bad user name or password, not authorised; MQTT 3.1.1 and 5
_TAKEN_OVER = 142
# The client would log every packet that it drops; we count them.
_client_logger = logging.getLogger("anonymaly.stream.client")
_client_logger.setLevel(logging.CRITICAL)


@dataclass(frozen=True)
class BrokerAddress:
    """Where the broker is, and how to get in."""

    host: str
    port: int
    username: str
    password: str
    authorities: str | None = None  # a file with the certificates that vouch for the broker; None: no TLS
    certificate: str | None = None  # the party's own, for a broker that asks for it
    certificate_key: str | None = None
    mqtt: Version = "3.1.1"


@dataclass(frozen=True)
class Trouble:
    """Why there is no connection."""

    words: str  # behind "the broker at …"
    next_step: str
    final: bool = False  # waiting does not help
    unanswered: bool = False  # the broker ended the connection before it said anything
    taken_over: bool = False
    usual: bool = False  # it happens whenever a broker starts again


class Unanswered(MqttError):
    """The broker ended the connection before it let the party in."""


class _Client(Client):
    """Says what aiomqtt leaves out: that a publication is refused, and that there is no answer."""

    def __init__(self, *given: Any, denied: Callable[[str], object], **options: Any) -> None:
        super().__init__(*given, **options)
        self._denied = denied

    def _on_publish(self, client: Any, userdata: Any, mid: int, reason_code: Any, properties: Any) -> None:
        if reason_code.is_failure:
            self._denied(f"{reason_code} (code {reason_code.value})")
        super()._on_publish(client, userdata, mid, reason_code, properties)

    def _on_disconnect(
        self, client: Any, userdata: Any, flags: Any, reason_code: Any, properties: Any = None
    ) -> None:
        if not self._connected.done():
            self._connected.set_exception(Unanswered("no answer"))
            return
        super()._on_disconnect(client, userdata, flags, reason_code, properties)


def make_client(
    broker: BrokerAddress,
    identifier: str,
    version: Version,
    queue: type[asyncio.Queue[Packet]],
    denied: Callable[[str], object],
) -> Client:
    """Make a client with a session that outlives its connection."""
    tls = None
    if broker.authorities is not None:
        for path in (broker.authorities, broker.certificate, broker.certificate_key):
            _check_readable(path)
        tls = TLSParameters(
            ca_certs=broker.authorities, certfile=broker.certificate, keyfile=broker.certificate_key
        )
    session: dict[str, Any] = {"clean_session": False}
    if version == "5":
        kept = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        kept.SessionExpiryInterval = SESSION
        session = {
            "protocol": ProtocolVersion.V5, "clean_start": False, "properties": kept,
            "timeout": LONGEST_GREETING,
        }  # fmt: skip
    return _Client(
        broker.host,
        broker.port,
        username=broker.username,
        password=broker.password,
        identifier=identifier,
        queue_type=queue,
        logger=_client_logger,
        tls_params=tls,
        denied=denied,
        **session,
    )


def trouble_of(problem: MqttError, broker: BrokerAddress) -> Trouble:
    """Say what a failed or lost connection means."""
    code = getattr(getattr(problem, "rc", None), "value", getattr(problem, "rc", None))
    if isinstance(problem, MqttConnectError) and code in _REFUSED:
        return Trouble(
            f"does not let {broker.username} in: it refuses the user or the password",
            "Check the password with the broker's password file.",
            final=True,
        )
    if isinstance(problem, MqttConnectError):
        return Trouble(f"refuses the connection ({problem.rc})", "See the broker's log.")
    if isinstance(problem, Unanswered):
        return _unanswered(broker)
    cause = problem.__cause__ or problem.__context__
    if isinstance(cause, TimeoutError):
        return Trouble("does not answer", "Nothing is lost meanwhile.", unanswered=True, usual=True)
    if isinstance(cause, MqttCodeError) and getattr(cause.rc, "value", None) == _TAKEN_OVER:
        return taken_over(broker)
    return _trouble_below(cause, broker)


def taken_over(broker: BrokerAddress) -> Trouble:
    """Return what it means that connections end as soon as they are there."""
    return Trouble(
        f"ends {broker.username}'s connections at once, as it does when another program has the name",
        "If a copy of this party runs elsewhere, stop one of them.",
        taken_over=True,
    )


def _unanswered(broker: BrokerAddress) -> Trouble:
    if broker.authorities is None:
        return Trouble(
            "ends the connection without an answer",
            "If its port is for TLS, name its authority: `tls: FILE` under `broker:`.",
            unanswered=True,
        )
    asked = "" if broker.certificate else " If it asks for certificates, give this party's: `certificate:`."
    return Trouble("ends the connection without an answer", f"See the broker's log.{asked}", unanswered=True)


def _trouble_below(cause: BaseException | None, broker: BrokerAddress) -> Trouble:
    """Say what failed below MQTT: in TLS or in the network."""
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Trouble(
            f"has a certificate that {broker.authorities} does not vouch for ({cause.verify_message})",
            "Give the certificate of its authority as `tls:`, and the name in its certificate as `host:`.",
            final=True,
        )
    if isinstance(cause, ssl.SSLError):
        reason = cause.reason or type(cause).__name__
        if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
            return Trouble("does not speak TLS on this port", "Give its port for TLS, or leave `tls:` out.")
        return Trouble(f"does not agree on TLS ({reason})", "See the broker's log.")
    if broker.authorities is not None and isinstance(cause, ConnectionResetError):
        return Trouble(
            "ends the connection when TLS begins", "If its port is not for TLS, give the one that is."
        )
    if isinstance(cause, socket.gaierror):
        return Trouble("is not known by that name", "Check `host:`.")
    return Trouble("does not answer", "Nothing is lost meanwhile.", usual=True)


def _check_readable(path: str | None) -> None:
    try:
        if path is not None:
            with open(path, "rb"):
                pass
    except OSError as problem:
        raise InputError(
            f"cannot read {path} ({type(problem).__name__})",
            field="broker",
            next_step="Give the file that `anonymaly stream init` wrote.",
        ) from None
