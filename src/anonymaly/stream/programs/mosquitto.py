# SPDX-License-Identifier: Apache-2.0
"""Mosquitto's files: who may connect, and which topics each may read and write.

A message lies on the topic ``PREFIX/RECIPIENT/from/SENDER``. A party may read what is addressed to it and
write what it sends to its own peers; the broker enforces that, even if a party's program does not.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

ITERATIONS = 101  # Mosquitto's own default; our passwords are 256 random bits and need no stretching


def topic(prefix: str, recipient: str, sender: str) -> str:
    """Return the topic on which one party writes to another.

    Examples
    --------
    >>> topic("anonymaly", "detector", "sensor/meter-1")
    'anonymaly/detector/from/sensor/meter-1'
    """
    return f"{prefix}/{recipient}/from/{sender}"


def inbox(prefix: str, recipient: str) -> str:
    """Return the one pattern to which a party subscribes."""
    return topic(prefix, recipient, "#")


def password_line(user: str, password: str, salt: bytes) -> str:
    """Return a user's line of the password file (PBKDF2 with SHA-512)."""
    hashed = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, ITERATIONS)
    return f"{user}:$7${ITERATIONS}${_base64(salt)}${_base64(hashed)}"


def password_matches(line: str, user: str, password: str) -> bool:
    """Say whether a line of the password file lets the user in.

    Examples
    --------
    >>> line = password_line("detector", "secret", b"twelve bytes")
    >>> password_matches(line, "detector", "secret"), password_matches(line, "detector", "guess")
    (True, False)
    """
    name, _, hashed = line.partition(":")
    parts = hashed.split("$")
    if name != user or len(parts) != 5 or parts[1] != "7":
        return False
    salt, expected = base64.b64decode(parts[3]), base64.b64decode(parts[4])
    found = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, int(parts[2]))
    return hmac.compare_digest(found, expected)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@dataclass
class AccessList:
    """Which topics each user may read and write.

    Examples
    --------
    >>> access = AccessList.of("anonymaly", {"detector": ["corrector"], "corrector": ["detector"]})
    >>> print(access)
    user corrector
    topic read anonymaly/corrector/from/#
    topic write anonymaly/detector/from/corrector
    <BLANKLINE>
    user detector
    topic read anonymaly/detector/from/#
    topic write anonymaly/corrector/from/detector
    >>> access.allows("detector", "write", "anonymaly/corrector/from/detector")
    True
    >>> access.allows("detector", "read", "anonymaly/corrector/from/sensor/meter-1")
    False
    """

    topics: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, prefix: str, peers: Mapping[str, Iterable[str]]) -> AccessList:
        """Let every party read its own inbox and write to its peers'."""
        return cls(
            {
                party: {
                    "read": [inbox(prefix, party)],
                    "write": [topic(prefix, peer, party) for peer in sorted(others)],
                }
                for party, others in sorted(peers.items())
            }
        )

    @classmethod
    def parse(cls, text: str) -> AccessList:
        """Read an access list that ``str`` wrote."""
        access, user = cls(), ""
        for line in text.splitlines():
            words = line.split()
            if words[:1] == ["user"]:
                user = words[1]
                access.topics[user] = {"read": [], "write": []}
            elif words[:1] == ["topic"]:
                access.topics[user][words[1]].append(words[2])
        return access

    def __str__(self) -> str:
        return "\n\n".join(
            "\n".join(
                [f"user {user}"]
                + [f"topic {verb} {pattern}" for verb, patterns in verbs.items() for pattern in patterns]
            )
            for user, verbs in self.topics.items()
        )

    def allows(self, user: str, verb: str, wanted: str) -> bool:
        """Say whether a user may read or write a topic, or subscribe to a pattern."""
        patterns = self.topics.get(user, {}).get(verb, [])
        return any(
            wanted == pattern or (pattern.endswith("/#") and wanted.startswith(pattern[:-1]))
            for pattern in patterns
        )


def configuration(port: int, largest: int, *, user: str, tls: bool, everywhere: bool) -> str:
    """Return a ``mosquitto.conf`` that uses the files beside it."""
    lines = [
        "# Run it with: mosquitto -c mosquitto.conf, from this folder, as the user who owns these files.",
        "# Started by root it becomes that user.",
        f"user {user}",
        f"listener {port}" if everywhere else f"listener {port} 127.0.0.1",
        *(_TLS if tls else _NO_TLS),
        "allow_anonymous false",
        "use_username_as_clientid true",
        "password_file passwords",
        "acl_file access",
        "persistence true",
        "persistence_location ./",
        "max_inflight_messages 100",
        "max_queued_messages 1000",
        "# A larger packet is refused by its first bytes.",
        f"max_packet_size {largest}",
    ]
    return "\n".join([*lines, ""])


_NO_TLS = [
    "# Without TLS. Messages are sealed either way; TLS protects the passwords and hides who writes to whom:",
    "# anonymaly stream init --tls.",
]
_TLS = [
    "# Both sides show a certificate of the stream's own authority.",
    "cafile ca.crt",
    "certfile server.crt",
    "keyfile server.key",
    "require_certificate true",
    "tls_version tlsv1.2",
]
