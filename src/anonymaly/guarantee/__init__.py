# SPDX-License-Identifier: Apache-2.0
"""What is promised: neighbour relations as values, an ε with them, and what promises amount to together."""

from anonymaly.guarantee.change import Adjacency, Database, ValidContexts
from anonymaly.guarantee.contexts import ContextQuestion, SameValidContexts
from anonymaly.guarantee.everyone import Everyone
from anonymaly.guarantee.intersection import Intersection, intersect, read_relation
from anonymaly.guarantee.policies import all_sensitive, minimum_relaxation, relax
from anonymaly.guarantee.promise import Guarantee, compose
from anonymaly.guarantee.readings import ValuesWithin
from anonymaly.guarantee.relation import Relation
from anonymaly.guarantee.sensitive_records import SensitiveRecords
from anonymaly.guarantee.sensitive_under_policy import SensitiveUnderPolicy

__all__ = [
    "Adjacency",
    "ContextQuestion",
    "Database",
    "Everyone",
    "Guarantee",
    "Intersection",
    "Relation",
    "SameValidContexts",
    "SensitiveRecords",
    "SensitiveUnderPolicy",
    "ValidContexts",
    "ValuesWithin",
    "all_sensitive",
    "compose",
    "intersect",
    "minimum_relaxation",
    "read_relation",
    "relax",
]
