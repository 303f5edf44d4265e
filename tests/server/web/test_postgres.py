# SPDX-License-Identifier: Apache-2.0
"""The same on PostgreSQL: shared tables and ledgers in one database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.web.served import COUNT, serve


@pytest.mark.slow
def test_a_server_on_postgresql_answers_in_pages_and_by_its_clock(postgres: str, tmp_path: Path) -> None:
    with serve(tmp_path, postgres=postgres) as served:
        for number in range(3):
            asked = COUNT | {"where": f"age < {30 + number}"}
            done = served.ask("analyst", f"postgresql-{number}", asked)
            assert done.json()["state"] == "done", done.text
        again = served.ask("analyst", "postgresql-2", asked, wait=0)
        assert again.json() == done.json()
        with served.client("analyst") as client:
            first = client.get("/v1/tables/patients/answers", params={"limit": 2}).json()
            rest = client.get("/v1/tables/patients/answers", params={"after": first["next"]}).json()
            assert [len(first["items"]), len(rest["items"])] == [2, 1]
            receipt = done.json()["answer"]["receipt"]
            assert client.post("/v1/verify", json={"receipt": receipt}).json() == {"ok": True}
            for nul in ("/v1/tables/patients%00", "/v1/jobs/%00"):
                assert client.get(nul).status_code == 404
            assert client.get("/v1/tables", params={"after": "\0"}).status_code == 422
            odd = client.post("/v1/verify", json={"receipt": {**receipt, "charge": "\0"}})
            assert odd.status_code == 422
        with served.client("owner") as client:
            assert client.get("/v1/tables/patients/ledger/verification").json()["ok"] is True
            assert (
                client.post("/v1/keys", json={"person": "nul", "role": "auditor", "label": "\0"}).status_code
                == 422
            )
            made = client.post("/v1/keys", json={"person": "hans", "role": "auditor"}).json()
            assert made["result"]["text"].startswith("anm_")
            assert "text" not in client.get(f"/v1/jobs/{made['job']}").json()["result"]
        with served.client("expired") as client:
            assert client.get("/v1/me").status_code == 401
