# SPDX-License-Identifier: Apache-2.0
"""Find anomalies in records about people without exposing anyone."""
