"""Models that are trained to imitate another one, for the tests of attention that need them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example
from pellucid.datasets.shared.splits import split_parts
from pellucid.evaluation.attention_analysis.attention_folder import IMITATORS
from pellucid.training.imitators import imitators


def imitator_of(
    source: Any, train: Sequence[Example], folder: Path | None, number: int
) -> Callable[[float], Model]:
    """lambda -> a model that imitates the one in the folder `source`, trained on these texts, of which some choose the epoch.

    folder: the analysis's, where the models stay; None: one for the time being. number: the model's. Raises `BadSetting` for a
    model that is no folder: its recipe is not known.
    """
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        raise BadSetting(
            "train= trains models by the recipe of the one in question, which stands in its folder; give the folder's path as the "
            "model."
        )
    parts = split_parts(train)
    by_part = {"train": [*parts["train"], *parts["test"]], "dev": parts["dev"]}
    out = Path(mkdtemp(prefix="pellucid-")) if folder is None else folder
    return imitators(source, by_part, out / IMITATORS / f"{number:02d}")
