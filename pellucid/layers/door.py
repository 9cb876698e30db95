"""The door `layer_analysis`: which words the layers of one or several models still use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pellucid.base.checks import known, quoted, whole
from pellucid.base.errors import BadFile, BadInput, BadSetting
from pellucid.base.files import possible_path
from pellucid.base.json_text import read_json
from pellucid.base.kinds import attributions, readers
from pellucid.base.output_folder import PARTS, QUESTION
from pellucid.base.processes import Progress
from pellucid.drawing.method_facts import entry_of
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.examples import examples_for, strange_for
from pellucid.explaining.inputs.loading import distinct_names
from pellucid.explaining.inputs.models import any_model_from, check_whole_texts
from pellucid.explaining.inputs.readings import Data, ModelSource, to_explain
from pellucid.layers.question import (
    LayerFolder,
    LayerQuestion,
    check_layers,
    check_steps,
    checked_target,
    layer_settings,
)
from pellucid.layers.record import FORM, LayerAnalysis, ModelLayers
from pellucid.results.explanation import Explanation
from pellucid.results.storage import read
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.explaining import Request, method_calls
from pellucid.run.hidden_target import HiddenState
from pellucid.run.model import WRITING, Model
from pellucid.run.target import Target, TargetName
from pellucid.run.word import TEXT, Word
from pellucid.text.example import distinct_texts
from pellucid.text.label_map import LabelMap

Layers = int | Literal["all", "head"]
Models = ModelSource | Sequence[ModelSource] | Mapping[str, ModelSource | Sequence[ModelSource]]


def layer_analysis(
    models: Models,
    texts: Data,
    method: str = "retained_information",
    *,
    layers: Layers = "all",
    positions: str | Sequence[int] = "pooled",
    target: TargetName | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    progress: bool | Progress | None = None,
    **settings: Any,
) -> LayerAnalysis:
    """Which words each layer of one or several models still uses, over many texts.

    models: one model; a list of them, compared with the first; or a dictionary, name -> model or a list of the same
        model trained with several seeds, whose differences then have intervals over trainings.
    texts: as in `explain`; equal texts count once.
    method: one that gives scores a layer: "retained_information" reads the states of layers, "grad_cam" explains a
        class.
    layers: "all", the number of one, or "head", the vector that the classification head reads.
    positions: of a method that reads states, whose: "pooled", "first", "last", "all" or numbers of pieces. "each": rows
        are not layers but time steps, the states of one layer at each piece; of a pair at the second text's pieces, and
        at the token before them; of a model that writes the states that write each piece, and it writes where only one
        text is given.
    target: of a method that explains a class, which; None: the predicted one. With a method that reads states:
        `BadSetting`.
    seed: a whole number; the seed of random methods.
    out: a folder that keeps the work of each few texts; interrupted work goes on when it is called again.
    text, label, label_map, skip_bad_rows, progress: as in `explain`.
    settings: the method's own.

    Returns maps of layers and words, sums, and words. Raises `UnknownName` for a method that does not exist,
    `BadSetting` for a method without layers, a layer that is not there or a class where states are read, `ModelCannot`
    for a model that shows no states of layers, `BadInput` for no models, `BadFile` for a folder with another analysis.

    >>> analysis = pellucid.layer_analysis("my-classifier", ["A good film.", "A dull film."], "grad_cam", layers="all")
    >>> analysis.map(0).scores.shape
    (4, 4)
    """
    whole("seed", seed, 0, HIGHEST_SEED)
    known("attribution method", method, attributions.names())
    loaded = _loaded(models)
    first = next(iter(loaded.values()))[0]
    reads_states, settings_of_layers = layer_settings(method, layers)
    each_step = check_steps(method, positions, reads_states)
    states = checked_target(positions, layers) if reads_states else None
    choice = (method, {**settings_of_layers, **settings})
    ask = partial(_question, choice=choice, target=target, states=states, seed=seed, layers=layers, each_step=each_step)
    questions = {name: list(map(ask, trainings)) for name, trainings in loaded.items()}
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map, "skip_bad_rows": skip_bad_rows}
    examples = examples_for(first, texts, strange=strange_for(target or "predicted"), **columns)
    if not examples:
        raise BadInput("There is no text to analyse; give at least one.")
    distinct = distinct_texts(to_explain(first, examples))
    with_texts = {
        name: [replace(question, examples=distinct) for question in of_model] for name, of_model in questions.items()
    }
    with progress_bar(progress) as show_progress:
        folder = LayerFolder(None if out is None else possible_path(out), with_texts)
        explanations = folder.explanations(show_progress)
    measure = str(attributions.get(method).facts["measure"])
    caveats = caveats_of(explanations, len(examples) - len(distinct))
    members = [ModelLayers(name, tuple(map(tuple, seeds))) for name, seeds in explanations.items()]
    return LayerAnalysis(tuple(members), measure, tuple(caveats))


def _question(
    model: Model,
    *,
    choice: tuple[str, dict[str, Any]],
    target: TargetName | None,
    states: HiddenState | None,
    seed: int,
    layers: Layers,
    each_step: bool,
) -> LayerQuestion:
    """The question to one model, without its texts; raises before any work where it has no such layers or misses what
    the method needs.
    """
    explained = _target(model, choice[0], target, states)
    request = Request(model, method_calls([choice], model), explained, seed)
    check_layers(request, layers, each_step)
    return LayerQuestion(request, (), None if layers == "all" else str(layers), each_step)


def _loaded(models: Models) -> dict[str, list[Model]]:
    """Name -> the trainings of one model."""
    if isinstance(models, Mapping):
        named = {str(name): _trainings(source) for name, source in models.items()}
    else:
        several = models if isinstance(models, list) else [models]
        each = [_model(source) for source in several]
        named = {name: [model] for name, model in zip(distinct_names(each), each, strict=True)}
    if not named or not all(named.values()):
        raise BadInput("There is no model to analyse; give one, a list of them, or a dictionary of names.")
    return named


def _trainings(source: ModelSource | Sequence[ModelSource]) -> list[Model]:
    return [_model(training) for training in (source if isinstance(source, list) else [source])]


def _model(source: ModelSource) -> Model:
    """A model whose states are of whole texts, or that writes."""
    model = any_model_from(source)
    check_whole_texts(model)
    return model


def _target(
    model: Model, method: str, target: TargetName | None, states: HiddenState | None
) -> Target | HiddenState | Word:
    """The states; else a class, or of a model that writes the whole text."""
    writes = WRITING in model.capabilities
    if states is None and not writes:
        return Target("predicted" if target is None else target)
    if target is not None:
        explains = f"{method} explains hidden states, no class" if states else f"{model.name} writes texts, no classes"
        raise BadSetting(
            f"{explains}; leave target={quoted(target)} out, or explain a class by a method such as grad_cam."
        )
    return Word(TEXT) if states is None else states


def caveats_of(explanations: Mapping[str, Sequence[Sequence[Explanation]]], n_repeated: int = 0) -> list[str]:
    """The caveats of the explanations, each with the number of texts that it is of; n_repeated: texts that were left
    out.
    """
    counts: dict[tuple[str, str], int] = {}
    for name, trainings in explanations.items():
        for explanation in (explanation for training in trainings for explanation in training):
            for caveat in explanation.caveats:
                counts[name, caveat] = counts.get((name, caveat), 0) + 1
    sentences = [f"{name}, {_times(count)}: {caveat}" for (name, caveat), count in counts.items()]
    if n_repeated:
        sentences.append(f"{_times(n_repeated)} repeated others; equal texts count once.")
    return sentences


def _times(count: int) -> str:
    return f"{count:,} text{'' if count == 1 else 's'}"


# A layer analysis from what the command `layers` wrote: the file of `--save`, or the folder of `--out`.


@readers.add()
def layers_at(path: Path) -> LayerAnalysis | None:
    """The analysis that this file or folder holds; None where it holds something else, such as explanations.

    Raises `BadFile` for a folder whose work is not finished, and for a file or a part that is damaged.
    """
    if (path / QUESTION).is_file():
        question = read_json(path / QUESTION)
        is_of_others = isinstance(question, dict) and "models" not in question  # such as a comparison
        return None if is_of_others else _of_folder(path)
    if path.suffix != ".json" or not path.is_file():
        return None
    whole = read_json(path)
    return LayerAnalysis.read(path) if isinstance(whole, dict) and whole.get("form") == FORM else None


def _of_folder(path: Path) -> LayerAnalysis:
    """The parts of a folder, put together as the door `layer_analysis` does."""
    question = read_json(path / QUESTION)
    try:
        names = {name: len(trainings) for name, trainings in question["models"].items()}
        n_texts = int(str(question["texts"]).split()[0])
    except (TypeError, LookupError, ValueError, AttributeError):
        raise BadFile(f"{path / QUESTION} is damaged; give another folder, or make the analysis again.") from None
    parts: dict[tuple[int, int], list[Explanation]] = defaultdict(list)
    for file in sorted((path / PARTS).glob("*-*-*.parquet")):
        model, training, _ = file.stem.split("-")
        parts[int(model), int(training)] += read(file)
    explanations = {
        name: [parts[index, training] for training in range(n_trainings)]
        for index, (name, n_trainings) in enumerate(names.items())
    }
    if any(len(of_training) != n_texts for trainings in explanations.values() for of_training in trainings):
        raise BadFile(f"The work in {path} is not finished; run the same `pellucid layers` again to go on.")
    members = tuple(ModelLayers(name, tuple(map(tuple, each))) for name, each in explanations.items())
    entry = entry_of(attributions, members[0].seeds[0][0].method)
    return LayerAnalysis(members, str(entry.facts["measure"]) if entry else "", tuple(caveats_of(explanations)))
