"""Trains further models as the judged one was, for checks that need them."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example
from pellucid.datasets.shared.splits import split_parts
from pellucid.evaluation.checking.check_case import Train
from pellucid.evaluation.comparison.comparison_folder import TRAINED
from pellucid.training.retraining import retrainer


def trainer_of(source: Any, model: Model, folder: Path | None) -> Train:
    """Texts and a name -> a model trained on them by the judged one's recipe; some of the texts choose the epoch.

    source: what `compare` got as the model. folder: the comparison's, where the models stay; None: one for the time being. Raises
    `BadSetting` for a model that is no folder with a recipe.
    """
    place = source if isinstance(source, str | Path) else model.name  # that of a loaded model is its folder
    if not Path(place).is_dir():
        raise BadSetting(
            "train= trains models by the recipe of the one in question, which stands in its folder; give the folder's path as the "
            "model."
        )
    out = Path(mkdtemp(prefix="pellucid-")) if folder is None else folder / TRAINED
    train = retrainer(place, out, device=str(model.device))

    def trained(texts: Sequence[Example], name: str) -> Model:
        parts = split_parts(texts)
        return train({"train": [*parts["train"], *parts["test"]], "dev": parts["dev"]}, name)

    return trained
