"""Transfers: can the extracted spans replace the text? Models are trained and tested on full texts and on spans.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 4. The first letter is what a model is
trained on, the second what it is tested on: F full texts, S spans. The epoch is chosen on the dev part of the same kind
as the train part (corrections.md A0.12). An extractor that extracts the whole text has the accuracy of F-F in all four,
as the paper warns, so read coverage beside the accuracies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap

import numpy as np
import torch

from pellucid.base.errors import BadInput
from pellucid.comparison.case import decoy_units, gold_classes, marked_units
from pellucid.comparison.metrics.plausibility import average_precision, decoy_above, highest_in_reason
from pellucid.results.bootstrap import SHARE, mean_over_runs, paired_difference_over_runs
from pellucid.results.explanation import Explanation
from pellucid.results.extraction import SEPARATOR, Extraction
from pellucid.results.table import Interval
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import class_logits
from pellucid.text.example import Example

Parts = Mapping[str, Sequence[Example]]  # train, dev, test
Cut = Mapping[str, Sequence[Extraction]]  # the same parts, extracted
Predictor = Callable[[Sequence[Example]], Sequence[bool]]  # for each example whether the trained model is right
Trainer = Callable[[Parts, int], Predictor]  # trains on parts["train"], chooses the epoch on parts["dev"], with a seed
WAYS = ("F-F", "F-S", "S-F", "S-S")
Right = Mapping[str, np.ndarray]  # way -> [run example]: whether the prediction was right


@dataclass(frozen=True)
class Transfers:
    """Accuracies of the four ways, 0 to 1, and their differences from F-F, with 95 % intervals over runs and texts.

    coverage: mean share of the test texts' words that was extracted; words: mean number of them.
    """

    accuracy: Mapping[str, Interval]
    over_full: Mapping[str, Interval]
    coverage: float
    words: float


def transfers(full: Parts, cuts: Sequence[Cut], train: Trainer, *, separator: str = SEPARATOR) -> Transfers:
    """Train on full texts and on spans, once for each of `cuts` (its number is the seed), and test both on both."""
    runs = list(starmap(lambda seed, cut: one_run(full, cut, train, seed, separator), enumerate(cuts)))
    return summed_up({way: np.array([run[way] for run in runs]) for way in WAYS}, [cut["test"] for cut in cuts])


def one_run(full: Parts, cut: Cut, train: Trainer, seed: int, separator: str = SEPARATOR) -> dict[str, Sequence[bool]]:
    """For each way whether each test text is classified correctly, with one seed."""
    spans = span_parts(full, cut, separator)
    of_full, of_spans = train(full, seed), train(spans, seed)
    return {
        "F-F": of_full(full["test"]),
        "F-S": of_full(spans["test"]),
        "S-F": of_spans(full["test"]),
        "S-S": of_spans(spans["test"]),
    }


def right_answers(model: Model, examples: Sequence[Example]) -> list[bool]:
    """For each example whether the class that the model predicts is its label."""
    scheduler = scheduler_for(model)
    logits = evaluate_rows(model, scheduler, model.encode(examples).rows)
    predicted = class_logits(logits, model.problem).argmax(-1)
    return (predicted == torch.tensor(gold_classes(examples, model.labels))).tolist()


def span_parts(full: Parts, cut: Cut, separator: str = SEPARATOR) -> dict[str, list[Example]]:
    """The parts with spans in place of texts; raises `BadInput` where the extractions are not of these texts."""
    for part, examples in full.items():
        if [extraction.example.segments for extraction in cut[part]] != [example.segments for example in examples]:
            raise BadInput(f"The extractions of {part} are not of its texts, one each, in order.")
    return {part: [extraction.as_example(separator) for extraction in cut[part]] for part in full}


def summed_up(right: Right, tests: Sequence[Sequence[Extraction]]) -> Transfers:
    """The accuracies over runs. right: of each way; tests: each run's extractions of the test texts."""
    return Transfers(
        {way: mean_over_runs(right[way], SHARE) for way in WAYS},
        {way: paired_difference_over_runs(right[way], right["F-F"]) for way in WAYS[1:]},
        float(np.mean([extraction.coverage for test in tests for extraction in test])),
        float(np.mean([sum(len(span.words) for span in extraction.spans) for test in tests for extraction in test])),
    )


# Whether explanations of planted texts give the highest scores to the reason or to the decoy, text by text.


def reason_precision(explanations: Sequence[Explanation]) -> np.ndarray:
    """[example]: average precision of the reason's words in the ranking of all words; several draws are averaged.

    1 if the reason's words come first, 1 / rank if there is a single one; nan without a marked word.
    """
    return _over_draws(explanations, _precision)


def decoy_first(explanations: Sequence[Explanation]) -> np.ndarray:
    """[example]: 1 if a decoy's word scores above all words of the reason, 0.5 if they are equal, 0 if below.

    nan without a decoy in `meta["distractors"]` or without a marked word; several draws are averaged.
    """
    return _over_draws(explanations, _above)


def heaviest_in_reason(explanations: Sequence[Explanation]) -> np.ndarray:
    """[example]: 1 if the word with the highest score is one of the reason, else 0; equal ones share.

    nan without a marked word; several draws are averaged.
    """
    return _over_draws(explanations, _heaviest)


def _over_draws(explanations: Sequence[Explanation], of_one: Callable[[Explanation], float]) -> np.ndarray:
    return np.array([np.mean([of_one(draw.words()) for draw in _draws(explanation)]) for explanation in explanations])


def _draws(explanation: Explanation) -> list[Explanation]:
    if not explanation.rows:
        return [explanation]
    return [explanation.row(label) for label in explanation.rows[0][1]]


def _precision(words: Explanation) -> float:
    marked = marked_units(words)
    if marked is None or not marked.any():
        return float("nan")
    return average_precision(marked, _scores(words))


def _heaviest(words: Explanation) -> float:
    marked = marked_units(words)
    if marked is None or not marked.any():
        return float("nan")
    return highest_in_reason(marked, _scores(words))


def _above(words: Explanation) -> float:
    reason, decoy = marked_units(words), decoy_units(words)
    if reason is None or decoy is None or not (reason.any() and decoy.any()):
        return float("nan")
    return decoy_above(reason, decoy, _scores(words))


def _scores(words: Explanation) -> np.ndarray:
    return words.scores[~words.units.special]  # type: ignore[union-attr]  # words are never spans
