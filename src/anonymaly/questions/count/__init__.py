# SPDX-License-Identifier: Apache-2.0
"""The question ``count``: how many records match? The smallest complete question, and the one to copy."""
