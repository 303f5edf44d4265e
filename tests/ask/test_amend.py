# SPDX-License-Identifier: Apache-2.0
"""An owner corrects a declaration after questions were charged under it; SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.errors import DeclarationChanged, InputError, Refused, SchemaError
from anonymaly.ledger.statement import Statement

SMALL = ["january", "may"]
LARGE = ["January", "May"]
REASON = "months begin with a capital letter"
ADULTS = {"adults": am.Policy("age >= 18")}
EPSILON = 5  # noise of a few records at most, where the true counts are 0 and 600

Cases = Callable[..., am.Dataset]
Open = Callable[..., am.Curator]


@pytest.fixture
def cases() -> Cases:
    """Declare a table of cases; months in small letters, as nobody wrote them, unless told otherwise."""
    frame = pandas.DataFrame(
        {
            "month": ["January", "January", "May"] * 300,
            "age": [30, 8, 45] * 300,
            "solved": [True, False, True] * 300,
        }
    )

    def cases(months: list[str] = SMALL, **options: Any) -> am.Dataset:
        columns = {"month": am.Categories(months), "age": am.Interval(0, 110)}
        given = {"columns": {**columns, **options.pop("further", {})}, "rules": ADULTS, **options}
        return am.Dataset(options.pop("source", frame), name="cases", **given)

    return cases


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "cases.ledger")
    address: str = request.getfixturevalue("postgres")
    return address


@pytest.fixture
def opened(location: str, tmp_path: Path, cases: Cases) -> Iterator[Open]:
    """Open an account of the cases, as often as wanted; all are closed at the end."""
    curators: list[am.Curator] = []

    def opened(dataset: am.Dataset | None = None, **options: Any) -> am.Curator:
        places = {"ledger": location, "store": tmp_path / "answers", "secret": tmp_path / "cases.secret"}
        curators.append(am.Curator(dataset or cases(), **{"budget": 100, **places, **options}))
        return curators[-1]

    yield opened
    for curator in curators:
        curator.close()


def entries(curator: am.Curator) -> list[str]:
    return [entry.kind for entry in curator.accountant.ledger.entries("cases")]


def count(month: str, **options: Any) -> am.Count:
    return am.Count(where=f"month == '{month}'", **{"epsilon": EPSILON, **options})


def test_a_wrong_declaration_found_after_a_charge_is_amended_and_the_question_answered_right(
    opened: Open, cases: Cases
) -> None:
    curator = opened()
    unrelated = curator.ask(am.Count(where="age < 18", epsilon=EPSILON))
    assert curator.ask(count("january")).value < 100, "600 records are of January, and none is read as such"
    spent = curator.spent
    with pytest.raises(DeclarationChanged, match="anonymaly amend"):
        opened(cases(LARGE))

    amendment = curator.amend(cases(LARGE), reason=REASON)
    assert amendment.differences == (
        'columns.month.values: declared ["january","may"], now ["January","May"]',
    )
    assert (curator.spent, curator.budget) == (spent, 100)
    assert entries(curator).count("amendment") == 1

    right = curator.ask(count("January"))
    assert abs(right.value - 600) < 100
    assert right.charged > 0
    again = opened(cases(LARGE)).ask(am.Count(where="age < 18", epsilon=EPSILON))
    assert (again.charged, again.number, again.value) == (0, unrelated.number, unrelated.value)
    assert curator.accountant.verify().ok

    told = str(curator.statement())
    assert "Asked under the declaration of entry 1 (" in told
    assert f"amended by owner: {REASON}): 1 question." in told
    assert "under every one of them" in told
    declared = curator.statement().to_dict()["declarations"]
    assert [item["questions"] for item in declared] == [2, 1]
    assert (declared[1]["reason"], declared[1]["by"]) == (REASON, "owner")
    assert declared[1]["learned_from_rows"] is False


def test_a_new_column_charges_no_question_again_that_does_not_use_it(opened: Open, cases: Cases) -> None:
    queries = [
        am.Count(epsilon=1),
        am.Count(where=["age < 18", "age < 65"], epsilon=1),
        am.Score(columns=["age"], epsilon=1),
        am.ShareSample(policy="adults", columns=["month"], epsilon=1),
        am.ShareHistogram(by=["month"], policy="adults", epsilon=1),
        count("may", epsilon=1),
    ]
    curator = opened()
    numbers = [curator.ask(query).number for query in queries]
    curator.amend(cases(further={"solved": am.Flag()}), reason="a column was left out")
    assert [curator.preview(query).cost for query in queries] == [0] * len(queries)
    assert [curator.ask(query).number for query in queries] == numbers
    assert curator.spent == len(queries)
    assert curator.ask(am.Count(where="solved", epsilon=1)).charged > 0


def test_a_question_is_charged_again_where_a_column_or_a_rule_that_it_uses_was_amended(
    opened: Open, cases: Cases
) -> None:
    sample = am.ShareSample(policy="adults", columns=["month"], epsilon=1)
    histogram = am.ShareHistogram(by=["month"], method="geometric", epsilon=1)
    curator = opened()
    curator.ask(sample)
    curator.ask(histogram)
    curator.amend(cases(rules={"adults": am.Policy("age >= 21")}), reason="of age at 21")
    assert curator.preview(sample).charged_before is None, (
        "whom the rule leaves unprotected is another matter"
    )
    assert curator.preview(histogram).charged_before is not None
    assert curator.ask(sample).charged > 0
    assert curator.ask(sample).charged == 0
    curator.amend(cases(LARGE, rules={"adults": am.Policy("age >= 21")}), reason=REASON)
    assert curator.preview(sample).charged_before is None
    assert curator.preview(histogram).charged_before is None
    assert curator.ask(histogram).charged > 0
    assert curator.accountant.verify().ok


def test_what_was_amended_and_amended_back_is_free_as_before(opened: Open, cases: Cases) -> None:
    curator = opened()
    number = curator.ask(count("may")).number
    curator.amend(cases(LARGE), reason=REASON)
    curator.ask(count("May"))
    curator.amend(cases(), reason="small letters after all")
    assert (curator.ask(count("may")).charged, curator.ask(count("may")).number) == (0, number)
    curator.amend(cases(LARGE), reason="no: capital letters")
    assert curator.ask(count("May")).charged == 0


def test_a_question_of_another_package_may_depend_on_anything_and_is_charged_again(
    opened: Open, cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymaly.questions.count.binding import CountBinding

    curator = opened()
    curator.ask(am.Count(epsilon=1))
    monkeypatch.delattr(CountBinding, "used")  # as a question that does not say what it uses
    assert curator.ask(am.Count(epsilon=1)).charged == 0
    curator.amend(cases(further={"solved": am.Flag()}), reason="a column was left out")
    assert curator.ask(am.Count(epsilon=1)).charged > 0


def test_a_charge_names_its_declaration_and_an_answer_says_that_it_is_of_an_earlier_one(
    opened: Open, cases: Cases
) -> None:
    curator = opened()
    first = curator.ask(am.Count(epsilon=1))
    assert "declaration" not in first.to_dict()
    curator.amend(cases(LARGE), reason=REASON, by="Ann")
    curator.ask(count("May"))
    charges = curator.accountant.ledger.reservations("cases")
    assert [item.declaration for item in charges] == [1, 4]
    old, new = curator.answers()
    assert old.to_dict()["declaration"]["number"] == 1
    assert "that of entry 1 (" in str(old)
    assert "amended since" in str(old)
    assert new.under is None


def test_a_curator_of_an_earlier_declaration_is_refused_before_the_charge(opened: Open, cases: Cases) -> None:
    one, other = opened(), opened()
    one.ask(am.Count(epsilon=1))
    other.ask(am.Count(epsilon=1))
    one.amend(cases(LARGE), reason=REASON, by="Ann")
    spent = one.spent
    with pytest.raises(DeclarationChanged, match=r"amended at entry 4 by Ann.*Open the account again"):
        other.ask(count("may"))
    with pytest.raises(DeclarationChanged, match=r"amended at entry 4 by Ann.*Open the account again"):
        other.preview(count("may"))
    with pytest.raises(DeclarationChanged, match="amended at entry 4 by Ann"):
        other.amend(cases(further={"solved": am.Flag()}), reason="a column was left out")
    assert one.spent == spent
    assert other.ask(am.Count(epsilon=1)).charged == 0, "what was released stays released"


def test_a_curator_that_has_not_asked_yet_is_refused_as_well(opened: Open, cases: Cases) -> None:
    opened().ask(am.Count(epsilon=1))
    waiting = opened()
    opened().amend(cases(LARGE), reason=REASON)
    with pytest.raises(DeclarationChanged, match="amended at entry 4 by owner"):
        waiting.ask(count("may"))


def test_an_amendment_learned_from_rows_is_outside_the_promise_and_is_said_to_be(
    opened: Open, cases: Cases
) -> None:
    curator = opened()
    curator.ask(am.Count(epsilon=1))
    curator.amend(cases(LARGE), reason="that is how the rows spell it", learned_from_rows=True)
    told = (
        "The declaration in force since entry 4 was learned from rows: what it shows of them is outside this "
        "promise."
    )
    assert told in curator.statement().to_dict()["meaning"]
    assert told in str(curator.preview(count("May")))
    assert curator.preview(count("May")).to_dict()["declarations"][-1]["learned_from_rows"] is True
    curator.amend(cases(LARGE, further={"solved": am.Flag()}), reason="a column was left out")
    assert told in str(curator.statement()), "what was published once stays published"


def test_a_preview_names_the_declaration_that_it_would_be_or_was_asked_under(
    opened: Open, cases: Cases
) -> None:
    curator = opened()
    assert "declaration" not in str(curator.preview(am.Count(epsilon=1)))
    curator.ask(am.Count(epsilon=1))
    curator.amend(cases(LARGE), reason=REASON)
    assert "was asked under that of entry 1 (" in str(curator.preview(am.Count(epsilon=1)))
    assert "would be asked under that of entry 4 (" in str(curator.preview(count("May")))


def test_a_preview_says_if_a_rule_protects_others_under_the_new_declaration(
    opened: Open, cases: Cases
) -> None:
    sample = am.ShareSample(policy="adults", columns=["month"], epsilon=1)
    curator = opened()
    curator.ask(sample)
    wider = {"month": am.Categories(SMALL), "age": am.Interval(0, 130)}
    curator.amend(cases(columns=wider), reason="the oldest person ever was 122")
    effect = curator.preview(sample).effect
    assert effect is not None
    assert effect.declarations == (1, 4)
    assert "under every declaration, of entries 1, 4" in str(effect)
    assert curator.preview(am.Count(epsilon=1)).effect is None, "it protects everyone under both"


def test_a_statement_of_a_policy_about_a_column_that_is_gone_can_be_read(opened: Open, cases: Cases) -> None:
    curator = opened()
    curator.ask(am.ShareSample(policy="adults", columns=["month"], epsilon=1))
    without = {"month": am.Categories(SMALL), "solved": am.Flag()}
    solved = {"open": am.Policy("not solved")}
    curator.amend(cases(columns=without, rules=solved), reason="ages are not to be asked about")
    sample = am.ShareSample(policy="open", columns=["month"], epsilon=1)
    assert curator.preview(sample).effect is not None
    curator.ask(sample)
    assert "sensitive under rule 'adults'" in str(curator.statement())
    assert [answer.number for answer in curator.answers()] == [2, 5]


def test_what_a_lost_part_may_hold_is_bounded_by_every_rule_ever_declared(opened: Open, cases: Cases) -> None:
    from anonymaly.ledger import Entry

    curator = opened(cases(rules="any"))
    curator.ask(am.Count(epsilon=1))
    curator.amend(cases(), reason="analysts are to ask now")
    ledger = curator.accountant.ledger
    epoch = Entry(seq=9, kind="epoch", account=None, time="", data={"bounded": True}, hash="")
    account = curator.accountant.account
    from dataclasses import replace

    lost = replace(account, spent=account.limit)
    found = Statement.of(lost, ledger.reservations("cases"), [*ledger.entries("cases"), epoch])
    assert found.lost == "rules"


def test_nothing_to_amend_says_so_and_writes_nothing(opened: Open, cases: Cases) -> None:
    curator = opened()
    curator.ask(am.Count(epsilon=1))
    before = entries(curator)
    amendment = curator.amend(cases(version="2"), reason="none")
    assert str(amendment) == "nothing to amend: cases is declared so since entry 1"
    assert entries(curator) == before


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"public": True}, "public"),
        ({"person": "age", "max_rows": 2}, "unit.person"),
    ],
)
def test_what_a_charge_means_cannot_be_amended(
    opened: Open, cases: Cases, change: dict[str, Any], named: str
) -> None:
    curator = opened()
    curator.ask(am.Count(epsilon=1))
    with pytest.raises(DeclarationChanged, match=rf"cannot be amended.*{named}.*lose its meaning"):
        curator.amend(cases(**change), reason="a mistake")
    with pytest.raises(DeclarationChanged, match="adjacency, public, person and max_rows cannot be amended"):
        opened(cases(**change))
    assert entries(curator) == ["open", "reserve", "commit"]


def test_the_rows_of_a_person_cannot_be_amended(opened: Open, cases: Cases) -> None:
    curator = opened(cases(person="age", max_rows=2))
    curator.ask(am.Count(epsilon=1))
    with pytest.raises(DeclarationChanged, match=r"unit.max_rows: declared 2, now 3"):
        curator.amend(cases(person="age", max_rows=3), reason="a mistake")


def test_bad_input_is_refused_with_its_field_and_nothing_is_written(opened: Open, cases: Cases) -> None:
    curator = opened()
    with pytest.raises(InputError, match="not opened yet"):
        curator.amend(cases(LARGE), reason=REASON)
    curator.ask(am.Count(epsilon=1))
    with pytest.raises(InputError, match="reason"):
        curator.amend(cases(LARGE), reason=" ")
    with pytest.raises(InputError, match="learned_from_rows"):
        curator.amend(cases(LARGE), reason=REASON, learned_from_rows=None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="called cases"):
        curator.amend(curator.dataset.declaration, reason=REASON)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="ward"):
        curator.amend(cases(further={"ward": am.Flag()}), reason="a column that is not there")
    assert entries(curator) == ["open", "reserve", "commit"]
    assert curator.ask(count("may")).charged > 0, "it goes on under what is in force"


def test_a_part_of_the_rows_amends_nothing(opened: Open, cases: Cases) -> None:
    curator = opened(adjacency="replace")
    curator.ask(am.Count(epsilon=1))
    part = curator.about(pandas.DataFrame({"month": ["May"], "age": [30]}))
    with pytest.raises(Refused, match="whole table"):
        part.amend(cases(LARGE), reason=REASON)
    part.close()


def test_a_charge_that_was_open_at_an_amendment_is_never_drawn_under_another_declaration(
    opened: Open, cases: Cases
) -> None:
    curator, waiting = opened(), opened()
    waiting.ask(count("may"))
    query = am.Count(epsilon=1)
    bound = curator.accountant.accept(query)
    held = curator.accountant.reserve(bound, analyst="owner", repeat=0)  # and then the process stopped
    curator.amend(cases(further={"solved": am.Flag()}), reason="a column was left out")
    later = curator.ask(query)
    assert later.charged > 0
    assert later.number != held.seq
    finished = waiting.ask(query)  # opened under the declaration of the charge
    assert (finished.number, finished.charged) == (held.seq, 0)
    assert curator.accountant.verify().ok
