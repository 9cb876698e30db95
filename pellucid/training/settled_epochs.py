"""Epochs in which everything that is learnt is in force: only these may be the best, or the model would be one without it."""

from pellucid.training.recipe import Recipe
from pellucid.training.span_count import FALL


def settled_in(recipe: Recipe, epoch: int) -> dict[str, float]:
    """{"settled": 1 or 0}, whether all was in force in every step of this epoch, the first being 0; {} where all is from the first step.

    A wanted number of spans is reached after a share of the steps; objectives may begin later, and weights become sharp later. The last
    epoch counts as settled.
    """
    begins = recipe.objectives_from if any(recipe.objectives.values()) else 0.0
    reached = FALL if recipe.spans is not None else 0.0
    first = max(begins, reached, recipe.sharp_from)
    if not first:
        return {}
    return {"settled": float(epoch >= first * recipe.epochs or epoch == recipe.epochs - 1)}
