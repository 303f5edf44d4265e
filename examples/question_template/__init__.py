# SPDX-License-Identifier: Apache-2.0
"""What proportion of the records match? A complete small question in two stages, to copy from."""
