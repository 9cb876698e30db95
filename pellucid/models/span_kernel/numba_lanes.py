"""Sixteen float32 numbers as one value inside compiled loops, so that speed does not depend on what a compiler
recognises.

A compiler turns a plain loop into vector instructions only where it can prove that no two arrays overlap, and on some
processors it uses narrower vectors than it could. With these values the loop itself says what a vector is, and the
compiler splits it into vectors of the processor's width. Where they cannot be compiled, `numba_plain.py` computes the
same.
"""

import operator
from typing import Any  # of llvmlite's builders and values, which have no types

from pellucid.base.packages import optional_package

types = optional_package("numba").types
extending = optional_package("numba").extending
ir = optional_package("llvmlite").ir

LANES = 16
VECTOR = ir.VectorType(ir.FloatType(), LANES)
WORDS = ir.VectorType(ir.IntType(32), LANES)
# A product and a sum may become one instruction; nothing else may be reordered.
FUSED = ("contract",)
NUMBER_BYTES = 4
# A float32 is a sign, an exponent and a mantissa. A number plus ROUNDER is rounded to whole, and ends in its bits.
SIGN, MANTISSA_BITS, EXPONENT_OF_ONE = 0x80000000, 23, 127 << 23
ROUNDER = 1.5 * 2.0**MANTISSA_BITS


class Lanes(types.Type):
    """The type, as numba knows it."""

    def __init__(self) -> None:
        super().__init__(name="lanes")


lanes = Lanes()


@extending.register_model(Lanes)
class _Model(extending.models.PrimitiveModel):
    def __init__(self, manager: object, kind: object) -> None:
        super().__init__(manager, kind, VECTOR)


def _address(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start]), VECTOR.as_pointer())


def _all(bits: int) -> Any:
    return ir.Constant(WORDS, [bits] * LANES)


def _bits(builder: Any, value: Any) -> Any:
    return builder.bitcast(value, WORDS)


@extending.intrinsic
def load(_context, array, start):
    """array: float32, contiguous; its numbers from `start` on. Nothing checks that there are as many."""

    def emit(context, builder, signature, operands):
        value = builder.load(_address(context, builder, signature.args[0], *operands))
        value.align = NUMBER_BYTES
        return value

    return lanes(array, types.intp), emit


@extending.intrinsic
def store(_context, value, array, start):
    """Write the numbers of all lanes into the array, from `start` on."""

    def emit(context, builder, signature, operands):
        written = builder.store(operands[0], _address(context, builder, signature.args[1], *operands[1:]))
        written.align = NUMBER_BYTES
        return context.get_dummy_value()

    return types.none(lanes, array, types.intp), emit


@extending.intrinsic
def every(_context, value):
    """The same number in all lanes."""

    def emit(context, builder, signature, operands):
        nothing, first = ir.Constant(VECTOR, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        single_lane = builder.insert_element(nothing, operands[0], first)
        return builder.shuffle_vector(single_lane, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))

    return lanes(types.float32), emit


@extending.intrinsic
def least(_context, value, bound):
    """The smaller of the two; nan stays nan."""

    def emit(context, builder, signature, operands):
        value, bound = operands
        return builder.select(builder.fcmp_ordered(">", value, bound), bound, value)

    return lanes(lanes, lanes), emit


@extending.intrinsic
def size(_context, value):
    """The absolute values."""

    def emit(context, builder, signature, operands):
        return builder.bitcast(builder.and_(_bits(builder, operands[0]), _all(~SIGN & 0xFFFFFFFF)), VECTOR)

    return lanes(lanes), emit


@extending.intrinsic
def with_sign(_context, value, sign):
    """Values that are not negative, with the signs of others."""

    def emit(context, builder, signature, operands):
        value, sign = (_bits(builder, operand) for operand in operands)
        return builder.bitcast(builder.or_(value, builder.and_(sign, _all(SIGN))), VECTOR)

    return lanes(lanes, lanes), emit


@extending.intrinsic
def power_of_two(_context, rounded):
    """2 ** k for k + ROUNDER, a sum that has k in its last bits; -126 <= k <= 127."""

    def emit(context, builder, signature, operands):
        exponent = builder.shl(_bits(builder, operands[0]), _all(MANTISSA_BITS))
        return builder.bitcast(builder.add(exponent, _all(EXPONENT_OF_ONE)), VECTOR)

    return lanes(lanes), emit


@extending.intrinsic
def total(_context, value):
    """The sum of all lanes, halves first."""

    def emit(context, builder, signature, operands):
        value, width = operands[0], LANES
        while width > 1:
            width //= 2
            nothing, kind = ir.Constant(value.type, ir.Undefined), ir.VectorType(ir.IntType(32), width)
            halves = [ir.Constant(kind, list(range(start, start + width))) for start in (0, width)]
            value = builder.fadd(*(builder.shuffle_vector(value, nothing, half) for half in halves))
        return builder.extract_element(value, ir.Constant(ir.IntType(32), 0))

    return types.float32(lanes), emit


def _operation(operation: Any, instruction: str) -> None:
    @extending.intrinsic
    def calculated(_context, left, right):
        def emit(context, builder, signature, operands):
            return getattr(builder, instruction)(*operands, flags=FUSED)

        return lanes(lanes, lanes), emit

    @extending.overload(operation)
    def overloaded(left, right):
        if isinstance(left, Lanes) and isinstance(right, Lanes):
            return lambda left, right: calculated(left, right)
        return None


for _operator, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operation(_operator, _instruction)
