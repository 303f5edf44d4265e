# SPDX-License-Identifier: Apache-2.0
"""Who may do what: the one table of all operations. What is not in it cannot be reached.

`x-roles` and `x-needs` of the OpenAPI document are made from it, and the matrix of tests from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from anonymaly.server.keys import ROLES, Role

# grant: an analyst needs one that stands for the table, and sees what is their own of it; owner and auditor
# need none. person: it is the same person's, whatever the role. own: an analyst's own, or anybody's for owner
# and auditor. nothing: the role is enough.
Needs = Literal["nothing", "grant", "person", "own"]


@dataclass(frozen=True, slots=True)
class Permission:
    """The roles that an operation is for, none if anyone may, and what it needs besides."""

    roles: tuple[Role, ...]
    needs: Needs = "nothing"

    @property
    def anyone(self) -> bool:
        """Whether no key is needed."""
        return not self.roles


_ASKERS: tuple[Role, ...] = ("owner", "analyst")
_READERS: tuple[Role, ...] = ("owner", "auditor")
_OWNER: tuple[Role, ...] = ("owner",)

PERMISSIONS: Mapping[str, Permission] = MappingProxyType(
    {
        "about": Permission(()),
        "openapi": Permission(()),
        "health": Permission(()),
        "ready": Permission(()),
        "metrics": Permission(_OWNER),
        "security_txt": Permission(()),
        "me": Permission(ROLES),
        "list_tables": Permission(ROLES, "grant"),
        "get_table": Permission(ROLES, "grant"),
        "preview": Permission(_ASKERS, "grant"),
        "plan": Permission(_ASKERS, "grant"),
        "rehearse": Permission(_ASKERS, "grant"),
        "ask": Permission(_ASKERS, "grant"),
        "get_job": Permission(ROLES, "person"),
        "list_answers": Permission(ROLES, "grant"),
        "get_answer": Permission(ROLES, "own"),
        "get_content": Permission(ROLES, "own"),
        "get_receipt": Permission(ROLES, "own"),
        "verify": Permission(ROLES),
        "get_statement": Permission(ROLES, "grant"),
        "list_entries": Permission(_READERS),
        "verify_ledger": Permission(_READERS),
        "list_grants": Permission(_READERS),
        "get_grant": Permission(_READERS),
        "put_grant": Permission(_OWNER),
        "delete_grant": Permission(_OWNER),
        "raise_budget": Permission(_OWNER),
        "pause": Permission(_OWNER),
        "resume": Permission(_OWNER),
        "preview_amendment": Permission(_OWNER),
        "propose_amendment": Permission(_OWNER),
        "list_keys": Permission(_OWNER),
        "make_key": Permission(_OWNER),
        "revoke_key": Permission(_OWNER),
        "list_proposals": Permission(_READERS),
    }
)

# The console's pages, by the names of their functions. A page never does what /v1 would not do for a key.
PAGES: Mapping[str, Permission] = MappingProxyType(
    {
        "static_file": Permission(()),
        "login_page": Permission(()),
        "log_in": Permission(()),
        "log_out": Permission(ROLES),
        "begin_login": Permission(()),
        "finish_login": Permission(()),
        "front_page": Permission(ROLES, "grant"),
        "table_page": Permission(ROLES, "grant"),
        "choosing_page": Permission(ROLES),
        "ask_page": Permission(_ASKERS, "grant"),
        "send_question": Permission(_ASKERS, "grant"),
        "job_page": Permission(_ASKERS, "person"),
        "answers_page": Permission(ROLES, "grant"),
        "answer_page": Permission(ROLES, "own"),
        "answer_content": Permission(ROLES, "own"),
        "answer_csv": Permission(ROLES, "own"),
        "scoring_page": Permission(ROLES, "own"),
        "score_records": Permission(ROLES, "own"),
        "find_page": Permission(_ASKERS, "grant"),
        "send_records": Permission(_ASKERS, "grant"),
        "found_page": Permission(_ASKERS, "person"),
        "find_report": Permission(_ASKERS, "person"),
        "forget_find": Permission(_ASKERS, "person"),
        "statement_page": Permission(ROLES, "grant"),
        # of owner and auditor
        "rules_page": Permission(_READERS),
        "budget_page": Permission(_READERS),
        "asked_page": Permission(_READERS),
        "grants_page": Permission(_READERS),
        "entries_page": Permission(_READERS),
        "verification_page": Permission(_READERS),
        "full_statement_page": Permission(_READERS),
        "proposals_page": Permission(_READERS),
        # of the owner
        "raise_page": Permission(_OWNER),
        "raise_form": Permission(_OWNER),
        "pause_form": Permission(_OWNER),
        "resume_form": Permission(_OWNER),
        "grant_page": Permission(_OWNER),
        "grant_form": Permission(_OWNER),
        "revoke_page": Permission(_OWNER),
        "revoke_form": Permission(_OWNER),
        "amend_page": Permission(_OWNER),
        "amend_form": Permission(_OWNER),
        "keys_page": Permission(_OWNER),
        "key_form": Permission(_OWNER),
        "revoke_key_page": Permission(_OWNER),
        "revoke_key_form": Permission(_OWNER),
        "streams_page": Permission(_OWNER),
        "stream_page": Permission(_OWNER),
    }
)
