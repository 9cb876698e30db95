"""The layers that a setting names."""

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.wording import quoted


def named_layers(layer: int | str, depth: int) -> list[int]:
    """Numbers from 0 to depth: one, "late" (two thirds of the way up), or "all"; raises `BadSetting` for another."""
    if layer == "all":
        return list(range(depth + 1))
    if layer == "late":
        return [round(2 * depth / 3)]
    if isinstance(layer, str):
        raise BadSetting(
            f"layer={quoted(layer)} is not possible; give a number from 0 to {depth}, late or all."
        )
    if type(layer) is int and not 0 <= layer <= depth:
        raise BadSetting(f"layer={layer} is out of range; give a number from 0 to {depth}, late or all.")
    between("layer", layer, 0, depth)
    return [layer]
