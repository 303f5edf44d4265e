# SPDX-License-Identifier: Apache-2.0
"""ChaCha20's twenty rounds as vector code.

Written as LLVM instructions on vectors of sixteen 32-bit words, because numba widens 32-bit sums to 64 bits
and its loops over lanes then reach only a tenth of the speed. LLVM splits the vectors for processors with
shorter registers, so the same code runs everywhere.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

LANES = 16  # blocks made at once: one AVX-512 register, two AVX2 registers or four of 128 bits per row
BLOCK = 16  # 32-bit words in a block

_COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
_DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def _build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emit: result = rounds(initial) + initial, row by row; both arrays hold word w of lane l at 16·w + l."""
    vector = ir.VectorType(ir.IntType(32), LANES)

    def data(position: int) -> Any:
        array = context.make_array(signature.args[position])(context, builder, arguments[position])
        return builder.bitcast(array.data, vector.as_pointer())

    def cell(base: Any, row: int) -> Any:
        return builder.gep(base, [ir.Constant(ir.IntType(64), row)], source_etype=vector)

    def rotate(value: Any, bits: int) -> Any:
        left = builder.shl(value, ir.Constant(vector, [bits] * LANES))
        return builder.or_(left, builder.lshr(value, ir.Constant(vector, [32 - bits] * LANES)))

    source, target = data(0), data(1)
    initial = []
    for row in range(BLOCK):
        load = builder.load(cell(source, row), typ=vector)
        load.align = 4
        initial.append(load)
    # A loop, not ten copies: every function that draws is compiled with this code in it.
    before, loop = builder.block, builder.append_basic_block("rounds")
    after = builder.append_basic_block("rounds.end")
    builder.branch(loop)
    builder.position_at_end(loop)
    count = builder.phi(ir.IntType(32))
    count.add_incoming(ir.Constant(ir.IntType(32), 0), before)
    held = [builder.phi(vector) for _ in range(BLOCK)]
    for phi, word in zip(held, initial, strict=True):
        phi.add_incoming(word, before)
    rows: list[Any] = list(held)
    for a, b, c, d in _COLUMNS + _DIAGONALS:
        for first, second in ((16, 12), (8, 7)):
            rows[a] = builder.add(rows[a], rows[b])
            rows[d] = rotate(builder.xor(rows[d], rows[a]), first)
            rows[c] = builder.add(rows[c], rows[d])
            rows[b] = rotate(builder.xor(rows[b], rows[c]), second)
    following = builder.add(count, ir.Constant(ir.IntType(32), 1))
    count.add_incoming(following, loop)
    for phi, word in zip(held, rows, strict=True):
        phi.add_incoming(word, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, ir.Constant(ir.IntType(32), 10)), loop, after)
    builder.position_at_end(after)
    for row in range(BLOCK):
        store = builder.store(builder.add(rows[row], initial[row]), cell(target, row))
        store.align = 4
    return context.get_dummy_value()


def _declare(typing_context: Any, initial: Any, result: Any) -> Any:
    return types.void(initial, result), _build


sixteen_blocks: Any = intrinsic(_declare)
