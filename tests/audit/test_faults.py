# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import pkgutil

import anonymaly.audit
from anonymaly.ask.catalogue import QUESTIONS
from anonymaly.audit import faults
from anonymaly.audit.questions import AUDITED
from anonymaly.audit.system.locks import LOCK_FAULTS
from anonymaly.audit.system.setting import emptied
from anonymaly.audit.system.verify import DATABASE_FAULTS


def test_the_table_holds_every_list_of_planted_faults() -> None:
    listed = {fault.name for fault in faults.planted_faults()}
    for module in pkgutil.walk_packages(anonymaly.audit.__path__, "anonymaly.audit."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.endswith(("_MUTANTS", "_FAULTS")):
                assert {fault.name for fault in value} <= listed, f"{module.name}.{name}"


def test_every_question_has_planted_faults_and_each_has_a_name_of_its_own() -> None:
    assert set(AUDITED) == set(QUESTIONS)
    assert all(item.mutants for item in AUDITED.values())
    lines = [(fault.about, fault.name) for fault in faults.planted_faults()]
    assert len(set(lines)) == len(lines)


def test_a_line_of_the_table_plants_its_fault_and_says_that_it_was_rejected(postgres: str) -> None:
    lines = {fault.name: fault for fault in faults.planted_faults(postgres=lambda: emptied(postgres))}
    for name in (
        "Mersenne Twister",
        "rounded up",
        "one suspect told",
        "two zeros",
        "PostgreSQL's head not locked",
    ):
        rejected = lines[name].is_rejected
        assert rejected is not None
        assert rejected(), name


def test_without_a_database_the_faults_that_need_one_are_listed_and_not_run() -> None:
    unrun = [fault for fault in faults.planted_faults() if fault.is_rejected is None]
    assert {fault.layer for fault in unrun} == {"locks", "verify"}
    assert {fault.name for fault in (*LOCK_FAULTS, *DATABASE_FAULTS)} == {fault.name for fault in unrun}
