# SPDX-License-Identifier: Apache-2.0
"""Pictures of released or public figures; nothing here reads a table."""

from anonymaly.core.extras import require

require("report", "A picture")
