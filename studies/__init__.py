# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments again, with the papers' figures beside ours. Only public data, no budget."""
