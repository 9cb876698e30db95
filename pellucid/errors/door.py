"""The door `error_analysis`: how often the evidence shows a pattern where the model is wrong, and where it is right."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from pellucid.attribution.span_attention import is_spread_out
from pellucid.base.catalogue import Choice
from pellucid.base.checks import listed
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.errors.record import ErrorAnalysis, LearnedCues, PatternCount, cues_from, words_of
from pellucid.evidence.spans import span_weights
from pellucid.explaining.explain import explain_all
from pellucid.explaining.inputs.examples import examples_for, fitting
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource, default_method
from pellucid.explaining.read import stored_or_read
from pellucid.explaining.saved import SavedExplanations, saved_explanations, texts_of
from pellucid.results.bootstrap import difference, share
from pellucid.results.explanation import Explanation, Scored
from pellucid.results.heaviest_spans import NOT_COUNTED, HeaviestSpans, evidence_parts, heaviest_spans
from pellucid.results.results import StoredExplanations, StoredSelection, selection_of
from pellucid.results.shortcuts import NOTHING, Shortcuts
from pellucid.run.model import Model
from pellucid.text.example import Example, seen_caveats
from pellucid.text.label_map import LabelMap
from pellucid.text.units import text_units
from pellucid.words.shortcuts import FEWEST, PASSES, shortcuts

# Patterns that the evidence of a text may show: each is a rule over the evidence, the text around it and cue words.
#
# The evidence is the heaviest span of a self-explaining model, or the words that an attribution method scores
# highest.
#
# After the kinds of errors in Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", Table 6, which
# gives examples of them. Here each is a rule, so that it can be counted. The words are English.

CONTRASTS = frozenset(
    "but although though however yet while whereas despite nevertheless nonetheless notwithstanding".split()
)
NEGATIONS = frozenset(
    "not no never none nothing nobody nowhere neither nor cannot without hardly barely scarcely rarely seldom".split()
)
NEAR = 2  # a negation belongs to a word if it is among so many words before it: "not a good"


@dataclass(frozen=True)
class Evidence:
    """words: the words, in lower case, of the text that contains the evidence. indices: which of them are evidence.

    own_cues, foreign: the cue words of the text's label, and of all other classes.
    """

    words: tuple[str, ...]
    indices: tuple[int, ...]
    own_cues: Collection[str]
    foreign: Collection[str]

    @property
    def inside(self) -> tuple[str, ...]:
        """The words of the evidence."""
        return tuple(self.words[index] for index in self.indices)

    @property
    def outside(self) -> tuple[str, ...]:
        """The text's other words."""
        return tuple(word for index, word in enumerate(self.words) if index not in self.indices)


def evidence_of(explanation: Explanation, cues: Mapping[str, Collection[str]]) -> Evidence | None:
    """The evidence of a labelled text; cues: class -> words. None where no part has a positive score for the answer.

    Of a pair, the text that contains the strongest part counts.
    """
    label, parts = explanation.example.label, evidence_parts(explanation)
    if not parts:
        return None
    text = explanation.example.segments[parts[0].segment]
    indices = {index for part in parts if part.segment == parts[0].segment for index in _words_under(text, part)}
    own_cues = cues.get(label or "", ())
    foreign = {word for name, words in cues.items() if name != label for word in words}
    return Evidence(tuple(words_of(text)), tuple(sorted(indices)), own_cues, foreign)


def _words_under(text: str, part: Scored) -> list[int]:
    """The words that a part overlaps; a span of pieces may begin inside a word."""
    words = enumerate(text_units(text, "word"))
    return [index for index, (start, end) in words if start < part.end and end > part.start]


def contrast_outside(evidence: Evidence) -> bool:
    """A contrast word stands in the text, outside the evidence."""
    return any(word in CONTRASTS for word in evidence.outside)


def negation_cut_off(evidence: Evidence) -> bool:
    """One of the two words before a word of the evidence negates, and is not part of the evidence."""
    before = {index - distance for index in evidence.indices for distance in range(1, NEAR + 1)}
    words = (evidence.words[index] for index in before.difference(evidence.indices) if index >= 0)
    return any(word in NEGATIONS or word.endswith("n't") for word in words)


def cue_of_another_class(evidence: Evidence) -> bool:
    """The evidence holds a cue word of a class other than the label, and none of the label's."""
    return any(word in evidence.foreign for word in evidence.inside) and not any(
        word in evidence.own_cues for word in evidence.inside
    )


def no_cue(evidence: Evidence) -> bool:
    """The evidence holds no cue word of any class."""
    return not any(word in evidence.foreign or word in evidence.own_cues for word in evidence.inside)


NEED_CUES = frozenset({cue_of_another_class, no_cue})
PATTERNS: tuple[Callable[[Evidence], bool], ...] = (
    contrast_outside,
    negation_cut_off,
    cue_of_another_class,
    no_cue,
)


OTHER, OTHER_MEANING = "none_of_these", "The evidence shows none of the patterns."
Pattern = Callable[[Evidence], bool]


def grouped(
    explanations: Sequence[Explanation],
    cues: LearnedCues,
    caveats: tuple[str, ...] = (),
    heaviest: HeaviestSpans = NOT_COUNTED,
) -> ErrorAnalysis:
    """Count the patterns in explanations of labelled texts by one method.

    A text counts for every pattern that it shows, so shares may sum to more than 1. It is listed under the first of
    them in the order contrast_outside, negation_cut_off, cue_of_another_class, no_cue, the surest mistakes first.
    Raises `BadInput` for a text whose label is not a class of the model. cues: without any, patterns that need them are
    left out. caveats, heaviest: go into the result unchanged; heaviest counts what the spans of a self-explaining model
    are.
    """
    counted = [pattern for pattern in PATTERNS if cues.exist or pattern not in NEED_CUES]
    names = [*map(_name, counted), OTHER]
    shown, is_right, doubts = _shown(explanations, cues, counted)
    shares = [_of_pattern(index, shown, is_right) for index in range(len(names))]
    meanings = _meanings(counted)
    counts = tuple(_count(name, meanings[name], *shares[index]) for index, name in enumerate(names))
    first = np.argmax(shown, axis=1)
    texts = {}
    for index, name in enumerate(names):
        places = np.flatnonzero(~is_right & (first == index))
        texts[name] = selection_of(explanations, places[np.argsort(doubts[places], kind="stable")])
    method = explanations[0].method if len(explanations) else ""
    wrong = int((~is_right).sum())
    return ErrorAnalysis(
        wrong,
        len(is_right) - wrong,
        counts,
        texts,
        cues.by_class,
        (*cues.caveats, *caveats),
        heaviest,
        method,
    )


def _shown(
    explanations: Sequence[Explanation], cues: LearnedCues, patterns: Sequence[Pattern]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[text pattern], whether it shows each, and last none; [text], whether its answer is right, and 1 - its
    probability.
    """
    shown = np.zeros((len(explanations), len(patterns) + 1), dtype=bool)
    is_right, doubts = np.zeros(len(explanations), dtype=bool), np.zeros(len(explanations))
    for place, explanation in enumerate(explanations):
        _check_label(explanation)
        evidence = evidence_of(explanation, cues.of_example(explanation.example))
        shown[place, :-1] = [evidence is not None and pattern(evidence) for pattern in patterns]
        is_right[place] = explanation.example.label == explanation.prediction.label
        doubts[place] = _doubt(explanation)
    shown[:, -1] = ~shown.any(axis=1)
    return shown, is_right, doubts


def _of_pattern(index: int, shown: np.ndarray, is_right: np.ndarray) -> tuple[int, int, int, int]:
    """How many wrong and right answers show a pattern, and how many there are."""
    sides = ~is_right, is_right
    among_wrong, among_right = (int(shown[side, index].sum()) for side in sides)
    return among_wrong, among_right, int(sides[0].sum()), int(sides[1].sum())


def _doubt(explanation: Explanation) -> float:
    """1 - the probability of the answer; the largest where the model gives no probabilities."""
    probability = explanation.prediction.probability
    return 1 - probability if probability == probability else math.inf


def _check_label(explanation: Explanation) -> None:
    example, labels = explanation.example, explanation.prediction.labels
    if example.label not in labels:
        raise BadInput(
            f"Example {example.id!r} has the label {example.label!r}, which is no class of the model; give texts "
            f"labelled with {', '.join(labels)}."
        )


def _meanings(patterns: Sequence[Pattern]) -> dict[str, str]:
    return {_name(pattern): inspect.getdoc(pattern) or "" for pattern in patterns} | {OTHER: OTHER_MEANING}


def _name(pattern: Pattern) -> str:
    return pattern.__name__


def _count(name: str, meaning: str, among_wrong: int, among_right: int, wrong: int, right: int) -> PatternCount:
    share_wrong, share_right = share(among_wrong, wrong), share(among_right, right)
    over = difference(share_wrong, share_right)
    return PatternCount(name, meaning, among_wrong, among_right, share_wrong, share_right, over)


# The door `error_analysis`: the evidence of a model's answers where they are wrong, against where they are right.

READ_ALONE = 100  # texts whose heaviest span is read alone: enough to estimate a share
AT_FIRST = 1024  # texts of a run whose labels and scores are looked at before the work
LOOKED_AT = 10_000  # texts of a run, about 60 MB, of which it is asked what decides by itself


def error_analysis(
    model: ModelSource,
    examples: Data | None = None,
    *,
    explained: Sequence[Explanation] | str | Path | None = None,
    train: Data | None = None,
    method: Choice | None = None,
    min_count: int = 5,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    shortcut_passes: int = PASSES,
    skip_bad_rows: bool = False,
    progress: bool | None = None,
) -> ErrorAnalysis:
    """Group a model's mistakes by their evidence, and count each group against the right predictions.

    The evidence of an answer is what speaks most for it: the heaviest span, or the three words with the highest scores.

    model: from `load`, `train` or another door; it gives each text one label.
    examples: labelled texts to judge: examples, a data frame, a `datasets.Dataset`, the name or path of data.
    explained: explanations of these texts by this model, from `explain`, a `Run`, or the file or folder of them, which
        are then not computed again. Without examples, its labelled texts are judged.
    train: other labelled texts, in any of these forms, from which the cue words of each class are learned. None: the
        cue words of each text are learned from the other half of the examples.
    method: whose scores are the evidence: a name, or (name, settings). None: a self-explaining model's own weights,
        else integrated_gradients, else occlusion. Of saved explanations: the method's title; None: the only one.
    min_count: in how many train texts of a class a cue word must occur.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    shortcut_passes: edited texts that the model answers, at most, to say whether one word decides; 0: not asked.
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns how many answers are wrong and right, and how many of each show each pattern; `report` makes a page of it.
    Raises `ModelCannot` for a model with several labels a text or a value, or one that the method does not work with;
    `UnknownName` for a method that does not exist; `BadSetting` for one that gives a word several scores; `BadInput`
    for texts, train texts included, whose label is missing or is not one of the model's classes.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> reviews = [("A good film.", "positive"), ("Not good at all.", "negative"), ("Dull.", "negative")]
    >>> analysis = pellucid.error_analysis(model, reviews)
    >>> analysis.wrong, analysis.right
    (1, 2)
    >>> [pattern.name for pattern in analysis.patterns if pattern.among_wrong]
    ['negation_cut_off']
    """
    model = model_from(model)
    if model.problem == "multi_label":
        raise ModelCannot(
            f"{model.name} can give a text several labels; error analysis counts right and wrong answers of one label "
            f"a text. Give a single-label model."
        )
    if model.problem == "regression":
        raise ModelCannot(f"{model.name} gives a value, which is not right or wrong; give a model with classes.")
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map, "skip_bad_rows": skip_bad_rows}
    if train is not None:
        train = examples_for(model, train, names_data=True, strange="error", split="train", **columns)
    source = stored_or_read(explained) if isinstance(explained, str | Path) else explained
    if isinstance(source, StoredExplanations) and examples is None:
        return analysis_of_run(
            model,
            source,
            train,
            title=_title(method),
            min_count=min_count,
            shortcut_passes=shortcut_passes,
            progress=progress,
        )
    saved = None if source is None else saved_explanations(source, model)
    examples = examples_for(model, texts_of(saved, examples), names_data=True, strange="error", **columns)
    _check_labelled(examples)
    cues = cues_from(train, examples, min_count)
    if saved is not None:
        explanations: Sequence[Explanation] = saved.explanations(saved.title(_title(method)), examples)
        _check_rows(explanations)
    elif (method := method or default_method(model)) != "span_attention":
        _check_rows(explain_all(model, examples[:1], [method], progress=False).explanations)
        explanations = explain_all(model, examples, [method], progress=progress).explanations
    else:
        explanations = span_weights(model, examples, progress=progress)
    return _analysed(model, examples, explanations, cues, shortcut_passes, progress)


def analysis_of_run(
    model: Model,
    run: StoredExplanations,
    train: Iterable[Example] | None,
    *,
    title: str | None = None,
    rows: np.ndarray | None = None,
    min_count: int,
    shortcut_passes: int,
    progress: bool | None = None,
) -> ErrorAnalysis:
    """The analysis of a run over a corpus by this model, read once for its texts and once for its scores; memory holds
    a few of both.

    title: of the method. rows: the places of the explanations that are judged; None: those of different texts. train,
    min_count, shortcut_passes, progress: as of `error_analysis`.
    """
    saved_explanations(run[:1], model)  # raises for another model's
    of_method = run.by_method[SavedExplanations({name: {} for name in run.by_method}).title(title)]
    places = of_method.distinct if rows is None else rows
    explanations, examples = StoredSelection(of_method, places), StoredSelection(of_method.texts, places)
    fitting(model, examples[:AT_FIRST], None, "error")
    _check_labelled(examples)
    _check_rows(explanations[:AT_FIRST])
    cues = cues_from(train, examples, min_count)
    return _analysed(model, examples, explanations, cues, shortcut_passes, progress)


def _analysed(
    model: Model,
    examples: Sequence[Example],
    explanations: Sequence[Explanation],
    cues: LearnedCues,
    shortcut_passes: int,
    progress: bool | None,
) -> ErrorAnalysis:
    caveats, heaviest = seen_caveats(model, examples), NOT_COUNTED
    if explanations[0].method == "span_attention":
        heaviest = _heaviest(model, examples, explanations, progress)
        caveats = (*caveats, *_spread_out(explanations), *heaviest.cautions())
    analysis = grouped(explanations, cues, caveats, heaviest)
    return replace(analysis, shortcuts=_shortcuts(model, explanations, shortcut_passes, progress))


def _shortcuts(model: Model, explanations: Sequence[Explanation], passes: int, progress: bool | None) -> Shortcuts:
    """What decides by itself; nothing is asked of few texts, and a run is asked about some of its texts."""
    if not passes or len(explanations) < 2 * FEWEST:
        return NOTHING
    if not isinstance(explanations, StoredSelection) or len(explanations) <= LOOKED_AT:
        return shortcuts(model, tuple(explanations), passes=passes, progress=progress)
    drawn = explanations.at(sorted(Random(0).sample(range(len(explanations)), LOOKED_AT)))
    of_some = shortcuts(model, tuple(drawn), passes=passes, progress=progress)
    caveat = f"Of {len(explanations):,} texts {LOOKED_AT:,} were drawn to look for what decides."
    return replace(of_some, caveats=(*of_some.caveats, caveat))


def _title(method: Choice | None) -> str | None:
    return method if method is None or isinstance(method, str) else method[0]


def _check_labelled(examples: Sequence[Example]) -> None:
    """Raise `BadInput`, before the work, where texts have no label."""
    missing = [example.id for example in examples if example.label is None]
    if missing:
        raise BadInput(
            f"{len(missing):,} of {len(examples):,} texts have no label ({listed(missing)}), so their answers are not "
            f"right or wrong; leave them out."
        )


def _check_rows(explanations: Sequence[Explanation]) -> None:
    """Raise `BadSetting` for a method of whose scores no single one is the evidence."""
    for explanation in explanations:
        for kind, labels in explanation.rows:
            if len(labels) == 1:
                continue
            raise BadSetting(
                f"{explanation.method} gives {len(labels)} scores a word, one for each {kind}, so it names no "
                f"evidence; choose a method with one."
            )


def _heaviest(
    model: Model, examples: Sequence[Example], explanations: Sequence[Explanation], progress: bool | None
) -> HeaviestSpans:
    """Counts over the heaviest spans of all texts; those of the first texts are also read alone."""
    first = span_weights(model, examples[:READ_ALONE], progress=progress, random_spans=5)
    read = heaviest_spans(first)
    return replace(heaviest_spans(explanations), read=read.read, alone=read.alone, random=read.random)


def _spread_out(explanations: Sequence[Explanation]) -> tuple[str, ...]:
    """One sentence where the heaviest span decides in fewer than half of the texts; none otherwise."""
    spread = sum(
        is_spread_out(explanation.diagnostics["effective_spans"], len(explanation.units))
        for explanation in explanations
    )
    if 2 * spread <= len(explanations):
        return ()
    return (
        f"In {spread:,} of {len(explanations):,} texts the weight is spread over half of all spans or more, so no "
        f"single span decided them; their heaviest span says little.",
    )
