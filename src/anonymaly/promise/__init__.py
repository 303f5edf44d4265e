# SPDX-License-Identifier: Apache-2.0
"""Promises: neighbour relations as values, guarantees (a relation with its ε), and their composition."""

from anonymaly.core.rate import Adjacency
from anonymaly.promise.change import Database, ValidContexts
from anonymaly.promise.contexts import ContextQuestion, SameValidContexts
from anonymaly.promise.everyone import Everyone
from anonymaly.promise.guarantee import Guarantee, compose
from anonymaly.promise.intersection import Intersection, intersect, read_relation
from anonymaly.promise.policies import all_sensitive, minimum_relaxation, relax
from anonymaly.promise.readings import ValuesWithin
from anonymaly.promise.relation import Relation
from anonymaly.promise.sensitive_records import SensitiveRecords
from anonymaly.promise.sensitive_under_policy import SensitiveUnderPolicy

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
