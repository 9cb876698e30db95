"""What tests of attention ask of one model: the texts, the tests with their settings, and what they read."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch

from pellucid.attention.weighed_texts import FEWEST, AttentionCorpus, CorpusLine, Ranking, WeighedText
from pellucid.base.catalogue import Call
from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.base.json_text import json_digest, nan_as_none
from pellucid.base.packages import __version__
from pellucid.base.processes import silent
from pellucid.explaining.views.opening import telling_texts
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import example_record
from pellucid.results.unit_scores import coarser
from pellucid.run.diagnostics import route_record
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.predicting import predictions
from pellucid.run.target import Target
from pellucid.text.example import Example
from pellucid.text.units import Spans, united_reading

# Weights that a user gives for texts, checked against the units of a model.

UserWeights = Mapping[str, Sequence[float]]  # the text's id -> a weight for each unit, or each part of spans
ROUNDED = 1e-3  # how far from 1 a sum of written numbers may be


def check_user_weights(by_text: UserWeights, examples: Sequence[Example]) -> None:
    """Raise `BadInput` for weights that are negative or do not sum to 1, or where no text has any."""
    for name, weights in by_text.items():
        if any(not math.isfinite(value) for value in weights):
            raise BadInput(f"The weights of text {quoted(name)} are not all numbers; give one number for each unit.")
        if negative := [value for value in weights if value < 0]:
            raise BadInput(f"Text {quoted(name)} has a negative weight, {negative[0]:g}; give weights of 0 or more.")
        if abs(sum(weights) - 1) > ROUNDED:
            raise BadInput(
                f"The weights of text {quoted(name)} sum to {sum(weights):.4g}; give weights whose sum is 1."
            )
    if by_text and not any(example.id in by_text for example in examples):
        raise BadInput(
            f"Weights came for texts such as {quoted(next(iter(by_text)))}, and none of them is among the texts, which "
            f"begin with {quoted(examples[0].id)}; give the ids of the texts."
        )


def with_user_weights(
    texts: Sequence[WeighedText], examples: Sequence[Example], by_text: UserWeights
) -> list[WeighedText]:
    """The texts with the weights that were given for them; raises `BadInput` where a text has another number of
    units.
    """
    pairs = zip(texts, examples, strict=True)
    return [
        replace(text, user_weights=_of_text(text, str(example.id), by_text[str(example.id)]))
        if example.id in by_text
        else text
        for text, example in pairs
    ]


def _of_text(text: WeighedText, name: str, weights: Sequence[float]) -> torch.Tensor:
    """[unit]: the given weights, in windows shared equally among the places of a unit."""
    units, numbers = text.units, text.numbers
    assert units is not None and numbers is not None  # it was read from a model
    parts = units.parts if isinstance(units, Spans) else units
    if len(weights) != len(parts.content):
        raise BadInput(
            f"Text {quoted(name)} has {len(parts.content)} {parts.kind}s, and {len(weights)} weights came for it; give "
            f"one for each."
        )
    whole = np.zeros(len(units))
    if isinstance(units, Spans):
        alone = np.flatnonzero(units.first == units.last)
        of_part = dict(zip(units.first[alone].tolist(), alone.tolist(), strict=True))
        for part, weight in zip(parts.content, weights, strict=True):
            if part not in of_part and weight > 0:
                raise BadInput(
                    f"Text {quoted(name)} has no span of {quoted(parts.labels[part])} alone, which a weight came for; "
                    f"give it 0."
                )
            if part in of_part:
                whole[of_part[part]] = weight
    else:
        whole[list(units.content)] = weights
    places = np.bincount(numbers, minlength=len(units))
    shared = whole[numbers] / places[numbers]
    return torch.from_numpy(shared / shared.sum())


PART = 16  # texts that are tested and written together
PLOTTED = 6  # the first texts, which the page draws
OF_TEXTS = ("weights", "user_weights", "explainer")  # needs of tests that judge text by text
Weigh = Callable[[Model, Sequence[Example]], list[WeighedText]]


@dataclass(frozen=True)
class AttentionQuestion:
    """calls: the tests; is_named: the user has named them. weigh: how the model's texts are read. user_weights: by
    text.
    """

    model: Model
    examples: tuple[Example, ...]
    calls: tuple[Call, ...]
    weigh: Weigh
    seed: int = 0
    user_weights: UserWeights = field(default_factory=dict)
    train: tuple[Example, ...] = ()
    is_named: bool = False
    imitator: Callable[[float], Model] | None = None

    @property
    def n_parts(self) -> int:
        """How many parts the texts are cut into."""
        return -(-len(self.examples) // PART)

    @property
    def of_texts(self) -> tuple[Call, ...]:
        """The tests that judge text by text."""
        return tuple(call for call in self.calls if call.entry.facts["needs"] in OF_TEXTS)

    @property
    def of_corpus(self) -> tuple[Call, ...]:
        """The tests that judge the whole corpus at once."""
        return tuple(call for call in self.calls if call.entry.facts["needs"] not in OF_TEXTS)

    def part(self, index: int) -> tuple[Example, ...]:
        """The texts of one part."""
        return self.examples[index * PART : (index + 1) * PART]

    def tested(self, part_index: int) -> list[dict[str, Any]]:
        """A record of each text of a part, in JSON's terms; they do not depend on other parts."""
        with torch.inference_mode(False), torch.no_grad():
            texts = self.weigh(self.model, self.part(part_index))
        texts = with_user_weights(texts, self.part(part_index), self.user_weights)
        rankings = self._rankings(part_index, texts)
        first = part_index * PART
        return [
            self._record(replace(text, rankings=text_rankings), example, first + place < PLOTTED)
            for place, (text, text_rankings, example) in enumerate(
                zip(texts, rankings, self.part(part_index), strict=True)
            )
        ]

    def corpus_lines(self, call: Call) -> list[dict[str, Any]]:
        """The lines of a test of the whole corpus, in JSON's terms; of one that cannot run, why, unless the user named
        it.
        """
        corpus = AttentionCorpus(self.model, self.examples, self.seed, self.imitator)
        try:
            lines: list[CorpusLine] = call(corpus)
        except (ModelCannot, BadInput) as error:
            if self.is_named:
                raise
            return [{"left_out": str(error)}]
        return [nan_as_none(asdict(line)) for line in lines]

    def facts(self) -> dict[str, object]:
        """Everything that the numbers depend on but the texts, in JSON's terms."""
        own_weights = {name: list(values) for name, values in self.user_weights.items()}
        return {
            "version": __version__,
            "model": self.model.hash,
            **route_record(self.model),
            "tests": {call.title: {name: repr(value) for name, value in call.settings.items()} for call in self.calls},
            "weights": json_digest(own_weights) if own_weights else "the model's own",
            "train": json_digest([example_record(example) for example in self.train]) if self.train else "none",
            "seed": self.seed,
        }

    def _record(self, text: WeighedText, example: Example, is_plotted: bool) -> dict[str, Any]:
        values = {call.title: self._values(call, text) for call in self.of_texts}
        record: dict[str, Any] = {"id": example.id, "units": len(text), "values": values}
        record["weighs"] = f"{text.units.kind}s" if text.units is not None else "units"
        record["right"] = None if text.label is None else text.label == text.predicted
        return record | ({"plot": plotted(text, example, self.model.labels)} if is_plotted and len(text) else {})

    def _values(self, call: Call, text: WeighedText) -> list[float | None]:
        """[draw]; empty of a text of fewer than two units, None for nan."""
        if len(text) < FEWEST:
            return []
        return [None if value != value else value for value in call(text).tolist()]

    def _rankings(self, part_index: int, texts: Sequence[WeighedText]) -> list[dict[str, Ranking]]:
        """Of each text method -> the words' weights and scores, for the methods that tests read."""
        methods = sorted({call.entry.facts["method"] for call in self.of_texts} - {""})
        if not methods:
            return [{} for _ in texts]
        batch = self.model.encode(self.part(part_index))
        request = Request(self.model, method_calls(methods, self.model), Target("predicted", "probability"), self.seed)
        explained = explain_batch(request, batch, scheduler_for(self.model), silent)
        return [{name: ranking(text, explained[name][place]) for name in methods} for place, text in enumerate(texts)]


def ranking(text: WeighedText, explanation: Explanation) -> Ranking:
    """[word] each: the words' weights, a span's shared among its words, and their scores; special tokens are left
    out.
    """
    assert text.units is not None and text.numbers is not None  # it was read from a model
    weights = np.zeros(len(text.units))
    np.add.at(weights, text.numbers, text.weights.numpy())
    segments = explanation.example.segments
    words, of_words = coarser(text.units, weights, "word", segments)
    others, scores = coarser(explanation.units, explanation.scores.astype(np.float64), "word", segments)
    assert not isinstance(words, Spans) and words.start == others.start  # both are the words of one text
    content = list(words.content)
    return of_words[content], scores[content]


# Three texts in the colours of the model's own weights.


def coloured_texts(model: Model, examples: Sequence[Example], seed: int = 0) -> list[Explanation]:
    """The clearest right answer, the surest mistake and the least certain answer, with the weights that tests change.

    Of a transformer those of its last layer, the first of the readings.
    """
    texts = telling_texts(predictions(model, examples), examples)
    of_units = {"unit_weights": "unit_attention", "span_weights": "span_attention"}
    method = next((name for weights, name in of_units.items() if weights in model.capabilities), "attention")
    request = Request(model, method_calls([method], model), Target("predicted"), seed)
    (explained,) = explain_batch(request, model.encode(texts), scheduler_for(model), silent).values()
    return explained


# One text unit by unit, for a plot: what the model would answer by the state of each unit alone.
#
# Tutek & Šnajder (2020), "Staying True to Your Word", section 5.3 and figures 2 to 7.

MOST_UNITS = 60  # of a plot: more cannot be read


def plotted(text: WeighedText, example: Example, classes: Sequence[str]) -> dict[str, Any]:
    """The fields of `UnitPlot`; of spans those of one part alone, with each part's share of all weights.

    Of a long text the first units; in windows a unit has the mean of its places.
    """
    units, numbers = text.units, text.numbers
    assert units is not None and numbers is not None  # it was read from a model
    weights = np.zeros(len(units))
    np.add.at(weights, numbers, text.weights.numpy())
    if isinstance(units, Spans):
        parts, of_unit = units.parts, np.where(units.first == units.last, units.first, -1)
        weights = units.share(weights)
    else:
        parts, of_unit = units, np.arange(len(units))
    probabilities = text.unit_logits.softmax(-1).numpy()
    sums, places = np.zeros((len(parts), len(classes))), np.zeros(len(parts))
    shown = of_unit[numbers] >= 0
    np.add.at(sums, of_unit[numbers][shown], probabilities[shown])
    np.add.at(places, of_unit[numbers][shown], 1)
    drawn = [part for part in parts.content if places[part]][:MOST_UNITS]
    return {
        "text": str(example.id),
        "words": [parts.labels[part] for part in drawn],
        "weights": [min(1.0, float(weights[part])) for part in drawn],
        "probabilities": [(sums[part] / places[part]).tolist() for part in drawn],
        "own": text.logits(text.weights[None])[0].softmax(-1).tolist(),
        "classes": list(classes),
        "unread": [place for place, part in enumerate(drawn) if united_reading(parts, [part]) == "none"],
    }
