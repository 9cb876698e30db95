"""The door `attention_analysis`: whether a model's weights may be read as an explanation of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pellucid.api.attention.imitating import imitator_of
from pellucid.api.attention.models_with_weights import models_with_weights
from pellucid.api.attention.tests_to_run import tests_to_run
from pellucid.api.attention.user_weights import user_weights_from
from pellucid.api.attention.weighing import weigh
from pellucid.api.inputs import examples_for
from pellucid.api.inputs.data import Data, ModelSource
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.checks import whole
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.files import possible_path
from pellucid.core.passes.seeds import HIGHEST_SEED
from pellucid.core.results.attention_analysis import ANALYSIS, AttentionAnalysis
from pellucid.core.text.label_map import LabelMap
from pellucid.core.text.trained_texts import seen_caveats
from pellucid.evaluation.attention_analysis.attention_folder import AttentionFolder, TestedModel
from pellucid.evaluation.attention_analysis.attention_lines import left_out, model_attention
from pellucid.evaluation.attention_analysis.attention_question import AttentionQuestion
from pellucid.evaluation.attention_analysis.user_weights import check_user_weights
from pellucid.reports.terminal.progress_bar import progress_bar


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
    data: texts as in `explain`, or the name or path of data; with labels, lost right answers can be counted. A verdict takes 100.
    against: other models with weights and the same classes, tested on the same texts: a list, or a dictionary of names.
    train: labelled texts to train the imitation adversary on; None: it does not run. Then the models are given as folders, in
        which their recipes stand.
    folder: keep the work of each few texts there; interrupted work goes on when it is called again.
    tests: names, or (name, settings) pairs; None: all that can run.
    weights: weights of yours to put in place of the model's: a text's id -> one for each of its words, or a list in the order of
        the texts. They must be 0 or more, and sum to 1.
    seed: a whole number; the seed of permutations and other draws.
    text, label, label_map, progress: as in `explain`.

    Returns the verdict, the numbers of all tests with intervals, and plots of the first texts. Raises `ModelCannot` for a model
    without such weights, `BadInput` for weights that cannot be used or models of other classes, `UnknownName` and `BadSetting`
    for tests that do not exist or cannot run, `BadFile` for a folder that holds another analysis.

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
    training = (
        () if train is None else tuple(examples_for(first, train, split="train", strange="error", **columns))
    )
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
