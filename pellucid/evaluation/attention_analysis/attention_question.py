"""What tests of attention ask of one model: the texts, the tests with their settings, and what they read."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch

from pellucid.core.explaining.diagnostics import route_record
from pellucid.core.explaining.explaining import Request, explain_batch, method_calls
from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.errors import BadInput, ModelCannot
from pellucid.core.foundation.json_text import json_digest, nan_as_none
from pellucid.core.foundation.packages import __version__
from pellucid.core.foundation.progress import silent
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import Target
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.explanation_record import example_record
from pellucid.core.results.scored import coarser
from pellucid.core.text.example import Example
from pellucid.core.text.units import Spans
from pellucid.evaluation.attention_analysis.plotted_units import plotted
from pellucid.evaluation.attention_analysis.user_weights import UserWeights, with_user_weights
from pellucid.evaluation.shared.attention_corpus import AttentionCorpus, CorpusLine
from pellucid.evaluation.shared.attention_outcome import FEWEST
from pellucid.evaluation.shared.weighed_texts import Ranking, WeighedText

PART = 16  # texts that are tested and written together
PLOTTED = 6  # the first texts, which the page draws
OF_TEXTS = ("weights", "user_weights", "explainer")  # needs of tests that judge text by text
Weigh = Callable[[Model, Sequence[Example]], list[WeighedText]]


@dataclass(frozen=True)
class AttentionQuestion:
    """calls: the tests; is_named: the user has named them. weigh: how the model's texts are read. user_weights: by text."""

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

    def part(self, number: int) -> tuple[Example, ...]:
        """The texts of one part."""
        return self.examples[number * PART : (number + 1) * PART]

    def tested(self, number: int) -> list[dict[str, Any]]:
        """A record of each text of a part, in JSON's terms; they do not depend on other parts."""
        with torch.inference_mode(False), torch.no_grad():
            texts = self.weigh(self.model, self.part(number))
        texts = with_user_weights(texts, self.part(number), self.user_weights)
        rankings = self._rankings(number, texts)
        first = number * PART
        return [
            self._record(replace(text, rankings=own), example, first + place < PLOTTED)
            for place, (text, own, example) in enumerate(zip(texts, rankings, self.part(number), strict=True))
        ]

    def corpus_lines(self, call: Call) -> list[dict[str, Any]]:
        """The lines of a test of the whole corpus, in JSON's terms; of one that cannot run, why, unless the user named it."""
        corpus = AttentionCorpus(self.model, self.examples, self.seed, self.imitator)
        try:
            lines: list[CorpusLine] = call(corpus)
        except (ModelCannot, BadInput) as error:
            if self.is_named:
                raise
            return [{"left_out": str(error)}]
        return [nan_as_none(asdict(one)) for one in lines]

    def facts(self) -> dict[str, object]:
        """Everything that the numbers depend on but the texts, in JSON's terms."""
        own_weights = {name: list(values) for name, values in self.user_weights.items()}
        return {
            "version": __version__,
            "model": self.model.hash,
            **route_record(self.model),
            "tests": {
                call.title: {name: repr(value) for name, value in call.settings.items()}
                for call in self.calls
            },
            "weights": json_digest(own_weights) if own_weights else "the model's own",
            "train": json_digest([example_record(one) for one in self.train]) if self.train else "none",
            "seed": self.seed,
        }

    def _record(self, text: WeighedText, example: Example, is_plotted: bool) -> dict[str, Any]:
        values = {call.title: self._values(call, text) for call in self.of_texts}
        record: dict[str, Any] = {"id": example.id, "units": len(text), "values": values}
        record["weighs"] = f"{text.units.kind}s" if text.units is not None else "units"
        record["right"] = None if text.label is None else text.label == text.predicted
        return record | (
            {"plot": plotted(text, example, self.model.labels)} if is_plotted and len(text) else {}
        )

    def _values(self, call: Call, text: WeighedText) -> list[float | None]:
        """[draw]; empty of a text of fewer than two units, None for nan."""
        if len(text) < FEWEST:
            return []
        return [None if value != value else value for value in call(text).tolist()]

    def _rankings(self, number: int, texts: Sequence[WeighedText]) -> list[dict[str, Ranking]]:
        """Of each text method -> the words' weights and scores, for the methods that tests read."""
        methods = sorted({call.entry.facts["method"] for call in self.of_texts} - {""})
        if not methods:
            return [{} for _ in texts]
        batch = self.model.encode(self.part(number))
        request = Request(
            self.model, method_calls(methods, self.model), Target("predicted", "probability"), self.seed
        )
        explained = explain_batch(request, batch, scheduler_for(self.model), silent)
        return [
            {name: ranking(text, explained[name][place]) for name in methods}
            for place, text in enumerate(texts)
        ]


def ranking(text: WeighedText, explanation: Explanation) -> Ranking:
    """[word] each: the words' weights, a span's shared among its words, and their scores; special tokens are left out."""
    assert text.units is not None and text.numbers is not None  # it was read from a model
    weights = np.zeros(len(text.units))
    np.add.at(weights, text.numbers, text.weights.numpy())
    segments = explanation.example.segments
    words, of_words = coarser(text.units, weights, "word", segments)
    others, scores = coarser(explanation.units, explanation.scores.astype(np.float64), "word", segments)
    assert not isinstance(words, Spans) and words.start == others.start  # both are the words of one text
    content = list(words.content)
    return of_words[content], scores[content]
