# SPDX-License-Identifier: Apache-2.0
"""The curator over HTTP: web processes that know declarations, workers that hold rows, jobs between them."""
