"""The doors `translate`, `write` and `train_translator`: models that write, and translators that explain themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path, PurePath
from typing import Any, Unpack

from pellucid.base.checks import in_syntax, listed, mapping, one_of, quoted, whole
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.files import possible_path, readable
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.explain import explain
from pellucid.explaining.inputs.data_source import DataSource
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import any_model_from, translator_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.models.composed.composed import read_trained_texts
from pellucid.models.load import wrap_writing
from pellucid.models.translation.source_spans import SpanSettings
from pellucid.models.writing.continuing import Written, written_after
from pellucid.models.writing.writing_model import WritingModel
from pellucid.results.explanation import Explanation
from pellucid.text.example import Example
from pellucid.training.recipes import training_texts
from pellucid.writing.train_translator import train_translator as trained_translator
from pellucid.writing.translator_plan import (
    NETWORKS,
    Network,
    Pooler,
    TranslationRecipe,
    TranslationRecipeChanges,
    TranslatorPlan,
)


@dataclass(frozen=True)
class Translation:
    """A text and its translation.

    source, text: what was read and what was written. is_cut: whether it ended because it had no more room, and not by
    the model's own end token. explanation: by `span_attention`, a row for each word, of a translator that explains
    itself; else None.

    >>> print(pellucid.Translation("A good film.", "Ein guter Film.", is_cut=False))
    Ein guter Film.
    """

    source: str
    text: str
    is_cut: bool
    explanation: Explanation | None = None

    def __str__(self) -> str:
        return self.text


def translate(
    model: ModelSource,
    texts: Data,
    *,
    beam: int = 5,
    max_pieces: int = 128,
    text: str | Sequence[str] | None = None,
    progress: bool | None = None,
) -> list[Translation]:
    """Translate texts, and say of each written word which spans of the source it was written from, if the model knows.

    model: a translator from `load` or `train_translator`; or its folder or hub name.
    texts: a string, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    beam: how many beginnings the search follows at once, 1 to 64; 1 takes the likeliest piece each time.
    max_pieces: the most pieces of a translation, 1 to 4,096.
    text: the column of a table, where it has an unusual name.
    progress: draw a progress bar; None: when a terminal is watching.

    Each text is translated alone, so neighbours and order change nothing. Returns the translations in order. Raises
    `ModelCannot` for a classifier and for a model without an encoder, `BadInput` for a pair.

    >>> pellucid.translate("my-translator", "A good film.", max_pieces=5)[0].source
    'A good film.'
    """
    check_search(beam, max_pieces)
    translator = translator_from(model)
    written = write(translator, texts, beam=beam, max_pieces=max_pieces, text=text, progress=progress)
    explanations: Sequence[Explanation | None] = [None] * len(written)
    if "span_weights" in translator.capabilities and written:
        pairs = [Example((translation.source, translation.text)) for translation in written if translation.text]
        of_pairs = iter(explain(translator, pairs, "span_attention", progress=progress) if pairs else ())
        explanations = [next(of_pairs) if translation.text else None for translation in written]
    return [
        Translation(translation.source, translation.text, translation.is_cut, explanation)
        for translation, explanation in zip(written, explanations, strict=True)
    ]


# The door `write`: what a translator or a language model writes after texts.

MOST_BEAMS = 64
MOST_PIECES = 4096


def write(
    model: ModelSource,
    texts: Data,
    *,
    beam: int = 1,
    max_pieces: int = 128,
    text: str | Sequence[str] | None = None,
    progress: bool | None = None,
) -> list[Written]:
    """What a model writes after each text: a translation, an answer, a continuation.

    model: a translator or language model from `load`; or its folder or hub name.
    texts: a string, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    beam: how many beginnings the search follows at once, 1 to 64; 1 takes the likeliest piece each time.
    max_pieces: the most pieces of a written text, 1 to 4,096.
    text: the column of a table, where it has an unusual name.
    progress: draw a progress bar; None: when a terminal is watching.

    Each text is written alone and nothing is drawn at random, so neighbours and order change nothing. Returns for each
    text, in order, its source, what was written (text), and whether there was no more room for it (is_cut). Raises
    `ModelCannot` for a model that writes nothing, `BadInput` for a pair, `BadSetting` for other numbers.

    >>> pellucid.write("my-translator", "A good film.", max_pieces=5)[0].source
    'A good film.'
    """
    check_search(beam, max_pieces)
    writer = any_model_from(model)
    if not isinstance(writer, WritingModel):
        raise ModelCannot(f"{writer.name} writes no texts; give a translator or a language model.")
    examples = examples_for(writer, texts, text=text, strange="allowed")
    for example in examples:
        if len(example.segments) != 1:
            raise BadInput(
                f"Example {quoted(example.id)} is a pair; give the text alone, and the model writes the second one."
            )
    answers = []
    with progress_bar(progress) as show_progress:
        for position, example in enumerate(examples, 1):
            answers.append(written_after(writer, example.segments[0], beam, max_pieces))
            show_progress("writing", position, len(examples))
    return answers


def check_search(beam: int, max_pieces: int) -> None:
    """Raise `BadSetting` where no text can be written so; before a model is loaded."""
    whole("beam", beam, 1, MOST_BEAMS)
    whole("max_pieces", max_pieces, 1, MOST_PIECES)


# The door `train_translator`: from pairs of texts to a translator in a folder, by default one that explains itself.

READ = "read={'source': 'en', 'target': 'de'}"
ON_THE_COMMAND_LINE = "--read source=en --read target=de"
SPAN_SETTINGS = ("max_width", "weights", "query", "scale")


def train_translator(
    pairs: Data,
    *,
    out: str | Path,
    format: str | None = None,
    read: Mapping[str, Any] | None = None,
    skip_bad_rows: bool = False,
    pooler: Pooler = "span",
    pooler_settings: Mapping[str, Any] | None = None,
    network: Network = "transformer",
    network_settings: Mapping[str, Any] | None = None,
    pieces: int = 6000,
    start_from: str | Path | None = None,
    device: str = "cpu",
    progress: bool | None = None,
    **recipe: Unpack[TranslationRecipeChanges],
) -> WritingModel:
    """Train a translator, by default one whose own weights say which spans of the source each word was written from.

    The epoch is chosen on the dev part. An interrupted training goes on when it is called again; a finished one is
    loaded.

    pairs: a data set's name, a folder with train and dev parts, or one file, which is split 70 / 15 / 15 %; pairs in
        memory, which are split likewise; or a mapping of parts, "train" and "dev" (or "validation"), to any of these.
        The first text of a pair is read, the second one is written.
    out: the folder for the translator; `load` reads it.
    format, read, skip_bad_rows: how files are read, as in `train`.
    pooler: "span" puts a layer of source spans on the decoder (corrections.md A0.16); "none" is the plain twin.
    pooler_settings: max_width, the most pieces of a span (None: any); weights, "learned" or "uniform"; query, "decoder"
        or "static"; scale, False for scores that are not divided by the square root of the width.
    network: "transformer", or "lstm" for LSTMs with attention.
    network_settings: sizes of a new network: layers (3; of LSTMs 2), width (256), dropout (0.1); of a Transformer also
        heads (4) and inner_width.
    pieces: the most joint pieces to learn from the train texts, 300 to 200,000.
    start_from: a translator to upgrade, a folder or hub name (Marian, BART): its network and pieces stay, and sizes are
        not given then.
    device: "cpu", "cuda" or "cuda:1".
    progress: draw a progress bar; None: when a terminal is watching.
    recipe: settings of `TranslationRecipe`: epochs, batch_pieces, learning_rate, penalties, seed and so on.

    Returns the translator. Raises `BadInput` for examples that are no pairs or too long, `BadSetting` for settings that
    do not go together, `BadFile` for data that cannot be read and for a folder that holds something else, `ModelCannot`
    for a model that cannot be upgraded.

    >>> pairs = {"train": [("a dog", "ein Hund"), ("a cat", "eine Katze")], "dev": [("the dog", "der Hund")]}
    >>> sizes = {"layers": 1, "width": 16, "heads": 2}
    >>> pellucid.train_translator(pairs, out="en-de", epochs=1, pieces=300, network_settings=sizes)
    <WritingModel en-de>
    """
    one_of("network", network, tuple(NETWORKS))
    sizes = NETWORKS[network]
    options = {"format": format, "settings": read, "skip_bad_rows": skip_bad_rows}
    plan = TranslatorPlan(
        pooler,
        _settings("pooler_settings", pooler_settings, SPAN_SETTINGS, SpanSettings),
        _settings("network_settings", network_settings, tuple(field.name for field in fields(sizes)), sizes),
        pieces,
        None if start_from is None else str(start_from),
    )
    if start_from is not None and (network_settings or network != "transformer"):
        raise BadSetting("network and network_settings are of a new network; leave them away with start_from=.")
    strange = sorted(recipe.keys() - TranslationRecipe.__dataclass_fields__.keys())
    if strange:
        raise BadSetting(
            f"No setting of a translator is called {strange[0]!r}. There are: "
            f"{listed(TranslationRecipe.__dataclass_fields__)}."
        )
    folder, full_recipe = possible_path(out), TranslationRecipe(**recipe)
    if pooler == "none" and any(full_recipe.penalties.values()):
        raise BadSetting("penalties read the weights of spans; leave them away with pooler='none'.")
    if pooler == "none" and pooler_settings:
        raise BadSetting("pooler_settings are of spans; leave them away with pooler='none'.")
    with progress_bar(progress) as show_progress:
        parts = trained_translator(_pairs(pairs, options), plan, full_recipe, folder, device, progress=show_progress)
    model = wrap_writing(parts.network, parts.tokenizer, readable(folder))
    return replace(model, trained_texts=read_trained_texts(folder))


def _settings(name: str, settings: Mapping[str, Any] | None, allowed: tuple[str, ...], kind: Any) -> Any:
    """The record of these settings; raises `BadSetting` for a name that is none of them. Any: a class and what it
    makes.
    """
    values = mapping(name, settings or {})
    strange = sorted(values.keys() - set(allowed))
    if strange:
        raise BadSetting(f"{name} has {quoted(strange[0])}, which is no setting. There are: {listed(allowed)}.")
    return kind(**values)


def _pairs(pairs: Data, options: Mapping[str, Any]) -> dict[str, list[Example]]:
    """The pairs to learn from and those that choose the epoch, "train" and "dev"."""
    if isinstance(pairs, str | PurePath):
        source = DataSource(
            str(pairs),
            "train",
            options["format"],
            mapping("read", options["settings"] or {}),
            options["skip_bad_rows"],
        )
        parts = source.training_parts()
    else:
        parts = training_texts(pairs, None, None, None).training_parts()
    for name, examples in parts.items():
        for example in examples:
            if len(example.segments) != 2:
                raise BadInput(
                    f"Example {quoted(example.id)} of {name} has one text; a translator learns from pairs. Of a file "
                    f"with named fields say which: {in_syntax(READ, ON_THE_COMMAND_LINE)}."
                )
    return {name: [replace(example, label=None) for example in examples] for name, examples in parts.items()}
