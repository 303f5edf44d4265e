# SPDX-License-Identifier: Apache-2.0
"""`Answers`: a list of answers that shows itself as a table."""

from __future__ import annotations

from anonymaly.ask.answer import Answer


class Answers(list[Answer]):
    """Answers, oldest first: a list like any other, which a notebook shows as a table."""

    def __str__(self) -> str:
        return "\n".join(map(repr, self)) if self else "no answers yet"

    def _repr_html_(self) -> str:
        from anonymaly.ask.answer_page import answers_html  # noqa: PLC0415  (only notebooks)

        return answers_html(self)
