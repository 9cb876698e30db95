"""What begins later in a training: whether it may, and in which epochs all is in force; only these may be the best."""

from pellucid.core.foundation.errors import BadSetting
from pellucid.models.composed.plan import Plan
from pellucid.training.objective_fit import learnt_instead_of_labels
from pellucid.training.recipe import Recipe
from pellucid.training.span_count import FALL


def check_beginnings(recipe: Recipe, plan: Plan) -> None:
    """Raise `BadSetting` where a later beginning would change nothing, or leave nothing to learn before it."""
    sharpens = any(recipe.penalties.values()) or plan.pooler_settings.get("n_heaviest") is not None
    if recipe.sharp_from and not sharpens:
        raise BadSetting(
            f"sharp_from={recipe.sharp_from:g} would change nothing: no penalty and no n_heaviest makes the weights sharp; leave "
            "sharp_from away, or give a penalty."
        )
    if recipe.objectives_from and learnt_instead_of_labels(recipe):
        raise BadSetting(
            f"objectives_from={recipe.objectives_from:g} would leave the first steps without anything to learn, since an objective stands "
            "in place of the labels; leave objectives_from away."
        )


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
