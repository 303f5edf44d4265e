# SPDX-License-Identifier: Apache-2.0
"""Real tables that come with the package, for the demonstration, the documentation and the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Interval

FOLDER = Path(__file__).parent

CENSUS_COLUMNS: dict[str, Domain] = {
    "age": Interval(0, 120),
    "sex": Categories(["Female", "Male"]),
    "education": Categories(
        [
            "Preschool",
            "1st-4th",
            "5th-6th",
            "7th-8th",
            "9th",
            "10th",
            "11th",
            "12th",
            "HS-grad",
            "Some-college",
        ]
        + ["Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]
    ),
    "occupation": Categories(
        [
            "Adm-clerical",
            "Armed-Forces",
            "Craft-repair",
            "Exec-managerial",
            "Farming-fishing",
            "Handlers-cleaners",
        ]
        + [
            "Machine-op-inspct",
            "Other-service",
            "Priv-house-serv",
            "Prof-specialty",
            "Protective-serv",
            "Sales",
        ]
        + ["Tech-support", "Transport-moving"]
    ),
    "hours_per_week": Interval(0, 168),
    "capital_gain": Interval(0, 100_000),
    "income": Categories(["<=50K", ">50K"]),
}


def census(**options: Any) -> Dataset:
    """Return an extract of the 1994 census of the United States (UCI Adult; see LICENSES.md beside it).

    Parameters
    ----------
    options
        Passed on to Dataset: ``name``, ``version``, ``rules``, ``public`` and the like.

    Examples
    --------
    >>> census(public=True)
    Dataset('census', version='1', columns=['age', 'sex', 'education', 'occupation', 'hours_per_week',
    'capital_gain', 'income'])
    """
    return Dataset(FOLDER / "census.parquet", **{"name": "census", "columns": CENSUS_COLUMNS, **options})


SALARY_COLUMNS: dict[str, Domain] = {
    "job": Categories(["Executive", "Lawyer", "Physician", "Director", "Manager"]),
    "sector": Categories(["Electricity", "Ministries", "Municipalities", "Hospitals", "Crown agencies"]),
    "year": Categories([2003, 2004, 2005, 2006]),
    "salary": Interval(100_000, 2_500_000, step=0.01),
}


def salaries(**options: Any) -> Dataset:
    """Return an extract of Ontario's public sector salary disclosure of 2003 to 2006 (see LICENSES.md).

    Parameters
    ----------
    options
        Passed on to Dataset: ``name``, ``version``, ``rules``, ``public`` and the like.

    Examples
    --------
    >>> salaries(public=True)
    Dataset('salaries', version='1', columns=['job', 'sector', 'year', 'salary'])
    """
    return Dataset(FOLDER / "salaries.parquet", **{"name": "salaries", "columns": SALARY_COLUMNS, **options})
