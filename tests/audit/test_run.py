# SPDX-License-Identifier: Apache-2.0
"""The quick form of ``anonymaly audit``, on one case of each question; draws are seeded: it repeats."""

from __future__ import annotations

import dataclasses
import html
import itertools
import json
import pickle
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anonymaly.ask.binding import Binding, Stage
from anonymaly.ask.catalogue import QUESTIONS
from anonymaly.audit import run
from anonymaly.audit.cases.count import COUNT_CASES, count_case
from anonymaly.audit.faults import PlantedFault
from anonymaly.audit.findings import AuditLine, AuditRun, Chances, FaultLine
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.page import to_page
from anonymaly.audit.questions import AUDITED
from anonymaly.audit.report import AuditReport, Finding
from anonymaly.audit.system.fault import LackingHere, Problems
from anonymaly.audit.system.setting import emptied
from anonymaly.core.progress import listening
from anonymaly.errors import InputError, LedgerError
from anonymaly.questions.explain.searches import SEARCHES
from anonymaly.questions.share_histogram.methods import METHODS

CHANCES = Chances(run.TOTAL_ALARM, bounds=60, fits=100, of_a_fit=1e-9, of_a_fault=1e-7)


@pytest.fixture(scope="module")
def audited() -> AuditRun:
    """The whole quick form of one question, in this process."""
    return run.audit_all("lookahead", workers=1)


def cheapest(question: str) -> ListedCase:
    return min(AUDITED[question].cases, key=lambda item: ("bound" not in item.layers, item.samples))


@pytest.mark.slow
@pytest.mark.parametrize("question", [name for name in QUESTIONS if name != "lookahead"])
def test_a_case_of_each_question_passes_the_quick_form(question: str) -> None:
    line = run._case(question, cheapest(question), run.QUICK, CHANCES, 0)
    assert line.passed, str(line.report)
    assert line.part is not None
    assert line.part <= 1
    assert {item.layer for item in line.report.findings} >= {"replay", "ledger", "bound"}
    assert any(item.power for item in line.report.findings), "nothing says that it could have been seen"


def test_every_question_method_search_and_adjacency_has_a_case() -> None:
    cases = {name: [item.case() for item in found.cases] for name, found in AUDITED.items()}
    assert set(cases) == set(QUESTIONS)
    both = {"add_remove", "replace"}
    for name, found in cases.items():
        assert {case.adjacency for case in found} == both, name
    explained = {(case.query.search, case.adjacency) for case in cases["explain"]}
    assert explained == {(search, adjacency) for search in SEARCHES for adjacency in both}
    shared = {(case.query.method, case.adjacency) for case in cases["share-histogram"]}
    assert shared == {(method, adjacency) for method in METHODS for adjacency in both}
    scored = {(case.query.method or "mixed", case.query.form, case.adjacency) for case in cases["score"]}
    assert {(method, adjacency) for method, _, adjacency in scored} == {
        (method, adjacency) for method in ("grid", "marginals", "mixed") for adjacency in both
    }
    names = [case.name for found in cases.values() for case in found]
    assert len(set(names)) == len(names)


@pytest.mark.slow
def test_the_quick_form_of_a_question_plants_all_its_faults_and_passes(audited: AuditRun) -> None:
    assert audited.passed, audited.words()
    figures = audited.figures
    assert figures["planted"] == figures["caught"] == len(AUDITED["lookahead"].mutants)
    assert figures["lowest_tight_part"] >= run.QUICK.power
    assert figures["highest_part"] <= 1


@pytest.mark.slow
def test_what_was_found_is_told_without_promising_more_than_that(audited: AuditRun) -> None:
    data = json.loads(json.dumps(audited.to_dict(), ensure_ascii=False))
    page = to_page(audited)
    for text in (json.dumps(data, ensure_ascii=False), page):
        assert "no violation found; noise too small by 1.25x at ε = 2 would be caught" in text
        assert "a violation in answers rarer than about 1 in " in text
        assert "verified" not in text
    assert data["passed"] is True
    assert data["false_alarms"]["total"] == 1e-6
    assert {case["about"] for case in data["cases"]} == {"lookahead"}


@pytest.mark.slow
def test_a_page_has_pictures_and_needs_nothing_else(audited: AuditRun) -> None:
    page = to_page(audited)
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert not [part for part in page.split('"') if part.startswith("http") and "w3.org" not in part]
    assert all(html.escape(fault.name) in page for fault in AUDITED["lookahead"].mutants)


def test_the_false_alarms_of_everything_add_up_to_one_in_a_million() -> None:
    for thorough in (False, True):
        _, chances = run._plan(None, thorough, 0)
        listed = [item for found in AUDITED.values() for item in found.cases]
        assert chances.bounds == sum("bound" in item.layers for item in listed)
        total = chances.bounds * chances.of_a_bound + chances.fits * chances.of_a_fit
        assert total == pytest.approx(1e-6)
        assert chances.of_a_bound > 0
        assert f"{chances.bounds} bounds" in str(chances)


def test_the_quick_form_plants_a_fault_for_every_layer_of_every_question() -> None:
    tasks, _ = run._plan(None, False, 0)
    planted = [
        step for step in itertools.chain(*tasks) if isinstance(step, partial) and step.func is run._planted
    ]
    every = {(step.args[0].about, step.args[0].layer) for step in planted if step.args[0].is_rejected}
    chosen = [step.args[0] for step in planted if step.keywords["run"]]
    assert {(fault.about, fault.layer) for fault in chosen} == every
    assert len(planted) >= 140
    thorough, _ = run._plan(None, True, 0)
    steps = itertools.chain(*thorough)
    assert all(step.keywords["run"] for step in steps if getattr(step, "func", None) is run._planted)


def test_a_fault_of_what_is_shared_is_planted_by_the_process_that_checked_its_layer_without_it() -> None:
    tasks, _ = run._plan("all questions", False, 0)
    layers = [
        (step.args[0].layer, task[0].args[1])
        for task in tasks
        for step in task
        if isinstance(step, partial) and step.func is run._planted and step.args[0].is_rejected
    ]
    assert layers
    assert all(layer == check for layer, check in layers)


def broken_line() -> AuditLine:
    """A count that spends twice what it claims, with as few samples as show it."""
    listed = ListedCase(count_case, layers=("bound",))
    case = dataclasses.replace(listed.overspent(), name="count with half its noise")
    broken = ListedCase(lambda epsilon: case, layers=("bound",))
    return run._case("count", broken, run.QUICK, CHANCES, 0)


def test_a_question_that_spends_twice_its_claim_is_rejected_by_the_bound() -> None:
    line = broken_line()
    assert line.report.rejected_by("bound")
    assert line.of_layer("bound") == "VIOLATION"
    found = AuditRun(run.QUICK, (line,), (), CHANCES, 1.0)
    assert not found.passed
    assert found.sentence() == "this audit did not pass"
    assert any("violation found; ε = 2 is claimed" in text for text in found.words())


def test_a_violation_of_the_factor_that_the_sentence_names_is_caught() -> None:
    # 1.25 times ε = 2, on the pairs of count: rejected in all of them.
    for listed in COUNT_CASES:
        case = dataclasses.replace(listed.case(), query=listed.build(epsilon="2.5").query, claims="2")
        broken = dataclasses.replace(listed, build=lambda epsilon, case=case: case, layers=("bound",))
        assert run._case("count", broken, run.QUICK, CHANCES, 0).report.rejected_by("bound"), case.name


def test_too_few_samples_fail_for_want_of_power_and_reject_nothing() -> None:
    listed = ListedCase(count_case, samples=500, layers=("bound",))
    line = run._case("count", listed, run.QUICK, CHANCES, 0)
    assert not line.passed
    assert not line.report.rejected_by("bound")
    assert line.of_layer("bound") == "NO POWER"


def test_half_the_noise_must_be_seen_where_no_tight_pair_is_known() -> None:
    def blind(epsilon: str) -> object:
        return dataclasses.replace(count_case(epsilon=epsilon), tight=False, law=None, worst_pair=((), ()))

    line = run._case("count", ListedCase(blind, samples=500, layers=("bound",)), run.QUICK, CHANCES, 0)
    assert not line.passed
    assert line.of_layer("bound") == "NO POWER"
    assert "with half the noise it is not rejected" in str(line.report)


def test_the_sentence_says_no_more_than_the_pairs_of_the_run_can_show() -> None:
    def line(tight: bool) -> AuditLine:
        finding = Finding("bound", "loss", True, "no violation found", numbers={"at_least": 1.8})
        return AuditLine("count", AuditReport("count", (finding,)), 2.0, tight)

    small = "noise too small by 1.25x at ε = 2 would be caught"
    for lines, said in (
        ((line(True),), f"{small} on the tested pairs"),
        ((line(False),), "half the noise would be caught on the tested pairs"),
        ((line(True), line(False)), f"{small} where a tight pair is known, and half the noise elsewhere"),
    ):
        sentence = AuditRun(run.QUICK, lines, (), CHANCES, 1.0).sentence()
        assert sentence == f"no violation found; {said}"
    thorough = AuditRun(run.THOROUGH, (line(True),), (), CHANCES, 1.0).sentence()
    assert thorough == (
        "no violation found; noise too small by 1.1x at ε >= 0.5 would be caught on the tested pairs"
    )


def rarely_exact(one_in: int) -> AuditLine:
    """A count that adds a mark to the truth once in so many answers, which no law of ε allows."""
    listed = ListedCase(count_case, samples=20_000, layers=("bound",))
    case = listed.case()
    draw = random.Random(5)

    class Marked(type(case)):  # type: ignore[misc]
        def stages(self, bound: Binding) -> tuple[Stage, ...]:
            (stage,) = super().stages(bound)

            def release(summary: Any, released: Any, noise: Any) -> Any:
                usual = stage.release(summary, released, noise)
                return summary + 10**6 if draw.random() < 1 / one_in else usual

            return (dataclasses.replace(stage, release=release),)

    fields = {item.name: getattr(case, item.name) for item in dataclasses.fields(case)}
    broken = dataclasses.replace(listed, build=lambda epsilon: Marked(**fields))
    return run._case("count", broken, run.QUICK, CHANCES, 0)


@pytest.mark.slow
def test_the_sentence_says_how_rare_a_violation_may_be_and_stay_unseen() -> None:
    unseen = rarely_exact(5_000)
    found = AuditRun(run.QUICK, (unseen,), (), CHANCES, 1.0)
    assert found.passed, "an infinite loss that so few samples cannot show"
    one_in = unseen.number("loss", "one_in")
    assert one_in is not None
    assert one_in < 5_000
    assert found.sentence().endswith(f"a violation in answers rarer than about 1 in {one_in:.0f} may not be")
    assert "any violation" not in found.sentence()
    assert rarely_exact(int(one_in / 1.5)).report.rejected_by("bound"), "and one that is less rare is seen"


def test_a_fault_that_survives_fails_the_run() -> None:
    seen = AuditLine("count", AuditReport("count", (Finding("bound", "loss", True, "no violation found"),)))
    for caught in (True, False, None):
        fault = FaultLine("count", "noise left out", "bound", caught)
        found = AuditRun(run.QUICK, (seen,), (fault,), CHANCES, 1.0)
        assert found.passed == (caught is not False)
    fault = FaultLine("count", "noise left out", "bound", False)
    assert (
        "survived: count: noise left out (bound)"
        in AuditRun(run.QUICK, (seen,), (fault,), CHANCES, 1.0).words()
    )


def test_a_misspelt_question_is_met_with_a_suggestion() -> None:
    with pytest.raises(InputError, match=r"there is no 'cuont'.*Did you mean count"):
        run.audit_all("cuont")


@pytest.mark.slow
def test_several_processes_find_what_one_finds_and_tell_how_far_they_are() -> None:
    heard: list[tuple[int, int]] = []
    with listening(lambda unit, done, total: heard.append((done, total))):
        several = run.audit_all("stream", workers=2)
    alone = run.audit_all("stream", workers=1)
    assert several.lines == alone.lines
    assert several.faults == alone.faults
    assert heard[0][0] == 0
    assert heard[-1] == (len(heard) - 1, len(heard) - 1)


def test_what_was_found_can_be_sent_from_one_process_to_another() -> None:
    line = broken_line()
    assert pickle.loads(pickle.dumps(line)) == line  # noqa: S301


def test_a_fault_that_no_longer_fits_what_it_breaks_survives() -> None:
    def outdated() -> bool:
        raise TypeError("takes 3 positional arguments but 4 were given")

    line = run._planted(PlantedFault("all questions", "an outdated fault", "statement", outdated), run=True)
    assert line.caught is False
    assert line.why == "failed with TypeError instead of being seen"


def test_words_that_look_like_a_page_are_shown_as_words() -> None:
    line = AuditLine("all questions", AuditReport("opening", ()), why="needs <script>alert(1)</script>")
    fault = FaultLine("all questions", "a fault", "opening", None, "needs <b>it</b>")
    page = to_page(AuditRun(run.QUICK, (line,), (fault,), CHANCES, 1.0))
    assert "<script" not in page
    assert "<b>" not in page
    assert "needs &lt;script&gt;" in page
    assert "needs &lt;b&gt;" in page


def _refusing() -> Problems:
    raise InputError("the ledger refuses everything", field="ledger", next_step="Ask again.")
    yield "never"


def _lacking() -> Problems:
    raise LackingHere("this Python's SQLite cannot be listened to", field="sqlite", next_step="Another.")
    yield "never"


def test_a_layer_whose_code_raises_our_own_errors_has_not_passed_and_does_not_end_the_run() -> None:
    step = dict(run._shared([run.SHARED]))["opening"]
    for error in (InputError, LedgerError, TypeError):

        def failing(error: type[Exception] = error) -> AuditLine:
            raise error("it refuses everything")

        line = run._told(run.SHARED, "opening", failing)
        assert not line.passed
        assert not AuditRun(run.QUICK, (line,), (), CHANCES, 1.0).passed
        assert f"failed with {error.__name__}" in str(line.report)
    assert step.func is run._told
    line = run._told(run.SHARED, "opening", partial(run._system, "opening", _refusing))
    assert not line.passed
    fault = PlantedFault("all questions", "a fault", "opening", partial(run._system, "opening", _refusing))
    assert run._planted(fault, run=True).caught is False


def test_a_layer_that_this_machine_cannot_run_is_told_and_the_sentence_says_nothing_of_it() -> None:
    seen = AuditLine("count", AuditReport("count", (Finding("bound", "loss", True, "no violation found"),)))
    line = run._told(run.SHARED, "power cut", partial(run._system, "power cut", _lacking))
    found = AuditRun(run.QUICK, (seen, line), (), CHANCES, 1.0)
    assert not line.passed
    assert found.passed
    assert found.sentence().endswith("nothing is said of what did not run here: power cut")
    assert any(text.startswith("not run: power cut: ") for text in found.words())
    fault = PlantedFault("all questions", "a fault", "power cut", partial(run._system, "power cut", _lacking))
    assert run._planted(fault, run=True).caught is None


def test_a_line_without_findings_has_not_passed() -> None:
    line = AuditLine("all questions", AuditReport("opening", ()))
    assert not line.passed
    assert line.to_dict()["passed"] is False


def test_layers_that_need_a_database_are_named_where_there_is_none(postgres: str) -> None:
    for address, ran in ((None, False), (lambda: emptied(postgres), True)):
        lines = [step() for step in run._in_a_database(address)]
        assert [line.report.name for line in lines] == ["locks in PostgreSQL", "verify in PostgreSQL"]
        for line in lines:
            assert (line.passed, line.why) == (ran, "" if ran else run.NEEDS_POSTGRES)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_is_no_wider_than_a_phone_and_says_what_a_case_found_below_it(
    chromium: Any, tmp_path: Path, scheme: str
) -> None:
    why = "a law that has many words " * 10
    line = AuditLine("all questions", AuditReport("opening of a table by its name", ()), why=why)
    fault = FaultLine("all questions", "a fault", "opening", True)
    place = tmp_path / "audit.html"
    place.write_text(to_page(AuditRun(run.QUICK, (line,), (fault,), CHANCES, 1.0)), "utf-8")
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    page.goto(place.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    case, found = page.locator(".case"), page.locator(".found")
    assert found.inner_text().strip() == why.strip()
    assert found.bounding_box()["y"] >= case.bounding_box()["y"] + case.bounding_box()["height"]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    context.close()
