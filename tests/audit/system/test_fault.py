# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from contextlib import nullcontext

from anonymaly.audit.system.fault import Problems, SystemFault, found_as_it_is, replaced


class _Broken:
    is_broken = False


def _green() -> Problems:
    if _Broken.is_broken:
        yield "it is broken"


def _red() -> Problems:
    yield "it is always broken"


def test_a_fault_that_changes_nothing_is_not_caught_by_a_layer_that_rejects_everything() -> None:
    nothing = SystemFault("nothing", "opening", nullcontext)
    assert not nothing.is_rejected(_red)
    assert not nothing.is_rejected(_green)
    assert SystemFault("broken", "opening", lambda: replaced(_Broken, "is_broken", True)).is_rejected(_green)


def test_what_a_layer_finds_as_it_is_serves_as_the_control_of_its_faults() -> None:
    calls = []

    def counted() -> Problems:
        calls.append(1)
        yield from _green()

    assert found_as_it_is(counted) == []
    broken = SystemFault("broken", "opening", lambda: replaced(_Broken, "is_broken", True))
    assert broken.is_rejected(counted)
    assert len(calls) == 2
