# SPDX-License-Identifier: Apache-2.0
"""Pictures drawn by altair: those of studies and audits, and any chart for whoever asks for altair's."""

from anonymaly.core.extras import require

require("report", "A picture")
