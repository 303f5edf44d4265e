# SPDX-License-Identifier: Apache-2.0
"""The only part of ``share-ngrams`` that reads rows: how many persons have each sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis
import numpy as np
import pyarrow as pa

from anonymaly.core.arrays import Integers
from anonymaly.declare.readings import code
from anonymaly.engine.columns import NON_SENSITIVE, PERSON
from anonymaly.engine.statements import collect
from anonymaly.questions.share_ngrams.binding import ShareNgramsBinding

if TYPE_CHECKING:
    import ibis.expr.types as ir

# The public order in which a person's sequences count. Any would keep the promise; one that mixes well does
# not prefer the places that are declared first. No step leaves 64 bits.
PRIME = 2**31 - 1
HALF = 31  # bits
FACTORS = (741_103_597, 887_987_685, 1_019_834_119)
SHIFTS = (538_113_041, 262_147_003, 99_194_853)


@dataclass(frozen=True)
class SequenceCounts:
    """The sequences that somebody has, by number in increasing order, and how many persons have each."""

    cells: Integers
    persons: Integers


def count_sequences(table: ir.Table, bound: ShareNgramsBinding) -> SequenceCounts:
    """Count the persons who have each sequence, at most ``per_person`` sequences of each, on the engine."""
    counts = collect(persons_of_sequences(table, bound))
    cells, persons = (_whole(counts, name) for name in ("cell", "persons"))
    order = np.argsort(cells)
    return SequenceCounts(cells[order], persons[order])


def persons_of_sequences(table: ir.Table, bound: ShareNgramsBinding) -> ir.Table:
    """Return each sequence that somebody has, and how many persons have it."""
    rows = table.filter(table[NON_SENSITIVE]) if NON_SENSITIVE in table.columns else table
    rows = rows.filter(rows[bound.order].notnull())
    placed = rows.select(person=rows[PERSON], moment=rows[bound.order], code=_place(rows, bound))
    # A row without a person is a person of its own: it has one sequence, of one place.
    lone = placed.filter(placed.person.isnull() & placed.code.notnull())
    chosen = _first(_of_persons(placed.filter(placed.person.notnull()), bound), bound.per_person)
    every = chosen.select("cell")
    if bound.sequences.shortest == 1:
        every = every.union(lone.select(cell=lone.code))
    return every.group_by("cell").agg(persons=every.count())


def _place(rows: ir.Table, bound: ShareNgramsBinding) -> ir.IntegerValue:
    """Return the number of each row's place; null without a declared one, and no sequence goes through it."""
    found: ir.IntegerValue = ibis.literal(0, "int64")
    for attribute in bound.place:
        found = found * len(attribute.values) + code(attribute, rows)
    return found


def _of_persons(placed: ir.Table, bound: ShareNgramsBinding) -> ir.Table:
    """Return the sequences of each person, each once."""
    # Rows of one moment by their places, so that the engine's own order of rows plays no part.
    order = [ibis.asc(placed.moment), ibis.asc(placed.code, nulls_first=True)]
    window = ibis.window(group_by=placed.person, order_by=order)
    further = {
        f"code{step}": placed.code.lead(step).over(window) for step in range(1, bound.sequences.length)
    }
    beside = placed.mutate(**further)
    cells, word = [], ibis.literal(0, "int64")
    for length, name in enumerate(["code", *further], start=1):
        word = word * bound.sequences.places + beside[name]
        if length >= bound.sequences.shortest:
            cells.append(word + bound.sequences.first(length))
    found = beside.select("person", cell=ibis.array(cells).unnest())
    return found.filter(found.cell.notnull()).distinct()


def _first(found: ir.Table, most: int) -> ir.Table:
    """Keep the first sequences of each person, in the public order."""
    window = ibis.window(group_by=found.person, order_by=[_mixed(found.cell), found.cell])
    numbered = found.mutate(number=ibis.row_number().over(window))
    return numbered.filter(numbered.number < most)


def _mixed(cell: ir.IntegerValue) -> ir.IntegerValue:
    """Return a number below 2^31 that depends on the whole of another, in the engine's integers."""
    high, low = cell >> HALF, cell & (2**HALF - 1)
    mixed = (high * FACTORS[0] + low * FACTORS[1] + SHIFTS[0]) % PRIME
    mixed = (mixed * mixed + SHIFTS[1]) % PRIME
    mixed = (mixed * FACTORS[2] + low) % PRIME
    return (mixed * mixed + SHIFTS[2]) % PRIME


def _whole(counts: pa.Table, name: str) -> Integers:
    numbers: Integers = counts.column(name).cast(pa.int64()).to_numpy()
    return numbers
