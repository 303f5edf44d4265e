# SPDX-License-Identifier: Apache-2.0
"""Questions of the dialogue: answered on the terminal, by a file of answers, or by what is suggested."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from rich.text import Text

from anonymaly.cli.guide.writing import flow
from anonymaly.cli.output import out
from anonymaly.errors import InputError

T = TypeVar("T")


class Asker:
    """Asks for one thing at a time, by a key that is the same on the terminal and in a file of answers.

    Parameters
    ----------
    given
        Answers by key; what they name is not asked.
    asks
        Whether to ask for the rest on the terminal; otherwise the suggestion is taken.
    """

    def __init__(self, given: Mapping[str, str], *, asks: bool) -> None:
        self._given = dict(given)
        self._asks = asks
        self._keys: list[str] = []

    def say(self, text: str = "") -> None:
        """Explain something to whoever is asked."""
        if self._asks:
            out.print(text, markup=False)

    def heading(self, text: str) -> None:
        """Begin a part of the dialogue."""
        if self._asks:
            out.print()
            out.print(Text(text, style="bold"))

    def show(self, table: Any) -> None:
        """Show a table to whoever is asked."""
        if self._asks:
            out.print(table)

    def is_given(self, key: str) -> bool:
        """Say whether there is an answer that nobody needs to be asked for."""
        return key in self._given

    def ask(self, key: str, suggestion: str, read: Callable[[str], T]) -> T:
        """Return what an answer means; on the terminal, ask again until it means something."""
        self._keys.append(key)
        if key in self._given:
            try:
                return read(self._given.pop(key))
            except InputError as error:
                raise InputError(error.problem, field=f"answers.{key}", next_step=error.next_step) from None
        if not self._asks:
            return read(suggestion)
        while True:
            line = out.input(Text.assemble((key, "bold cyan"), f" [{suggestion}]: ")).strip()
            try:
                return read(line or suggestion)
            except InputError as error:
                out.print(f"  {error.problem}. {error.next_step}", markup=False)

    def know(self, keys: Iterable[str]) -> None:
        """Remember keys that may be answered though they are not asked, for advice on misspelt ones."""
        self._keys.extend(keys)

    def confirm(self, key: str, suggestion: bool = True) -> bool:
        """Ask for yes or no."""
        return self.ask(key, "yes" if suggestion else "no", _yes)

    def refuse_unused_but(self, later: str) -> None:
        """Refuse answers to what was not asked, because they may be misspelt; but for a key yet to come."""
        for key in self._given:
            if key == later:
                continue
            near = difflib.get_close_matches(key, self._keys, n=1)
            raise InputError(
                "is no question of this dialogue",
                field=f"answers.{key}",
                next_step=f"Did you mean {near[0]}?"
                if near
                else f"Known are: {', '.join(dict.fromkeys(self._keys))}.",
            )


def flat_answers(data: Mapping[str, Any]) -> dict[str, str]:
    """Return a file of answers as one text for each key; ``columns: {age: …}`` is the key ``columns.age``."""
    found: dict[str, str] = {}
    for name, item in data.items():
        if isinstance(item, Mapping) and name in ("columns", "policy", "anomaly_model", "same_contexts"):
            found.update({f"{name}.{inner}": _text(answer) for inner, answer in item.items()})
        else:
            found[str(name)] = _text(item)
    return found


def _text(answer: Any) -> str:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return flow(answer) if isinstance(answer, Mapping | list) else str(answer)


def _yes(text: str) -> bool:
    match text.casefold():
        case "yes" | "y" | "true" | "ja" | "j":
            return True
        case "no" | "n" | "false" | "nein":
            return False
    raise InputError("is neither yes nor no", next_step="Answer yes or no.")
