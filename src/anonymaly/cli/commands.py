# SPDX-License-Identifier: Apache-2.0
"""The table of commands: where each one is, and its line in the list that ``anonymaly --help`` shows.

Each command lives in a module of its own, which is imported when the command is used: an engine, a ledger and
compiled noise take seconds to import, and a list of commands needs none of them. A test compares each line
with the command's own help.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from anonymaly.ask.catalogue import QUESTIONS

QUESTION = "anonymaly.cli.ask:question_command"


class ListedCommand(NamedTuple):
    """A command: the module and the name in it, and the first line of its help, if it is known here."""

    home: str
    line: str | None


_COMMANDS = {
    "demo": ListedCommand(
        "anonymaly.cli.demo:demo",
        "Find and explain an odd record, and show most questions, on built-in data, in under a minute.",
    ),
    "init": ListedCommand(
        "anonymaly.cli.init:init",
        "Write a manifest for a table: how it is read, its columns to declare, a budget to set.",
    ),
    "check": ListedCommand(
        "anonymaly.cli.check:check",
        "Check the manifest, its rules, the table's columns and the ledger; look at no values, spend nothing.",  # noqa: E501
    ),
    "choose": ListedCommand(
        "anonymaly.cli.choose:choose",
        "Find the question, the rule and the numbers to begin with; whatever no flag says is asked for.",
    ),
    "plan": ListedCommand(
        "anonymaly.cli.plan:app", "Say which epsilon gives a wanted error; read no rows, spend nothing."
    ),
    "find": ListedCommand(
        "anonymaly.cli.find:find",
        "Find the oddest records, and say why they are: of a file, out of one ε, or of the owner's own rows.",
    ),
    "ask": ListedCommand("anonymaly.cli.ask:ask", "Ask a question that is written as JSON, verbatim."),
    "ledger": ListedCommand(
        "anonymaly.cli.ledger:ledger", "Show what was asked, spent and promised; works without the table."
    ),
    "amend": ListedCommand(
        "anonymaly.cli.amend:amend",
        "Correct what a manifest declares, once questions were charged: show what differs, then record it.",
    ),
    "inspect": ListedCommand(
        "anonymaly.cli.inspect:inspect",
        "Show the owner exact values from the rows; nothing is charged, and nothing of it may be released.",
    ),
    "audit": ListedCommand(
        "anonymaly.cli.audit:audit",
        "Attack the promises of all questions on invented tables; reads no table of yours, spends nothing.",
    ),
    "serve": ListedCommand(
        "anonymaly.cli.serve:serve", "Serve the tables of a folder to analysts with keys, until stopped."
    ),
    "owner": ListedCommand(
        "anonymaly.cli.owner:app",
        "Give people access to a server's tables: keys, grants, budgets, pauses.",
    ),
    "backup": ListedCommand(
        "anonymaly.cli.backup:backup",
        "Copy ledgers, answers, anchors and keys of a served folder; neither rows nor secrets.",
    ),
    "forget": ListedCommand(
        "anonymaly.cli.forget:forget",
        "Erase answers or a person's name, for good; what was charged stays in the ledger.",
    ),
    "warm": ListedCommand(
        "anonymaly.cli.warm:warm",
        "Compile everything now, so that no command waits for it later; reads no rows, spends nothing.",
    ),
    "stream": ListedCommand(
        "anonymaly.cli.stream_commands:app", "Find faulty readings without seeing the readings."
    ),
}
_QUESTION_LINES = {
    "count": "How many records match?",
    "explain": "In which group does this record stand out, and why?",
    "identify": "Is this record an anomaly in our data?",
    "lookahead": "How many records have each value, with noise only where somebody may be protected?",
    "score": "How unusual is a new record, compared with our reference data?",
    "share-sample": "Which records may be published as they are?",
    "share-histogram": "How many records are there of each kind, when only some are sensitive?",
    "share-ngrams": "Which places do people go to, one after another?",
}

COMMANDS: Mapping[str, ListedCommand] = MappingProxyType(
    _COMMANDS | {name: ListedCommand(QUESTION, _QUESTION_LINES.get(name)) for name in QUESTIONS}
)
