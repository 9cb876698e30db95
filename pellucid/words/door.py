"""The door `class_words`: which words speak for and against each class?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pellucid.base.checks import each, one_of
from pellucid.base.errors import BadSetting
from pellucid.results.class_words import MIN_TEXTS, ClassWords
from pellucid.results.class_words import class_words as counted_words
from pellucid.results.explanation import Explanation
from pellucid.results.word_lists import (
    Counted,
    DocumentFrequencies,
    document_frequencies,
    word_forms,
)
from pellucid.run.model import Model
from pellucid.text.example import Example

if TYPE_CHECKING:
    from pellucid.explaining.inputs.readings import Data, ModelSource

AT_ONCE = 256  # texts that are cut into tokens together


def class_words(
    results: Sequence[Explanation],
    *,
    min_texts: int = MIN_TEXTS,
    idf: Data | None = None,
    unit: Counted = "word",
    model: ModelSource | None = None,
) -> ClassWords:
    """The words that speak for and against each class, by their mean scores over many texts.

    results: from `explain` or `read`, of one method; those of a `Run` are read one after the other.
    min_texts: words that occur in fewer texts are left out of the means; 3 unless another number is given.
    idf: other texts, which say how rare each word is: a list, a table, a `pathlib.Path`. With them the result has
        `lists`: every word's scores added up over the texts of a class, times ln((1 + N) / (1 + df)) + 1, where df of
        the N texts have the word; and how far the lists of classes overlap, beside random lists and lists of rare
        words. None: no lists.
    unit: what the lists count: "word", or "piece", the tokens of `model`.
    model: the model that was explained, to cut the texts of `idf` into its tokens; for unit="piece" alone.

    Returns for each explained class, by default the class that the model predicts, its words with mean, interval,
    occurrences and texts. Raises `BadSetting` where several methods are mixed, for another unit, and for pieces without
    a model; `BadInput` where there are no texts in `idf`. The lists are those of Hou and Castañón (2023), "Decoding
    Layer Saliency in Language Transformers", section 4.2.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> results = pellucid.explain(model, ["A good film.", "Not good at all.", "Dull."])
    >>> words = pellucid.class_words(results, min_texts=2)
    >>> words
    <ClassWords: 2 words of negative, positive by occlusion>
    >>> words.strongest("positive")[0].word
    'good'
    >>> rare = pellucid.class_words(results, idf=["A day at sea.", "All is well.", "Not a good day."])
    >>> rare.lists
    <WordLists: 9 words of negative, positive, idf of 3 texts>
    >>> [(word.word, round(word.score(), 2)) for word in rare.lists.top("positive", k=1)]
    [('good', 5.09)]
    >>> rare.lists.overlap(k=1)
    0.0
    """
    checked = each("results", results, Explanation, "give what explain or read returned")
    return counted_words(checked, min_texts=min_texts, frequencies=_frequencies(idf, unit, model))


def _frequencies(idf: Data | None, unit: Counted, model: ModelSource | None) -> DocumentFrequencies | None:
    """The document frequencies of the texts; None where there are none to be counted."""
    one_of("unit", unit, ("word", "piece"))
    if idf is None:
        if unit != "word" or model is not None:
            raise BadSetting(
                "unit and model say how lists are counted, which need texts; give idf, or leave them away."
            )
        return None
    if (unit == "piece") != (model is not None):
        raise BadSetting(
            "The tokens of a model are counted with unit='piece' and model, words with neither; give both or none."
        )
    examples = _texts_of(idf)
    if model is None:
        return document_frequencies(map(word_forms, examples))
    from pellucid.explaining.inputs.models import (
        model_from,  # takes seconds, and most words are counted without a model
    )

    return document_frequencies(_pieces(model_from(model), examples), "piece")


def _texts_of(idf: Data) -> Sequence[Example]:
    """The texts; an empty list stays empty, since the counting says what is missing."""
    from pellucid.explaining.inputs.examples import examples_from

    return () if isinstance(idf, list | tuple) and not idf else examples_from(idf, split="all")


def _pieces(model: Model, examples: Sequence[Example]) -> list[set[str]]:
    """The tokens of each text, special ones left out."""
    texts: list[set[str]] = []
    for first in range(0, len(examples), AT_ONCE):
        units = model.encode(examples[first : first + AT_ONCE]).whole_units
        texts += ({of_text.labels[index] for index in of_text.content} for of_text in units)
    return texts
