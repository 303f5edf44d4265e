# SPDX-License-Identifier: Apache-2.0
"""The console: pages for analysts, owners and auditors, from the same functions as /v1."""
