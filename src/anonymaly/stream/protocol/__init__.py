# SPDX-License-Identifier: Apache-2.0
"""What the four parties say to each other and what they do; how messages travel is not their concern."""
