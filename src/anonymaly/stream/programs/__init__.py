# SPDX-License-Identifier: Apache-2.0
"""The parties as programs: keys, sealed messages, MQTT, configuration files."""

from anonymaly.errors import InputError

try:
    import aiomqtt  # noqa: F401
    import cryptography  # noqa: F401
except ImportError:
    raise InputError(
        "the programs of a stream are not installed",
        next_step="Run: pip install 'anonymaly[stream]'",
    ) from None
