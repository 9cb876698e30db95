"""What may be edited in a text, and the scores by which an attack orders it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pellucid.attacks.attack_case import Place
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.attacks.explained_answers import ExplainedAnswers
from pellucid.attacks.omission_scores import scores_at, words_of
from pellucid.attacks.questions import ModelAnswers, TextAnswers
from pellucid.base.catalogue import Call, Choice
from pellucid.base.checks import in_syntax, listed, quoted, shortened
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, UnknownName
from pellucid.base.kinds import attack_goals
from pellucid.base.processes import silent
from pellucid.data.load import load_examples
from pellucid.evidence.extract import extract_from, selection_for
from pellucid.models.word_neighbours import WordNeighbours, word_neighbours
from pellucid.results.explanation import Explanation
from pellucid.results.extraction import Extraction, extraction_in
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import ResolvedTarget, Target
from pellucid.run.windows import in_windows
from pellucid.text.example import Example
from pellucid.text.features import has_features
from pellucid.text.ranges import pieces_at

MOST_SPANS = 5


def places_of(
    model: Model, examples: Sequence[Example], unit: str, extractor: str | None, seed: int
) -> list[tuple[tuple[Place, ...], int]]:
    """[text]: (words in reading order, or spans by falling score; the queries that choosing them took).

    Features beside a text are none of its words.
    """
    if unit == "word":
        return [(_of_text(example, words_of(example)), 0) for example in examples]
    name = extractor or ("span_attention" if "span_weights" in model.capabilities else "occlusion")
    selection = selection_for(name, None, None, MOST_SPANS, None)
    (extractions,) = extract_from(model, examples, name, [selection], {}, seed=seed, progress=silent)
    pairs = zip(examples, extractions, strict=True)
    return [(_of_text(example, span_places(extraction)), 1) for example, extraction in pairs]


def _of_text(example: Example, places: tuple[Place, ...]) -> tuple[Place, ...]:
    return tuple(place for place in places if not place.segment) if has_features(example) else places


def span_places(extraction: Extraction) -> tuple[Place, ...]:
    """The spans of an extraction, the heaviest first."""
    spans = sorted(extraction.spans, key=lambda span: -span.score)
    return tuple(Place(span.segment, span.start, span.end, span.text) for span in spans)


def scores_of(
    model: Model,
    example: Example,
    method: Choice,
    places: tuple[Place, ...],
    seed: int,
    target: Target | None = None,
) -> tuple[np.ndarray, int]:
    """([unit] scores of an attribution method, and how many texts the model read for them).

    A word's score is that of the unit of the method that contains its first character; words that share a piece share a
    score. target: None: the probability of the predicted class.
    """
    request = Request(model, method_calls([method], model), target or Target("predicted", "probability"), seed)
    scheduler = scheduler_for(model)
    (explanations,) = explain_batch(request, model.encode([example]), scheduler, silent).values()
    return scores_at(explanations[0], places), 1 + scheduler.rows_run


def stored_scores(results: Sequence[Explanation], examples: Sequence[Example]) -> dict[tuple[str, ...], Explanation]:
    """Texts -> their stored explanation; raises `BadInput` for a text without one, `BadSetting` for scores of several
    methods or rows.
    """
    if len(methods := list(dict.fromkeys(result.method for result in results))) != 1:
        raise BadSetting(
            f"{in_syntax('order_from', '--order-from')} holds scores of {len(methods)} methods "
            f"({listed(methods)}); give those of one, results.where(method=…)."
        )
    by_text = {result.example.segments: result.shown_row() for result in results}
    for example in examples:
        if example.segments not in by_text:
            raise BadInput(
                f"{in_syntax('order_from', '--order-from')} has no scores of the text "
                f"{quoted(shortened(example.text))}; explain the same texts that are attacked."
            )
    return by_text


# Spans that were extracted before, in place of those that an attack would find itself.

StoredSpans = Mapping[tuple[str, ...], tuple[Place, ...]]


def stored_spans(
    source: Sequence[Extraction] | str | Path | None, unit: str, name: str, examples: Sequence[Example]
) -> StoredSpans | None:
    """Texts -> their spans, the heaviest first; None without a source.

    source: extractions, or the file that they were written to. unit: what the attack edits. Raises `BadSetting` for an
    attack on words, `BadInput` for a text without an extraction.
    """
    if source is None:
        return None
    if unit != "span":
        raise BadSetting(
            f"{name} edits words, so {in_syntax('spans_from=', '--spans-from')} changes nothing; leave it out."
        )
    extractions = _read(source) if isinstance(source, str | Path) else source
    by_text = {extraction.example.segments: span_places(extraction) for extraction in extractions}
    for example in examples:
        if example.segments not in by_text:
            raise BadInput(
                f"{in_syntax('spans_from=', '--spans-from')} has no spans of the text "
                f"{quoted(shortened(example.text))}; extract them from the texts that are attacked."
            )
    return by_text


def _read(path: str | Path) -> list[Extraction]:
    return [extraction_in(example) for example in load_examples(path)]


# The goal of an attack by name, beside the model: what does not fit is refused before any work.

DOES = {
    "single_label": "chooses one class",
    "one_logit": "chooses one class",
    "multi_label": "can give a text several labels",
    "regression": "answers with a value",
}
EXAMPLES = {  # setting that a goal cannot do without -> one of its values, as Python and as the command line write it
    "distance": ("0.5", "0.5"),
    "label": ("'toxic'", "toxic"),
}


def goal_call(model: Model, goal: Choice) -> Call:
    """A goal with its settings, or a class of the model; raises `UnknownName`, `BadSetting` or `ModelCannot` where it
    does not fit.
    """
    name = goal if isinstance(goal, str) else goal[0]
    if name not in attack_goals.names() or goal == "class":
        if name not in model.labels:
            raise UnknownName(
                f"No goal is called {name!r}; give "
                f"{listed(goal_name for goal_name in attack_goals.names() if goal_name != 'class')}, or "
                f"a class of the model: {listed(model.labels)}."
            )
        goal = ("class", {"label": name})
    (call,) = attack_goals.calls([goal])
    if model.problem not in call.entry.facts["problems"]:
        raise ModelCannot(
            f"The goal {call.entry.name} does not work with {model.name}, which {DOES[model.problem]}; give "
            f"{_instead(model)}."
        )
    for setting, value in call.settings.items():
        if value is inspect.Parameter.empty:
            raise BadSetting(f"The goal {call.entry.name} needs {setting}: give {_written(name, setting)}.")
    if "label" in call.settings and call.settings["label"] not in model.labels:
        raise UnknownName(f"{model.name} has no label {call.settings['label']!r}; there are {listed(model.labels)}.")
    return call


def answers_for(model: Model, goal: Call, seed: int) -> TextAnswers:
    """How the model is asked for what a goal reads; raises `UnknownName` or `ModelCannot` for a method that cannot
    explain it.
    """
    if goal.entry.facts["reads"] != "explanation":
        return ModelAnswers(model, scheduler_for(model), goal.entry.facts["reads"])
    (method,) = method_calls([str(goal.settings["method"])], model)
    k = goal.settings.get("k", 3)
    assert isinstance(k, int)  # checked where the goal was looked up
    return ExplainedAnswers(model, method, seed, k)


def _instead(model: Model) -> str:
    """Goals that work with a model of this kind."""
    if model.problem == "regression":
        return _written("value", "distance")
    if model.problem == "multi_label":
        return _written("label", "label", (repr(model.labels[0]), model.labels[0]))
    return "flip, explanation or a class"


def _written(goal: str, setting: str, value: tuple[str, str] | None = None) -> str:
    """How a goal with a setting is written."""
    python, command_line = value or EXAMPLES.get(setting, ("…", "…"))
    return in_syntax(
        f"goal=({goal!r}, {{{setting!r}: {python}}})", f"--goal {goal} --goal-set {setting}={command_line}"
    )


# What a replacement should gain by the gradient alone: the first-order change of the answer when one word's vector
# becomes another's.
#
# Ebrahimi et al. (2018), "HotFlip", section 3, for words: the gradient at the word's pieces times the difference of
# both vectors.


def first_order_gains(
    model: Model, example: Example, label: str, places: Sequence[Place], dictionaries: Dictionaries
) -> Callable[[int, str], float]:
    """(unit, replacement) -> the rise of a class's logit to first order; minus infinity where no vector is known.

    label: the class. A run of the model with gradients for each window of the text; a unit's gradient is the sum over
    them.
    """
    class_index = model.labels.index(label)
    target = ResolvedTarget((class_index,), None, "logit", model.problem)
    sums: dict[int, Tensor] = {}
    unit_vectors: dict[int, Tensor] = {}
    windows, _ = in_windows(model.encode([example]))
    for window in range(len(windows)):
        run = ForwardPass(model, windows.select([window]), scheduler_for(model))
        gradient, vectors, units = run.gradient(target)[0], run.embeddings[0], run.batch.units[0]
        for unit, place in enumerate(places):
            pieces = pieces_at(units, place)
            if pieces:
                sums[unit] = sums.get(unit, 0.0) + gradient[pieces].float().sum(0)
                unit_vectors[unit] = vectors[pieces].float().mean(0)

    def gain(unit: int, replacement: str) -> float:
        vector = dictionaries.vector(replacement)
        if vector is None or unit not in unit_vectors:
            return float("-inf")
        return float((vector - unit_vectors[unit]) @ sums[unit])

    return gain


# What a model's language head would write in the place of each word, from the states of the text with that word
# masked.

MOST, AT_ONCE = 50, 16


def masked_fillers(
    model: Model, example: Example, places: Sequence[Place], table: WordNeighbours | None = None
) -> list[list[str]]:
    """For each place the fifty likeliest words of one piece, likeliest first; none where no window has the place.

    table: the words of the model's vocabulary, where they were read before. All pieces of a word are masked, and the
    head is asked at the first. Raises `ModelCannot` for a model without a mask token.
    """
    head, mask, table = model.language_head, model.blank_ids()["mask"], table or word_neighbours(model)
    if head is None or mask is None or table is None:
        raise ModelCannot(f"{model.name} has no mask token or no language head; use the candidates synonyms.")
    words, ids = table.words
    blank = model.embed(torch.tensor(mask, device=model.device)).detach()
    fillers: list[list[str]] = [[] for _ in places]
    windows, _ = in_windows(model.encode([example]))
    for window in range(len(windows)):
        run = ForwardPass(model, windows.select([window]), scheduler_for(model))
        pieces = {unit: pieces_at(run.batch.units[0], place) for unit, place in enumerate(places)}
        open_units = [unit for unit, of_unit in pieces.items() if of_unit and not fillers[unit]]
        for first in range(0, len(open_units), AT_ONCE):
            some = open_units[first : first + AT_ONCE]
            points = run.embeddings.repeat(len(some), 1, 1)
            for line, unit in zip(points, some, strict=True):
                line[pieces[unit]] = blank
            states = run.of([0] * len(some), points).state(model.n_layers)
            at = torch.stack([line[pieces[unit][0]] for line, unit in zip(states, some, strict=True)])
            chances = head.log_probabilities(at, model.n_layers, ids)
            for unit, best in zip(some, chances.topk(min(MOST, len(ids))).indices.tolist(), strict=True):
                fillers[unit] = [words[word_index] for word_index in best]
    return fillers
