# SPDX-License-Identifier: Apache-2.0
"""A server that is to log people in by OpenID Connect says before it starts what is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from anonymaly.errors import ExtraMissing
from anonymaly.server.run import Supervisor
from anonymaly.server.settings import ServerSettings


def test_the_extra_is_named_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "authlib" else found(name))
    settings = ServerSettings.read({"login": {"issuer": "https://a.example", "client_id": "x"}})
    with pytest.raises(ExtraMissing, match=r"anonymaly\[oidc\]"):
        Supervisor(tmp_path, settings).prepare(print)
    assert list(tmp_path.iterdir()) == []
