# SPDX-License-Identifier: Apache-2.0
"""The compiled counting of rows in balls: boxes within boxes, on all cores."""
