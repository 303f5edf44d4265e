# SPDX-License-Identifier: Apache-2.0
"""What an owner says in public about a table: columns, filters, rules, the dataset and its file."""
