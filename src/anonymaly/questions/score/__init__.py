# SPDX-License-Identifier: Apache-2.0
"""The question ``score``: how unusual is a new record? A released model scores records offline."""
