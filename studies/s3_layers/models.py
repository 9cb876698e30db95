"""The four classifiers of the study, trained once a seed; `s3_concepts` asks the same ones.

Guan et al. (2019), section 5: BERT, a transformer and a BiLSTM and a CNN from random vectors; here MiniLM stands for
BERT, and all are small.
"""

from functools import cache

from pellucid.base.processes import Share, no_report
from pellucid.data.load import load_examples
from pellucid.run.hidden_target import HiddenState
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.training.train import train_model
from studies.s3_accuracy.models import PRETRAINED as PRETRAINED_PLAN
from studies.s3_accuracy.models import TITLES, WIDTHS, model_plan, model_recipe
from studies.shared.study import Settings

MODELS = {title: name for name, title in TITLES.items()}  # a model's title -> its name in `model_plan`
PRETRAINED = TITLES[PRETRAINED_PLAN]
WIDTH = 256  # of a state and of a random word vector
EPOCHS = 2  # of models from random vectors; the pretrained one has learnt before


def trained(settings: Settings, title: str, seed: int, share: Share = no_report) -> Model:
    """The classifier of a title and seed. A finished one is loaded."""
    parts, name = training_parts(settings), MODELS[title]
    labels = tuple(sorted({example.label for example in parts["train"] if example.label is not None}))
    return train_model(
        parts,
        model_plan(name, labels, settings.encoder, WIDTH),
        model_recipe(name, 1 if title == PRETRAINED else EPOCHS, seed),
        settings.work / "models" / f"{title}-{seed}",
        settings.device,
        progress=lambda _, done, total: share(done / total),
    )


def training_parts(settings: Settings) -> dict[str, list[Example]]:
    """What is learnt from, and the texts that choose the epoch."""
    return {
        "train": part(settings.data, "train")[: settings.size.train],
        "dev": part(settings.data, "dev")[: settings.size.dev],
    }


def rows_of(model: Model, name: str) -> dict[str, HiddenState]:
    """The states that are a model's layers in the paper's figures, by name: all positions of each, side by side.

    Every layer but the words themselves; of the CNN the four widths of filter, which stand beside one another.
    """
    if name == "CNN":
        return {f"K{width}": HiddenState(1, "all", str(width)) for width in WIDTHS}
    return {str(layer): HiddenState(layer, "all") for layer in range(1, model.n_layers + 1)}


@cache
def part(data: str, split: str) -> list[Example]:
    """A part of the data."""
    return load_examples(data, split)
