"""The door `class_words`: which words speak for and against each class."""

from collections.abc import Sequence

from pellucid.core.corpus import word_counts
from pellucid.core.corpus.class_words import ClassWords
from pellucid.core.corpus.word_counts import MIN_TEXTS
from pellucid.core.foundation.checks import every
from pellucid.core.results.explanation import Explanation


def class_words(results: Sequence[Explanation], *, min_texts: int = MIN_TEXTS) -> ClassWords:
    """The words that speak for and against each class, by their mean scores over many texts.

    results: from `explain` or `read`, of one method.
    min_texts: words that occur in fewer texts are left out; 3 unless another number is given.

    Returns for each explained class its words with mean, interval, occurrences and texts. Raises `BadSetting` where several
    methods are mixed.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> results = pellucid.explain(model, ["A good film.", "Not good at all.", "Dull."])
    >>> words = pellucid.class_words(results, min_texts=2)
    >>> words
    <ClassWords: 2 words of positive, negative by occlusion>
    >>> words.strongest("positive")[0].word
    'good'
    """
    results = every("results", results, Explanation, "give what explain or read returned")
    return word_counts.class_words(results, min_texts=min_texts)
