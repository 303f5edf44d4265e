# SPDX-License-Identifier: Apache-2.0
"""The list of extras is the package's own, and what is missing is said in one sentence."""

from __future__ import annotations

import copy
import importlib.util
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from anonymaly.core import extras
from anonymaly.errors import AnonymalyError, ExtraMissing

PROJECT: dict[str, Any] = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))[
    "project"
]


def named(extra: str) -> set[str]:
    """Return the distributions that an extra names itself, not those of extras that it includes."""
    wanted = [Requirement(text) for text in PROJECT["optional-dependencies"][extra]]
    return {found.name for found in wanted} - {"anonymaly", "ibis-framework"}


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function after which some packages are not to be found."""
    found = importlib.util.find_spec

    def hide(*packages: str) -> None:
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name in packages else found(name)
        )

    return hide


def test_at_most_eleven_packages_are_needed_in_every_installation() -> None:
    assert len(PROJECT["dependencies"]) <= 11


@pytest.mark.parametrize("extra", extras.EXTRAS)
def test_an_extra_brings_the_packages_that_are_looked_for(extra: str) -> None:
    distributions = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python"}
    assert named(extra) == {distributions.get(package, package) for package in extras.EXTRAS[extra]}


def test_all_means_all_extras() -> None:
    (whole,) = PROJECT["optional-dependencies"]["all"]
    assert Requirement(whole).extras == set(extras.EXTRAS)
    assert set(PROJECT["optional-dependencies"]) == {*extras.EXTRAS, "all"}


def test_what_is_missing_is_one_sentence_with_the_command(without: Any) -> None:
    without("sklearn", "aiomqtt", "cryptography", "scipy")
    for extra, who, packages, said in (
        ("estimators", "GridKNN", (), "GridKNN needs scikit-learn, which is not installed. "),
        ("stream", "It", (), "It needs aiomqtt, cryptography and scipy, which are not installed. "),
        ("stream", "A model", ("scipy",), "A model needs scipy, which is not installed. "),
    ):
        with pytest.raises(ExtraMissing) as refused:
            extras.require(extra, who, *packages)
        assert str(refused.value) == f"{said}Run: pip install 'anonymaly[{extra}]'"
        assert refused.value.exit_code == 2
        assert isinstance(refused.value, AnonymalyError)
        assert isinstance(refused.value, ImportError)
        assert str(copy.copy(refused.value)) == str(refused.value)


def test_what_is_there_is_not_complained_of(without: Any) -> None:
    without("altair")
    extras.require("estimators", "GridKNN")
    extras.require("report", "A picture", "vl_convert")
    assert extras.missing("report") == ["altair"]
    assert extras.load("scipy.stats", "audit", "An audit").__name__ == "scipy.stats"
