"""The texts of the benchmark: 64 short ones of 8-60 words and 8 long ones of about 400, out of the package's own
corpus; for a GPU more.
"""

from collections.abc import Sequence
from functools import cache

import pellucid

SHORT_WORDS, LONG_WORDS = (8, 60), (376, 399)
# kind: how many texts, the fewest and most words of one, sentences from one text's beginning to the next
KINDS = {
    "short": (64, SHORT_WORDS, 15),
    "long": (8, LONG_WORDS, 140),
    "many short": (1024, SHORT_WORDS, 1),
    "many long": (64, LONG_WORDS, 17),
}
TITLES = {
    "short": "64 short texts",
    "long": "8 long texts",
    "many short": "1,024 short texts",
    "many long": "64 long texts",
}
TINY = ["A fine film."]  # what a run is warmed up with


def texts_of(kind: str) -> list[str]:
    """The texts of a kind, or the four "few" that errors are measured on: the same on every machine."""
    if kind == "few":
        return [_sentences(50 * number, words) for number, words in enumerate((8, 9, 10, 11))]
    count, (fewest, most), step = KINDS[kind]
    lengths = [fewest + round(number * (most - fewest) / (count - 1)) for number in range(count)]
    return [_sentences(step * number, words) for number, words in enumerate(lengths)]


def _sentences(first: int, words: int) -> str:
    """So many words of the corpus, from the sentence of that number on."""
    first %= len(_corpus())
    following = " ".join(_corpus()[first:] + _corpus()[:first]).split()
    return " ".join(following[:words])


@cache
def _corpus() -> list[str]:
    return [example.segments[0] for example in pellucid.examples("pocket", "all")]


def sample(costs: Sequence[float], budget: float) -> list[int]:
    """Numbers of texts whose costs add up to the budget at most (or one text), spread evenly over the sizes."""
    order = sorted(range(len(costs)), key=lambda number: (costs[number], number))
    for count in range(len(costs), 1, -1):
        sampled = [order[int((place + 0.5) * len(order) / count)] for place in range(count)]
        if sum(costs[number] for number in sampled) <= budget:
            return sorted(sampled)
    return [order[len(order) // 2]]
