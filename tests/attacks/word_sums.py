"""A model whose answer is a sum over words, so that what an attack should do is known exactly; and texts for it."""

from hashlib import blake2b
from itertools import pairwise

import numpy as np

import pellucid
from pellucid.data.built_in import first_edition
from pellucid.text.units import text_units

LABELS = ["negative", "positive"]
TOKEN = "zorblat"


def weight(word):
    """Of a word in lower case, -1 to 1, as if drawn evenly."""
    number = int.from_bytes(blake2b(word.lower().encode(), digest_size=6).digest(), "big")
    return 2 * number / 2**48 - 1


def sum_model(planted=0.0, together=0.0):
    """P(positive) is the sigmoid of the words' weights. planted: that of TOKEN; together: times a weight of each two
    neighbours, too.
    """

    def value(text):
        words = [text[start:end] for start, end in text_units(text, "word")]
        own = sum(planted if word == TOKEN else 0.5 * weight(word) for word in words)
        return round(own + together * sum(weight(" ".join(pair)) for pair in pairwise(words)), 9)

    def answer(texts):
        values = np.array([value(text) for text in texts])
        return np.stack([1 / (1 + np.exp(values)), 1 / (1 + np.exp(-values))], 1)

    return pellucid.from_function(answer, LABELS)


def texts(count, most_words=20):
    """Different texts of the corpus `pocket`, evenly from all of them, cut after so many words."""
    every = dict.fromkeys(" ".join(one.segments[0].split()[:most_words]) for one in first_edition("all"))
    return list(every)[:: max(1, len(every) // count)][:count]


def with_token(text, number):
    """TOKEN before the word of this number, counted round and round."""
    words = text.split()
    place = number % (len(words) + 1)
    return " ".join([*words[:place], TOKEN, *words[place:]])
