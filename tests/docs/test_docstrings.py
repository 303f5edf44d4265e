# SPDX-License-Identifier: Apache-2.0
"""Every example in a docstring runs and prints what it says; public names have one."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import anonymaly
import studies

MODULES = sorted(
    module.name
    for package in (anonymaly, studies)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(
        importlib.import_module(name),
        extraglobs={"folder": tmp_path},
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert result.failed == 0
