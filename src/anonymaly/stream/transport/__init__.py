# SPDX-License-Identifier: Apache-2.0
"""How messages travel between the parties."""
