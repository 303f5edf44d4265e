# SPDX-License-Identifier: Apache-2.0
"""What the four parties say to each other and do, whatever carries their messages."""
