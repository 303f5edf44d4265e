# SPDX-License-Identifier: Apache-2.0
"""Is this record an anomaly in our data?"""

from anonymaly.questions.identify.suggestion import Suggestion, suggest

__all__ = ["Suggestion", "suggest"]
