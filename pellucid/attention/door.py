"""The door `attention_analysis`: whether a model's weights may be read as an explanation of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import torch

from pellucid.attention.folder import IMITATORS, AttentionFolder, Question, TestedModel
from pellucid.attention.layer_lines import layer_attention
from pellucid.attention.layer_question import TransformerQuestion, check_layers
from pellucid.attention.lines import left_out, model_attention
from pellucid.attention.question import AttentionQuestion, UserWeights, check_user_weights, coloured_texts
from pellucid.attention.record import ANALYSIS, FORM, AttentionAnalysis, ModelAttention
from pellucid.attention.weighed_texts import WeighedRow, WeighedText, check_sum, unit_rows, weighed_texts
from pellucid.base.catalogue import Call, Choice
from pellucid.base.checks import choices, listed, listed_members, quoted, whole
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot
from pellucid.base.files import possible_path, read_text
from pellucid.base.json_text import parsed, read_json
from pellucid.base.kinds import attention_tests, readers
from pellucid.base.output_folder import QUESTION
from pellucid.data.shared.part_files import split_parts
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.loading import distinct_names, load
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.models.analysed_spans import span_states
from pellucid.run.batch import Batch
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model
from pellucid.text.example import Example, data_of, seen_caveats
from pellucid.text.label_map import LabelMap
from pellucid.text.units import Spans, coarsen
from pellucid.training.objectives.other_models import imitators


def models_with_weights(
    model: ModelSource, against: Sequence[ModelSource] | Mapping[str, ModelSource], device: str | None = None
) -> dict[str, tuple[ModelSource, Model]]:
    """Name -> (what it was given as, the model), the one in question first; raises `ModelCannot` for one without
    weights, `BadInput` for other classes.
    """
    others = list(against.values()) if isinstance(against, Mapping) else _several(against)
    loaded = [_loaded(source, device) for source in (model, *others)]
    for loaded_model in loaded:
        check_weights(loaded_model)
        if weighs_units(loaded_model) != weighs_units(loaded[0]):
            raise BadInput(
                f"{loaded_model.name} and {loaded[0].name} are tested in different ways, since the answer of one of "
                f"them is a sum by its weights and that of the other is not; give models of one kind."
            )
        if sorted(loaded_model.labels) != sorted(loaded[0].labels):
            raise BadInput(
                f"{loaded_model.name} has the classes {listed(loaded_model.labels)}, and {loaded[0].name} has "
                f"{listed(loaded[0].labels)}; compare models of the same classes."
            )
    if isinstance(against, Mapping):
        first_name = loaded[0].name
        names = [first_name if first_name not in against else f"{first_name} (1)", *map(str, against)]
    else:
        names = distinct_names(loaded)
    return dict(zip(names, zip((model, *others), loaded, strict=True), strict=True))


def _loaded(source: ModelSource, device: str | None) -> Model:
    """device: where a folder or hub name is loaded to; a model in memory stays where it is."""
    if device is not None and isinstance(source, str | Path):
        return model_from(load(source, device=device))
    return model_from(source)


def _several(against: Any) -> list[ModelSource]:  # Any: a caller may give one model in place of a list
    return list(against) if isinstance(against, list | tuple) else [against]


# How texts are read as a model weighs them, whatever it weighs: units, or spans.


def weighs_units(model: Model) -> bool:
    """Whether its answer is a sum by weights of units or spans; else attention weights are set in its layers."""
    return bool({"unit_weights", "span_weights"} & model.capabilities)


def check_weights(model: Model) -> None:
    """Raise `ModelCannot` for a model without weights that a test could change, or with several labels a text."""
    if not weighs_units(model):
        check_layers(model)
    elif model.problem != "single_label":
        raise ModelCannot(
            f"{model.name} can give a text several labels; tests of attention judge one answer a text. Give a "
            f"single-label model."
        )


def weigh(model: Model, examples: Sequence[Example]) -> list[WeighedText]:
    """The texts with the model's weights, in their order; one forward pass a text, or a window of one."""
    return weighed_texts(model, examples, unit_rows if "unit_weights" in model.capabilities else span_rows)


def span_rows(model: Model, batch: Batch) -> list[WeighedRow]:
    """The rows of a model that weighs spans."""
    return [_span_row(model, batch, index) for index in range(len(batch))]


def _span_row(model: Model, batch: Batch, index: int) -> WeighedRow:
    states = span_states(model, batch.rows[index])
    parts = coarsen(batch.units[index], states.unit, batch.examples[index].segments)[0]  # type: ignore[arg-type]
    first, last = states.weighed.nonzero(as_tuple=True)
    rows = list(states.some_at_a_time(first, last))
    content = np.array(parts.content, dtype=np.int64)
    row = WeighedRow(
        torch.cat([weights for weights, _, _ in rows]),
        torch.cat([states.own_logits(vectors) for _, vectors, _ in rows]),
        torch.cat([vectors.float() for _, vectors, _ in rows]),
        Spans(parts, content[first.numpy()], content[last.numpy()]),
    )
    check_sum(model, row, states.own_logits(states.pooled[None])[0])
    return row


# Weights that a user gives, from a dictionary, a list or a file.

WAY = "give a text's id with a list of numbers, one for each word: {'id': [0.5, 0.5]}"


def user_weights_from(weights: Any, examples: Sequence[Example]) -> UserWeights:
    """A text's id -> its weights; a list is in the order of the texts. Raises `BadInput` for anything else."""
    if weights is None:
        return {}
    if not isinstance(weights, Mapping):
        rows = None if isinstance(weights, str | bytes | Path) else listed_members(weights)
        if rows is None or len(rows) != len(examples):
            count = "" if rows is None else f", {len(rows)} of them for {len(examples)} texts"
            raise BadInput(f"weights came as {type(weights).__name__}{count}; {WAY}.")
        weights = {example.id: row for example, row in zip(examples, rows, strict=True)}
    return {str(name): _numbers(name, row) for name, row in weights.items()}


def _numbers(name: object, row: Any) -> list[float]:
    members = None if isinstance(row, str | bytes | Mapping) else listed_members(row)
    if not members or any(isinstance(member, bool) or not isinstance(member, Real) for member in members):
        raise BadInput(f"The weights of text {quoted(name)} are no list of numbers; {WAY}.")
    return [float(member) for member in members]  # type: ignore[arg-type]  # all are numbers


def user_weights_in_file(path: Path) -> dict[str, Any]:
    """Weights of a JSON file, {"id": [...]}, or of JSON lines, {"id": ..., "weights": [...]}; raises `BadFile` for
    other files.
    """
    text = read_text(path)
    try:
        return dict(parsed(text)) if path.suffix == ".json" else _of_lines(text)
    except (ValueError, TypeError, LookupError):
        raise BadFile(
            f'{path} does not hold weights; write a line {{"id": "review-1", "weights": [0.5, 0.5]}} for each text, or '
            f"one object "
            "of ids with their weights in a .json file."
        ) from None


def _of_lines(text: str) -> dict[str, Any]:
    records = [parsed(line) for line in text.split("\n") if line.strip()]
    return {str(record["id"]): record["weights"] for record in records}


def attention_analysis(
    model: ModelSource,
    data: Data,
    *,
    against: Sequence[ModelSource] | Mapping[str, ModelSource] = (),
    train: Data | None = None,
    folder: str | Path | None = None,
    tests: Iterable[Choice] | None = None,
    weights: Mapping[str, Sequence[float]] | Sequence[Sequence[float]] | None = None,
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    device: str | None = None,
    progress: bool | None = None,
) -> AttentionAnalysis:
    """Test whether a model's weights may be read as an explanation, and give a verdict with its evidence.

    model: one that was trained with pooler="additive", "dot" or "span", whose answer is a sum by its weights; or any
        transformer whose attention weights can be set, layer by layer.
    data: texts as in `explain`, or the name or path of data; with labels, lost right answers can be counted. A verdict
        takes 100.
    against: other models with weights and the same classes, tested on the same texts: a list, or a dictionary of names.
    train: labelled texts to train the imitation adversary on; None: it does not run. Then the models are given as
        folders, in which their recipes stand. Of models with pooler alone.
    folder: keep the work of each few texts there; interrupted work goes on when it is called again.
    tests: names, or (name, settings) pairs; None: all that can run.
    weights: weights of yours to put in place of the model's: a text's id -> one for each of its words, or a list in the
        order of the texts. They must be 0 or more, and sum to 1. Of models with pooler alone.
    seed: a whole number; the seed of permutations and other draws.
    device: where models that are given by folder or name are loaded, and new ones trained: "cpu" (None means it too),
        "cuda", "cuda:1"; a model in memory stays where it is.
    text, label, label_map, progress: as in `explain`.

    Returns the verdict, the numbers of all tests with intervals, and plots of the first texts. Raises `ModelCannot` for
    a model without such weights, `BadInput` for weights that cannot be used or models of other classes, `UnknownName`
    and `BadSetting` for tests that do not exist or cannot run, `BadFile` for a folder that holds another analysis.

    >>> reviews = [("A good film.", "positive"), ("A dull film.", "negative")]
    >>> analysis = pellucid.attention_analysis("my-attention-classifier", reviews, tests=["uniform", "effective_units"])
    >>> analysis.verdict.answer, analysis.verdict.reason
    ('undecided', '2 texts are too few; a verdict takes 100')
    >>> 1 <= analysis.model().line("effective_units").value.mean <= 4
    True
    """
    whole("seed", seed, 0, HIGHEST_SEED)
    models = models_with_weights(model, against, device)
    first = next(iter(models.values()))[1]
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map, "names_data": True}
    examples = tuple(examples_for(first, data, **columns))
    if not examples:
        raise BadInput("There is no text to test attention on; give at least one.")
    own_weights = user_weights_from(weights, examples)
    check_user_weights(own_weights, examples)
    training = () if train is None else tuple(examples_for(first, train, split="train", strange="error", **columns))
    path = None if folder is None else possible_path(folder)
    in_layers = not weighs_units(first)
    if in_layers and (training or own_weights):
        raise BadSetting(
            f"{first.name} has attention in its layers, and train= and weights= are for models whose answer is a sum "
            f"by one weight a word (pooler='additive', 'dot' or 'span'); leave them away."
        )
    calls = tests_to_run(tests, seed, bool(own_weights), bool(training), in_layers)
    questions: dict[str, Question] = {
        name: TransformerQuestion(loaded_model, examples, calls, seed)
        if in_layers
        else AttentionQuestion(
            loaded_model,
            examples,
            calls,
            weigh,
            seed,
            own_weights,
            training,
            tests is not None,
            imitator_of(source, training, path, index, device or "cpu") if training else None,
        )
        for index, (name, (source, loaded_model)) in enumerate(models.items())
    }
    about = {"texts": len(examples), "seed": seed, "tests": [call.title for call in calls]}
    about["data"] = data_of([example.id for example in examples])
    in_folder = AttentionFolder(path, questions)
    files = in_folder.files
    state = None if files is None else files.begin()
    with progress_bar(progress) as show_progress:
        tested = in_folder.tested(show_progress)
    analysis = AttentionAnalysis(
        tuple(_attention_of(name, question, tested[name]) for name, question in questions.items()),
        about,
        (*seen_caveats(first, examples), *_left_out(questions, tested)),
        tuple(coloured_texts(first, examples, seed)),
    )
    if files is not None and state is not None:
        files.end(state, files.rewritten([ANALYSIS], partial(analysis.save, files.path / ANALYSIS)))
    return analysis


def _attention_of(name: str, question: Question, tested: TestedModel) -> ModelAttention:
    if isinstance(question, TransformerQuestion):
        return layer_attention(name, question, tested)
    return model_attention(name, question, tested)


def _left_out(questions: Mapping[str, Question], tested: Mapping[str, TestedModel]) -> list[str]:
    return [
        sentence
        for name, question in questions.items()
        if isinstance(question, AttentionQuestion)
        for sentence in left_out(name, question, tested[name])
    ]


# The tests of attention that run: those that a user names, or all that can.

OF_UNITS = ("weights", "user_weights", "train", "states")  # needs of tests of models whose answer is a sum by weights
OF_LAYERS_ALONE = ("layers", "reading")  # and of tests of transformers; those that need "explainer" are of both


def tests_to_run(
    tests: Iterable[Choice] | None, seed: int, has_weights: bool, has_train: bool, in_layers: bool = False
) -> tuple[Call, ...]:
    """The tests to run, random ones with the seed; raises `BadSetting` for one that lacks weights or texts to train
    on, and for one of the other kind of models. in_layers: weights are set in a transformer's layers.
    """
    by_layer = "the weights of a transformer's layers, and this model's answer is a sum by one weight a word or span"
    by_unit = "the weights or states that an answer is a sum by, and this model has attention in its layers instead"
    lacking = {
        "user_weights": "" if has_weights else "weights of yours: give weights=, or --weights on the command line",
        "train": "" if has_train else "texts to train on: give train=, or --train on the command line",
        **(dict.fromkeys(OF_UNITS, by_unit) if in_layers else dict.fromkeys(OF_LAYERS_ALONE, by_layer)),
    }
    if tests is None:
        names = attention_tests.names()
        named: list[Choice] = [name for name in names if not lacking.get(attention_tests.get(name).facts["needs"])]
    else:
        named = choices("tests", tests)
        if not named:
            raise BadSetting(f"No test is named; give some of: {listed(attention_tests.names())}.")
    calls = attention_tests.calls(named)
    for call in calls:
        if needed := lacking.get(call.entry.facts["needs"]):
            raise BadSetting(f"{call.entry.name} reads {needed}.")
    return tuple(_with_seed(call, seed) for call in calls)


def _with_seed(call: Call, seed: int) -> Call:
    if not call.entry.facts["random"] or "seed" not in call.settings or "seed=" in call.title:
        return call
    return replace(call, settings={**call.settings, "seed": seed})


# Models that are trained to imitate another one, for the tests of attention that need them.


def imitator_of(
    source: Any, train: Sequence[Example], folder: Path | None, model_index: int, device: str = "cpu"
) -> Callable[[float], Model]:
    """lambda -> a model that imitates the one in the folder `source`, trained on these texts, of which some choose the
    epoch.

    folder: the analysis's, where the models stay; None: one for the time being. model_index: the model's. device: where
    they are trained. Raises
    `BadSetting` for a model that is no folder: its recipe is not known.
    """
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        raise BadSetting(
            "train= trains models by the recipe of the one in question, which stands in its folder; give the folder's "
            "path as the model."
        )
    parts = split_parts(train)
    by_part = {"train": [*parts["train"], *parts["test"]], "dev": parts["dev"]}
    out = Path(mkdtemp(prefix="pellucid-")) if folder is None else folder
    return imitators(source, by_part, out / IMITATORS / f"{model_index:02d}", device=device)


# An attention analysis from what the command `attention` wrote: the file of `--save`, or the folder of `--out`.


@readers.add()
def attention_at(path: Path) -> AttentionAnalysis | None:
    """The analysis that this file or folder holds; None where it holds something else, such as explanations.

    Raises `BadFile` for a folder whose work is not finished, and for a file that is damaged.
    """
    if path.is_dir():
        question = path / QUESTION
        is_attention = question.is_file() and "attention of" in (read_json(question) or ())
        return AttentionAnalysis.read(path) if is_attention else None
    if path.suffix != ".json" or not path.is_file():
        return None
    whole = read_json(path)
    return AttentionAnalysis.read(path) if isinstance(whole, dict) and whole.get("form") == FORM else None
