# SPDX-License-Identifier: Apache-2.0
"""The ways to a context, one file each; what each of them costs is in ``search.py``."""
