"""The door `attention_analysis`: whether a model's weights may be read as an explanation of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pellucid.attention.folder import IMITATORS, AttentionFolder, TestedModel
from pellucid.attention.lines import left_out, model_attention
from pellucid.attention.models import models_with_weights, user_weights_from, weigh
from pellucid.attention.question import AttentionQuestion, check_user_weights
from pellucid.attention.record import ANALYSIS, FORM, AttentionAnalysis
from pellucid.base.catalogue import Call, Choice
from pellucid.base.checks import choices, listed, whole
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import possible_path
from pellucid.base.json_text import read_json
from pellucid.base.kinds import attention_tests, readers
from pellucid.base.output_folder import QUESTION
from pellucid.data.shared.part_files import split_parts
from pellucid.drawing.progress_bar import progress_bar
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model
from pellucid.text.example import Example, seen_caveats
from pellucid.text.label_map import LabelMap
from pellucid.training.objectives.other_models import imitators


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
    progress: bool | None = None,
) -> AttentionAnalysis:
    """Test whether a model's weights may be read as an explanation, and give a verdict with its evidence.

    model: one that was trained with pooler="additive", "dot" or "span".
    data: texts as in `explain`, or the name or path of data; with labels, lost right answers can be counted. A verdict
        takes 100.
    against: other models with weights and the same classes, tested on the same texts: a list, or a dictionary of names.
    train: labelled texts to train the imitation adversary on; None: it does not run. Then the models are given as
        folders, in which their recipes stand.
    folder: keep the work of each few texts there; interrupted work goes on when it is called again.
    tests: names, or (name, settings) pairs; None: all that can run.
    weights: weights of yours to put in place of the model's: a text's id -> one for each of its words, or a list in the
        order of the texts. They must be 0 or more, and sum to 1.
    seed: a whole number; the seed of permutations and other draws.
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
    models = models_with_weights(model, against)
    first = next(iter(models.values()))[1]
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map, "names_data": True}
    examples = tuple(examples_for(first, data, **columns))
    if not examples:
        raise BadInput("There is no text to test attention on; give at least one.")
    own_weights = user_weights_from(weights, examples)
    check_user_weights(own_weights, examples)
    training = () if train is None else tuple(examples_for(first, train, split="train", strange="error", **columns))
    path = None if folder is None else possible_path(folder)
    calls = tests_to_run(tests, seed, bool(own_weights), bool(training))
    questions = {
        name: AttentionQuestion(
            one,
            examples,
            calls,
            weigh,
            seed,
            own_weights,
            training,
            tests is not None,
            imitator_of(source, training, path, number) if training else None,
        )
        for number, (name, (source, one)) in enumerate(models.items())
    }
    about = {"texts": len(examples), "seed": seed, "tests": [call.title for call in calls]}
    in_folder = AttentionFolder(path, questions)
    files = in_folder.files
    state = None if files is None else files.begin()
    with progress_bar(progress) as show_progress:
        tested = in_folder.tested(show_progress)
    analysis = AttentionAnalysis(
        tuple(model_attention(name, question, tested[name]) for name, question in questions.items()),
        about,
        (*seen_caveats(first, examples), *_left_out(questions, tested)),
    )
    if files is not None and state is not None:
        files.end(state, files.rewritten([ANALYSIS], partial(analysis.save, files.path / ANALYSIS)))
    return analysis


def _left_out(questions: Mapping[str, AttentionQuestion], tested: Mapping[str, TestedModel]) -> list[str]:
    return [sentence for name, one in questions.items() for sentence in left_out(name, one, tested[name])]


# The tests of attention that run: those that a user names, or all that can.


def tests_to_run(tests: Iterable[Choice] | None, seed: int, has_weights: bool, has_train: bool) -> tuple[Call, ...]:
    """The tests to run, random ones with the seed; raises `BadSetting` for one that lacks weights or texts to train
    on.
    """
    lacking = {
        "user_weights": "" if has_weights else "weights of yours: give weights=, or --weights on the command line",
        "train": "" if has_train else "texts to train on: give train=, or --train on the command line",
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


def imitator_of(source: Any, train: Sequence[Example], folder: Path | None, number: int) -> Callable[[float], Model]:
    """lambda -> a model that imitates the one in the folder `source`, trained on these texts, of which some choose the
    epoch.

    folder: the analysis's, where the models stay; None: one for the time being. number: the model's. Raises
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
    return imitators(source, by_part, out / IMITATORS / f"{number:02d}")


# An attention analysis from what the command `attention` wrote: the file of `--save`, or the folder of
# `--out`.


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
