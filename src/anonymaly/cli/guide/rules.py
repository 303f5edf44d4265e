# SPDX-License-Identifier: Apache-2.0
"""The part of the dialogue about rules: which relaxed promises askers may cite, and what each gives up."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anonymaly.cli.guide.answers import read_bound, read_count, read_list
from anonymaly.cli.guide.asking import Asker
from anonymaly.cli.guide.names import UNDECLARED
from anonymaly.cli.guide.proposal import OUT, Proposal
from anonymaly.declare.domain import Domain, read_domain
from anonymaly.declare.rules import read_rule
from anonymaly.errors import InputError

RULES = ("policy", "anomaly_model", "same_contexts")
_EXPLAINED = """\
Without rules, every question protects everybody alike (ε-differential privacy); most tables need none. A rule
lets questions that cite it protect fewer people, for better answers:
  policy          says who is not sensitive, such as adults who consented. Gives up: their records may be
                  published as they are (share-sample, share-histogram).
  anomaly_model   says what an anomaly is: a record with few others near it. Gives up: an answer may show that
                  an anomaly is in the data; everybody normal stays protected (identify, lookahead).
  same_contexts   lets explain use other detectors than those that protect everyone. Gives up: an asker can
                  test guesses about any record, and ε does not limit that."""


def ask_rules(asker: Asker, columns: Sequence[Proposal]) -> dict[str, dict[str, Any]]:
    """Ask which rules are wanted, and for the fields of each."""
    asker.heading("Rules")
    asker.say(_EXPLAINED)
    wanted = asker.ask("rules", "none", _kinds)
    known = _domains(columns)
    rules: dict[str, dict[str, Any]] = {}
    for kind in wanted:
        name = asker.ask(f"{kind}.name", _NAMES[kind], lambda text: text)
        rules[name] = {"type": kind, **_FIELDS[kind](asker, known)}
    return rules


def _kinds(text: str) -> list[str]:
    kinds = [word.casefold() for word in read_list(text)]
    for kind in kinds:
        if kind not in RULES:
            raise InputError(
                f"{kind!r} is no rule", next_step=f"Answer with some of {', '.join(RULES)}, or none."
            )
    return list(dict.fromkeys(kinds))


def _domains(columns: Sequence[Proposal]) -> dict[str, Domain | None]:
    """Return the declared columns; None for one that is still open, or lists its values in a file."""
    found: dict[str, Domain | None] = {}
    for column in columns:
        if column.type != OUT:
            unknown = column.is_open or isinstance(column.fields.get("values"), Mapping)
            found[column.column] = None if unknown else read_domain(column.declared(), field=column.column)
    return found


def _policy(asker: Asker, known: Mapping[str, Domain | None]) -> dict[str, Any]:
    asker.say("For whom is it true that they are not sensitive? As in: age >= 18 and consent")
    return {"text": asker.ask("policy.text", UNDECLARED, functools.partial(_text, known))}


def _text(known: Mapping[str, Domain | None], text: str) -> str:
    if text == UNDECLARED:
        return text
    domains = {name: domain for name, domain in known.items() if domain is not None}
    try:
        read_rule({"type": "policy", "text": text}, field="").resolve(domains, field="")
    except InputError:
        # A column that is still open cannot be checked yet; `anonymaly check` will.
        if not any(name in text for name, domain in known.items() if domain is None):
            raise
    return text


def _anomaly_model(asker: Asker, known: Mapping[str, Domain | None]) -> dict[str, Any]:
    asker.say(
        "By which numbers are records compared, how near is near, and how many near ones has an anomaly?"
    )
    numbers = [name for name, domain in known.items() if domain is not None and domain.kind == "number"]
    columns = asker.ask(
        "anomaly_model.columns", ", ".join(numbers[:2]) or UNDECLARED, functools.partial(_names, known)
    )
    radius = asker.ask("anomaly_model.radius", UNDECLARED, read_bound)
    beta = asker.ask("anomaly_model.beta", "40", read_count)
    return {"columns": columns, "radius": radius, "beta": beta or UNDECLARED}


def _same_contexts(asker: Asker, known: Mapping[str, Domain | None]) -> dict[str, Any]:
    asker.say("In which numbers may a record stand out, and by which columns may groups be made?")
    fields: dict[str, Any] = {}
    for limit in ("metrics", "attributes"):
        names = asker.ask(f"same_contexts.{limit}", "any", functools.partial(_names_or_any, known))
        if names is not None:
            fields[limit] = names
    return fields


def _names(known: Mapping[str, Domain | None], text: str) -> list[str]:
    names = read_list(text)
    for name in names:
        if name not in known and name != UNDECLARED:
            raise InputError(
                f"there is no declared column {name!r}", next_step=f"Declared: {', '.join(known)}."
            )
    return names


def _names_or_any(known: Mapping[str, Domain | None], text: str) -> list[str] | None:
    return None if text.casefold() == "any" else _names(known, text)


_NAMES = {"policy": "not_sensitive", "anomaly_model": "rare", "same_contexts": "groups"}
_FIELDS: dict[str, Callable[[Asker, Mapping[str, Domain | None]], dict[str, Any]]] = {
    "policy": _policy,
    "anomaly_model": _anomaly_model,
    "same_contexts": _same_contexts,
}
