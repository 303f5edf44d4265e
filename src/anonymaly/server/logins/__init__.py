# SPDX-License-Identifier: Apache-2.0
"""Login by OpenID Connect: what a worker believes of a provider, and the keys that it makes for sessions."""
