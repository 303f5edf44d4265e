# SPDX-License-Identifier: Apache-2.0
"""A login on its way: its cookie, and what is derived from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anonymaly.server.console.pending import LASTS_SECONDS, PendingCookies, PendingLogin


def test_a_cookie_is_read_as_it_was_written() -> None:
    begun = PendingLogin.fresh("/tables/patients?x=1")
    assert PendingLogin.read(begun.text) == begun
    assert begun.secret not in repr(begun)
    assert len({begun.state, begun.nonce, begun.verifier, begun.secret}) == 4


def test_another_page_or_time_than_it_began_with_is_another_state() -> None:
    begun = PendingLogin.fresh("/")
    assert replace(begun, next="/keys").state != begun.state
    assert replace(begun, begun=begun.begun + 1).state != begun.state


@pytest.mark.parametrize("later", [-LASTS_SECONDS - 2, 5])
def test_a_login_ends_after_ten_minutes(later: int) -> None:
    begun = PendingLogin.fresh("/")
    assert PendingLogin.read(replace(begun, begun=begun.begun + later).text) is None


@pytest.mark.parametrize("text", [None, "", "a.b.c", "x" * 43 + ".1.Lw", "x" * 43 + f".{'9' * 40}.Lw", "é"])
def test_what_is_no_cookie_of_ours_is_none(text: str | None) -> None:
    assert PendingLogin.read(text) is None


def test_a_page_that_is_no_text_is_none() -> None:
    head = PendingLogin.fresh("/").text.rpartition(".")[0]
    assert PendingLogin.read(f"{head}._w") is None
    assert PendingLogin.read(f"{head}.A") is None


@pytest.mark.parametrize("place", ["https://a.org/", "//a.org", "/\\a.org", "javascript:alert(1)", ""])
def test_a_page_elsewhere_is_none_even_in_a_cookie_that_somebody_else_put_there(place: str) -> None:
    assert PendingLogin.read(PendingLogin.fresh(place).text) is None


def test_beyond_loopback_the_cookie_goes_by_tls_alone() -> None:
    cookie = PendingCookies(encrypted=True).handed(PendingLogin.fresh("/"))
    assert cookie.startswith("__Host-anonymaly-login=")
    assert cookie.endswith("; Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure")
