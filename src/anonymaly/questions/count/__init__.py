# SPDX-License-Identifier: Apache-2.0
"""How many records match? The smallest complete question, and the pattern to copy."""
