# SPDX-License-Identifier: Apache-2.0
"""Outlier detectors for scikit-learn, with its conventions: lower scores are worse, -1 is an outlier."""

from anonymaly.core.extras import require

require("estimators", "anonymaly.estimators")
