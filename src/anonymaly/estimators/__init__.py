# SPDX-License-Identifier: Apache-2.0
"""scikit-learn faces of released models: lower scores are more abnormal there, and -1 is an outlier."""

from anonymaly.core.extras import require

require("estimators", "anonymaly.estimators")
