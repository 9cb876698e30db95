"""What a two-class model of attention answers with its own weights and with others, and what its weights and units are
like.

Tutek & Šnajder (2020), "Staying True to Your Word", sections 4.1 and 5. All of it follows from one forward pass.
"""

from collections import Counter
from collections.abc import Sequence

import torch

from pellucid.attention.weighed_texts import WeighedText, right_answers, weighed_texts
from pellucid.attention.weight_tests.states import mean_unit_probability
from pellucid.base.kinds import attention_tests
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.text.units import coarsen
from studies.shared.units import Numbers

LISTED = 10  # words that are heaviest most often
WAYS = ("uniform", "permuted")  # tests of attention, whose draws are all saved


def attention_answers(model: Model, examples: Sequence[Example]) -> Numbers:
    """Of labelled texts, one character or number a text.

    labels: "0" or "1". own: a list with the answers under the model's own weights; uniform, permuted: likewise, one
        string a draw.
    per_unit: the mean probability that a unit's state alone gives the predicted class (table 3, corrections.md A4.10).
    units: how many the text has; effective: how many share the weight, 1 / sum of alpha squared. heaviest: the words
    that most often have the largest weight, with their counts.
    """
    texts = weighed_texts(model, examples)
    return {
        "labels": "".join(str(text.label) for text in texts),
        "own": [_digits([text.predicted for text in texts])],
        **{way: _answers(way, texts) for way in WAYS},
        "per_unit": [round(float(mean_unit_probability(text)), 5) for text in texts],
        "units": [len(text) for text in texts],
        "effective": [round(float(1 / text.weights.square().sum()), 3) for text in texts],
        "heaviest": Counter(heaviest_words(model, examples, texts)).most_common(LISTED),
    }


def heaviest_words(model: Model, examples: Sequence[Example], texts: Sequence[WeighedText]) -> list[str]:
    """The word with the largest weight of each text, in lower case."""
    words = []
    for pieces, example, text in zip(model.encode(examples).units, examples, texts, strict=True):
        units = coarsen(pieces, "word", example.segments)[0]
        number = units.content[int(text.weights.argmax())]
        segment = example.segments[units.segment[number]]
        words.append(segment[units.start[number] : units.end[number]].lower())
    return words


def _answers(way: str, texts: Sequence[WeighedText]) -> list[str]:
    """The answers under the weights of a test of attention, a string a draw.

    The test gives right under the own weights less right under others; of two classes this says which was answered.
    """
    test = attention_tests.get(way)
    own = torch.stack([right_answers(text, text.weights[None]) for text in texts])
    right = own - torch.stack([test.make(text, **test.settings({})) for text in texts])
    labels = torch.tensor([[text.label] for text in texts])
    answers = torch.where(right > 0.5, labels, 1 - labels)
    return [_digits(draw) for draw in answers.T.tolist()]


def _digits(answers: Sequence[int]) -> str:
    return "".join(map(str, answers))
