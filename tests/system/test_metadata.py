# SPDX-License-Identifier: Apache-2.0
"""What an index would show of the package is complete, and true of this checkout."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest

import anonymaly
from anonymaly.version import __version__

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "installation.md").read_text("utf-8")


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def test_the_installed_metadata_name_author_licence_version_and_description() -> None:
    found = metadata("anonymaly")
    assert found["Version"] == __version__
    assert found["License-Expression"] == "Apache-2.0"
    assert found["Summary"]
    assert found["Description-Content-Type"] == "text/markdown"


def test_systems_and_versions_are_those_that_the_installation_page_names(project: dict[str, object]) -> None:
    assert project["authors"] == [{"name": "anonymaly contributors"}]
    classifiers = project["classifiers"]
    assert isinstance(classifiers, list)
    versions = {text.rpartition(" ")[2] for text in classifiers if re.search(r":: 3\.\d+$", text)}
    tested = PAGE.partition("## Tested systems")[2].partition("##")[0]
    assert versions == set(re.findall(r"Python (3\.\d+)", tested))
    assert "Operating System :: POSIX :: Linux" in classifiers
    assert "Linux" in tested


def test_the_page_has_every_extra_and_none_besides(project: dict[str, object]) -> None:
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(extras)


@pytest.mark.parametrize(("name", "meant"), [("categories", "Categories"), ("Currator", "Curator")])
def test_a_misspelt_public_name_is_guessed(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"Did you mean {meant}"):
        getattr(anonymaly, name)
    assert not hasattr(anonymaly, "_repr_html_")
