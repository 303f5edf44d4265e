# SPDX-License-Identifier: Apache-2.0
"""Which records are odd, and why: questions put together. Nothing here has a promise of its own."""
