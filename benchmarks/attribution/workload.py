"""The texts of the benchmark: 64 short ones of 8-60 words and 8 long ones of about 400, out of the package's own corpus."""

from collections.abc import Sequence
from functools import cache

import pellucid

SHORT, LONG = 64, 8
SHORT_WORDS, LONG_WORDS = (8, 60), (376, 399)
TINY = ["A fine film."]  # what a run is warmed up with


def texts_of(kind: str) -> list[str]:
    """The texts "short", "long", or the four "few" that errors are measured on: the same on every machine."""
    if kind == "few":
        return [_sentences(50 * number, words) for number, words in enumerate((8, 9, 10, 11))]
    count, (fewest, most) = (SHORT, SHORT_WORDS) if kind == "short" else (LONG, LONG_WORDS)
    lengths = [fewest + round(number * (most - fewest) / (count - 1)) for number in range(count)]
    step = 15 if kind == "short" else 140  # sentences from one text's beginning to the next
    return [_sentences(step * number, words) for number, words in enumerate(lengths)]


def _sentences(first: int, words: int) -> str:
    """So many words of the corpus, from the sentence of that number on."""
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
