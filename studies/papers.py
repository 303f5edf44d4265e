# SPDX-License-Identifier: Apache-2.0
"""Which papers there are, and the study of each."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import studies
from anonymaly.errors import InputError
from studies.exhibit import Exhibit
from studies.runner import Study


def papers() -> list[str]:
    """Return the names of all papers: the folders here.

    Examples
    --------
    >>> papers()
    ['grid_knn', 'one_sided', 'pcor', 'sensitive', 'sensors', 'traces']
    """
    return [module.name for module in pkgutil.iter_modules(studies.__path__) if module.ispkg]


def about(paper: str) -> str:
    """Return authors, year and question of a paper.

    Examples
    --------
    >>> about("sensors")
    'Böhler, Bernau and Kerschbaum 2017, section 7: which readings of a sensor are faults?'
    """
    return (importlib.import_module(f"studies.{paper}").__doc__ or "").strip()


def exhibits_of(paper: str) -> tuple[Exhibit, ...]:
    """Return a paper's tables and figures."""
    found: tuple[Exhibit, ...] = importlib.import_module(f"studies.{paper}.exhibits").EXHIBITS
    return found


def headlines_of(paper: str) -> tuple[str, ...]:
    """Return how the titles begin of our tables that the documentation shows."""
    found: tuple[str, ...] = importlib.import_module(f"studies.{paper}.exhibits").HEADLINES
    return found


def study_of(paper: str) -> type[Study[Any, Any]]:
    """Return a paper's study, or say which papers there are."""
    if paper not in papers():
        raise InputError(
            f"there is no paper {paper!r}",
            field="paper",
            next_step=f"Give one of {', '.join(papers())}; settings such as --runs 5 come after it.",
        )
    found: type[Study[Any, Any]] = importlib.import_module(f"studies.{paper}.study").STUDY
    return found
