# SPDX-License-Identifier: Apache-2.0
"""The parties as programs: keys, sealed messages, MQTT, configuration files."""
