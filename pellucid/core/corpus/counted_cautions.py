"""Cautions of many texts, counted: sentences that differ in one number alone become one sentence with its range."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


def counted_cautions(cautions: Iterable[str]) -> Mapping[str, int]:
    """Sentence -> how often it came, in the order of first sight.

    Sentences that differ in one number alone are counted together, as "misses 6.4 to 76.2% of the rise".
    """
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for caution in cautions:
        alike[tuple(NUMBER.split(caution))].append(caution)
    return {sentence: count for sentences in alike.values() for sentence, count in _joined(sentences).items()}


def _joined(sentences: Sequence[str]) -> Mapping[str, int]:
    """Sentences with the same words, joined where only one of their numbers differs."""
    numbers = list(zip(*(NUMBER.findall(sentence) for sentence in sentences), strict=True))
    differing = [place for place, values in enumerate(numbers) if len(set(values)) > 1]
    if len(differing) != 1:
        return Counter(sentences)
    (place,) = differing
    low, *_, high = sorted(set(numbers[place]), key=lambda number: float(number.replace(",", "")))
    start, end = list(NUMBER.finditer(sentences[0]))[place].span()
    return {f"{sentences[0][:start]}{low} to {high}{sentences[0][end:]}": len(sentences)}
