"""Cautions of many texts, joined: sentences that differ in one number alone become one sentence with its range."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
Caution = tuple[str, str]  # the sentence, and the id of its text


def joined_cautions(cautions: Iterable[Caution]) -> Mapping[str, tuple[str, ...]]:
    """Sentence -> the ids of the texts that it is about, in the order of first sight.

    Sentences that differ in one number alone are joined, as "misses 6.4 to 76.2% of the rise".
    """
    alike: dict[tuple[str, ...], list[Caution]] = defaultdict(list)
    for sentence, text_id in cautions:
        alike[tuple(NUMBER.split(sentence))].append((sentence, text_id))
    return {sentence: ids for similar in alike.values() for sentence, ids in _joined(similar).items()}


def _joined(cautions: Sequence[Caution]) -> Mapping[str, tuple[str, ...]]:
    """Sentences with the same words, joined where only one of their numbers differs."""
    sentences, ids = zip(*cautions, strict=True)
    numbers = list(zip(*(NUMBER.findall(sentence) for sentence in sentences), strict=True))
    differing = [place for place, values in enumerate(numbers) if len(set(values)) > 1]
    if len(differing) != 1:
        return {
            sentence: tuple(text_id for other, text_id in cautions if other == sentence)
            for sentence in dict.fromkeys(sentences)
        }
    (place,) = differing
    low, *_, high = sorted(set(numbers[place]), key=lambda number: float(number.replace(",", "")))
    start, end = list(NUMBER.finditer(sentences[0]))[place].span()
    return {f"{sentences[0][:start]}{low} to {high}{sentences[0][end:]}": ids}
