# SPDX-License-Identifier: Apache-2.0
"""The parties as programs: keys, sealed messages, MQTT, configuration files."""

from anonymaly.core.extras import require

require("stream", "A program of a stream")
