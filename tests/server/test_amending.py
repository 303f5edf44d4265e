# SPDX-License-Identifier: Apache-2.0
"""An amendment that was proposed over HTTP: held back by every worker, carried out on the host alone."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from anonymaly import Curator
from anonymaly.cli.main import app
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import Refused
from anonymaly.server.confirming import Host
from anonymaly.server.jobs import Job
from anonymaly.server.proposals import list_proposals
from tests.server.places import Place

AGE = {"type": "interval", "low": 0, "high": 110}
CITY = {"type": "categories", "values": ["Bern", "Rome"]}
ADULTS = {"type": "policy", "text": "age >= 18"}


def in_force(place: Place) -> int:
    with place.ledger() as ledger:
        return ledger.account("patients").number


def amend(place: Place, fields: dict[str, Any], replaces: int | None = None, **more: Any) -> Job:
    number = in_force(place) if replaces is None else replaces
    asked = {
        "declaration": fields,
        "replaces": number,
        "reason": "nobody is older",
        "learned_from_rows": False,
    }
    return place.submit("amend", "olga", {**asked, **more})


def work(place: Place, *added: Job) -> list[dict[str, Any]]:
    with place.worker() as worker:  # one that confirms nothing else
        for _ in added:
            assert worker.work()
    return [place.result(job) for job in added]


def confirm(place: Place, number: int) -> dict[str, Any]:
    with Host.open(place.folder, place.state_at) as host:
        return dict(host.confirm(number, lambda _: None))


@pytest.fixture
def opened(here: Place) -> Place:
    """A table with an account."""
    work(here, here.grant("ann"))
    return here


def test_the_host_alone_amends_and_its_file_says_the_same(opened: Place) -> None:
    path = opened.folder / "patients.yaml"
    before = path.read_text()
    (held,) = work(
        opened, amend(opened, {"columns": {"age": AGE, "city": CITY}, "rules": {"adults": ADULTS}})
    )
    assert held["proposal"]["number"] == 1
    number = in_force(opened)
    assert path.read_text() == before

    done = confirm(opened, 1)
    assert done["entry"] == in_force(opened) > number
    declared = Manifest.load(path).declaration()
    with opened.ledger() as ledger:
        account = ledger.account("patients")
        entry = ledger.entries("patients")[-1].data
    assert dict(account.declaration) == declared.to_dict()
    assert account.rules == declared.rules_to_dict()
    assert (entry["by"], entry["reason"], entry["learned_from_rows"]) == ("olga", "nobody is older", False)
    assert Path(done["before"]).read_text() == before
    # What did not change is as it was written, and workers go on under the new one.
    assert yaml.safe_load(path.read_text())["columns"]["city"] == CITY
    assert yaml.safe_load(path.read_text())["budget"] == "10"
    with opened.worker() as worker:
        job = opened.ask("ann", where="age >= 110")
        assert worker.work()
    assert opened.job(job.id).state == "done"
    assert not list(opened.folder.glob("*.amended"))


def test_what_changes_nothing_or_came_too_late_is_refused_by_a_worker(opened: Place) -> None:
    none = amend(opened, {"columns": {"city": CITY}, "rules": {}}, replaces=in_force(opened) + 1)
    same = amend(opened, {"rules": {}})
    person = amend(opened, {"person": "age"})
    broken = amend(opened, {"columns": {"age": {"type": "interval", "low": 3, "high": 2}}})
    found = [result["problem"]["problem"] for result in work(opened, none, same, person, broken)]
    assert "was amended since" in found[0]
    assert "nothing differs" in found[1]
    assert "cannot be amended over HTTP" in found[2]
    assert list_proposals(opened.state) == []


def test_an_account_that_is_not_opened_needs_no_amendment(here: Place) -> None:
    (found,) = work(here, amend(here, {"columns": {"age": AGE}}, replaces=1))
    assert "not opened yet" in found["problem"]["problem"]


def test_no_analyst_amends(opened: Place) -> None:
    asked = {"declaration": {"rules": {}}, "replaces": in_force(opened), "reason": "x"}
    (found,) = work(opened, opened.submit("amend", "ann", asked))
    assert "no proof" in found["problem"]["problem"]


def test_it_goes_on_where_it_was_ended_between_the_entry_and_the_file(opened: Place) -> None:
    work(opened, amend(opened, {"columns": {"age": AGE, "city": CITY}}))
    # The entry is there, and the file is as before.
    path = opened.folder / "patients.yaml"
    manifest = Manifest.load(path)
    with closing(Curator.open(path)) as curator:
        changed = Manifest.read({**manifest.to_dict(), "columns": {"age": AGE, "city": CITY}})
        curator.amend(changed.dataset(opened.folder), reason="nobody is older", by="olga")
    number = in_force(opened)
    assert confirm(opened, 1)["entry"] == number == in_force(opened)
    assert Manifest.load(path).columns["age"]["high"] == 110


def test_what_is_in_force_already_leaves_the_file_as_it_is(opened: Place) -> None:
    twice = [amend(opened, {"columns": {"age": AGE, "city": CITY}}) for _ in range(2)]
    work(opened, *twice)
    number = confirm(opened, 1)["entry"]
    path = opened.folder / "patients.yaml"
    noted = f"# asked of the registry in June\n{path.read_text()}"
    path.write_text(noted)
    assert confirm(opened, 2) == {"entry": number}
    assert (path.read_text(), in_force(opened)) == (noted, number)


def test_a_file_that_was_changed_by_hand_is_not_written_over(opened: Place) -> None:
    work(opened, amend(opened, {"columns": {"age": AGE, "city": CITY}}))
    path = opened.folder / "patients.yaml"
    edited = path.read_text().replace("Rome", "Roma")
    path.write_text(edited)
    with pytest.raises(Refused, match="does not declare what is in force"):
        confirm(opened, 1)
    assert path.read_text() == edited


def test_columns_that_the_table_does_not_have_are_refused_before_anything_is_written(opened: Place) -> None:
    path = opened.folder / "patients.yaml"
    before, number = path.read_text(), in_force(opened)
    work(opened, amend(opened, {"columns": {"age": AGE, "town": CITY}}))
    with pytest.raises(Refused):
        confirm(opened, 1)
    assert (path.read_text(), in_force(opened)) == (before, number)
    assert not list(opened.folder.glob("*.amended"))


def test_the_command_says_what_changes_and_which_file_is_to_be_changed_by_hand(opened: Place) -> None:
    work(opened, amend(opened, {"columns": {"age": AGE, "city": CITY}, "rules": {"adults": ADULTS}}))
    run, folder = CliRunner().invoke, str(opened.folder)
    listed = run(app, ["owner", "confirm", folder]).stdout
    assert "columns.age.high: declared 120, now 110" in listed
    assert "rule adults new: from now on answers that cite it leave unprotected" in listed
    # A link to nowhere is where the old file would go.
    with opened.ledger() as ledger:
        number = ledger.head().seq + 1
    (opened.folder / f"patients.yaml.before-{number}").symlink_to(opened.folder / "no" / "where")
    done = run(app, ["owner", "confirm", folder, "1"])
    assert done.exit_code == 0, done.output
    path = opened.folder / "patients.yaml"
    assert f"mv {path}.amended {path}" in done.stdout
    Path(f"{path}.amended").replace(path)
    assert Manifest.load(path).columns["age"]["high"] == 110
    with closing(Curator.open(path)) as curator:
        assert "adults" in curator.declaration.rules


def test_a_proposal_whose_table_is_gone_is_listed_and_declined(opened: Place) -> None:
    work(opened, amend(opened, {"columns": {"age": AGE, "city": CITY}}))
    path = opened.folder / "patients.yaml"
    path.rename(opened.folder / "patients.away")
    (opened.folder / "others.yaml").write_text(yaml.safe_dump({"name": "others", "source": "others.csv"}))
    run, folder = CliRunner().invoke, str(opened.folder)
    listed = run(app, ["owner", "confirm", folder])
    assert listed.exit_code == 0, listed.output
    assert "it would be refused" in listed.stdout
    declined = run(app, ["owner", "confirm", folder, "1", "--decline"])
    assert declined.exit_code == 0, declined.output
    assert list_proposals(opened.state, waiting=True) == []


def test_the_host_sees_all_of_a_long_list_and_no_letter_that_turns_a_line_around(opened: Place) -> None:
    values = [f"town {number}" for number in range(40)]
    towns = {"type": "categories", "values": [*CITY["values"], *values]}
    work(opened, amend(opened, {"columns": {"age": AGE, "city": towns}}, reason="as \u202eagreed"))
    run, folder = CliRunner().invoke, str(opened.folder)
    listed = run(app, ["owner", "confirm", folder]).stdout
    assert "and 30 more" in listed
    assert "--json has all that it declares" in listed
    assert "\u202e" not in listed
    assert "town 39" not in listed
    (found,) = json.loads(run(app, ["owner", "confirm", folder, "--json"]).stdout)["proposals"]
    assert found["declaration"]["columns"]["city"] == towns
