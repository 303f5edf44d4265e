# SPDX-License-Identifier: Apache-2.0
"""One module a question: what it claims, and its planted faults."""
