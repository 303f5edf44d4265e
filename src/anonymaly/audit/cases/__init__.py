# SPDX-License-Identifier: Apache-2.0
"""What each question claims, and broken variants of it that the audit must reject: one module a question."""
