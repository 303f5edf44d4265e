# SPDX-License-Identifier: Apache-2.0
"""The list of commands is what the commands say of themselves, and importing none of them shows it."""

from __future__ import annotations

from typing import Any

import pytest
import typer
import typer.main

from anonymaly.cli.commands import COMMANDS
from anonymaly.cli.main import app


@pytest.fixture(scope="module")
def group() -> Any:
    return typer.main.get_command(app)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_line_in_the_list_is_the_first_one_of_its_own_help(group: Any, name: str) -> None:
    command = group.get_command(typer.Context(group), name)
    said = (command.help or "").strip().partition("\n\n")[0]
    assert COMMANDS[name].line == " ".join(said.split())
