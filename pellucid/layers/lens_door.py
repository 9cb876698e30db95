"""The door `lens`: a language head for a model that has none, trained on plain texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Unpack

from pellucid.base.checks import listed, mapping
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import possible_path, read_text
from pellucid.base.kinds import datasets
from pellucid.data.load import is_plain_text
from pellucid.data.shared.part_files import split_parts
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.data_source import DataSource, columns_as_settings
from pellucid.explaining.inputs.models import model_with_states
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.layers.lens_stage import LensRecipe, LensRecipeChanges
from pellucid.layers.train_lens import train_lens
from pellucid.models.language_heads.lens import Lens
from pellucid.text.example import Example, as_examples
from pellucid.training.recipes import training_texts


def lens(
    model: ModelSource,
    texts: Data,
    *,
    out: str | Path,
    on: str | None = None,
    format: str | None = None,
    read: Mapping[str, Any] | None = None,
    skip_bad_rows: bool = False,
    text: str | Sequence[str] | None = None,
    device: str | None = None,
    progress: bool | None = None,
    **recipe: Unpack[LensRecipeChanges],
) -> Lens:
    """Train a lens: what reads a model's hidden states as words, where the model has no language head of its own.

    A masked-language-model head is trained on the last layer and the frozen word vectors, then an affine translator for
    each layer below. The model itself is not changed. An interrupted training goes on when it is called again with the
    same values; a finished one is loaded.

    model: from `load`, `train` or another door; a folder, a hub name; or an encoder that is no classifier yet: "minilm"
        or its folder.
    texts: plain texts; labels are not read. A data set's name, a folder with train and dev parts, or one file (JSON
        lines, a table, or plain text with one text a line), which is split 70 / 15 / 15 %; a list of texts, a data
        frame or a mapping of parts, as in `train`.
    out: the folder for the lens.
    on: "encoder" for the encoder before it was fine-tuned (of a folder that `train` wrote, or of an encoder's name),
        "classifier" for the model as it is; None: the classifier, or the encoder if the model is no classifier.
    format, read, skip_bad_rows: how files are read, as in `train`.
    text: the column of the texts, where it has an unusual name; two columns in a tuple for pairs.
    device: "cpu" (None means it too), "cuda" or "cuda:1"; a model in memory stays where it is.
    progress: draw a progress bar; None: when a terminal is watching.
    recipe: settings of `LensRecipe`: head_steps, translator_steps, batch_size, sequence_length, seed and so on.

    Returns the lens; printed, it is the table of its layers, and `lens.record.table` has the numbers. Raises
    `ModelCannot` for a model without hidden states, `BadInput` for texts that are missing or too short to hide a piece
    of, `BadSetting` for values that do not go together, `BadFile` for texts that cannot be read and for a folder that
    holds something else.

    >>> texts = ["A gripping film.", "A dull film, and long.", "Good actors.", "The plot is thin.", "Fine music."]
    >>> short = {"head_steps": 2, "translator_steps": 2, "batch_size": 4}
    >>> parts = {"train": texts, "dev": ["The acting is weak.", "A long and lovely film."]}
    >>> lens = pellucid.lens("my-classifier", parts, out="my-lens", **short)
    >>> lens.trained_on, lens.record.n_layers
    ('the classifier', 3)
    """
    folder = possible_path(out)
    full_recipe = _recipe(recipe)
    options = {"format": format, "read": read, "skip_bad_rows": skip_bad_rows}
    read_model, trained_on = model_with_states(model, on, device)
    parts = _parts(texts, options, text)
    with progress_bar(progress) as show_progress:
        return train_lens(read_model, parts, full_recipe, folder, trained_on, progress=show_progress)


def _recipe(changes: Mapping[str, Any]) -> LensRecipe:
    strange = sorted(changes.keys() - LensRecipe.__dataclass_fields__.keys())
    if strange:
        raise BadSetting(
            f"No setting of a lens is called {strange[0]!r}. There are: {listed(LensRecipe.__dataclass_fields__)}."
        )
    return LensRecipe(**changes)


def _parts(texts: Data, options: Mapping[str, Any], text: str | Sequence[str] | None) -> dict[str, list[Example]]:
    """The texts to learn from and those to choose by, "train" and "dev"."""
    if not isinstance(texts, str | PurePath):
        strange = [name for name, value in options.items() if value is not None and value is not False]
        if strange:
            raise BadSetting(f"{strange[0]}= says how files are read; {type(texts).__name__} is none. Leave it away.")
        return training_texts(texts, text, None, None).training_parts()
    name = str(texts)
    settings = mapping("read", options["read"] or {}) | columns_as_settings(text, None)
    if options["format"] is None and not settings and name not in datasets.names() and _is_plain(name):
        return _lines(Path(name))
    source = DataSource(name, "train", options["format"], settings, options["skip_bad_rows"])
    return source.training_parts()


def _is_plain(name: str) -> bool:
    return possible_path(name).is_file() and is_plain_text(name)


def _lines(path: Path) -> dict[str, list[Example]]:
    """The lines of a plain file, each a text, cut as one file of data is."""
    lines = [line for line in read_text(path).split("\n") if line.strip()]
    if not lines:
        raise BadInput(f"There is no text in {path}; give one text a line.")
    return split_parts(as_examples(lines))
