"""Published attacks written out text by text, with one call of the model a text: slow, and as their papers say."""

import math
from collections.abc import Callable, Sequence

Ask = Callable[[str], Sequence[float]]  # a text -> the probability of each class


def greedy_in_order(
    text: str,
    words: Sequence[tuple[int, int]],
    order: Sequence[int],
    synonyms: Callable[[int], Sequence[str]],
    ask: Ask,
) -> str:
    """Ren et al. (2019), section 4.3: words in an order, each replaced by the synonym that lowers the answer's
    probability most.
    """
    before = ask(text)
    label = max(range(len(before)), key=lambda number: before[number])
    replaced: dict[int, str] = {}
    lowest = before[label]
    for word in order:
        options = [(ask(_with(text, words, {**replaced, word: one})), one) for one in synonyms(word)]
        if not options:
            continue
        flips = [pair for pair in options if max(range(len(before)), key=lambda n: pair[0][n]) != label]
        answer, best = min(flips or options, key=lambda pair: pair[0][label])
        if flips:
            return _with(text, words, {**replaced, word: best})
        if answer[label] < lowest:
            replaced[word], lowest = best, answer[label]
    return text if not replaced else _with(text, words, replaced)


def pwws(
    text: str,
    words: Sequence[tuple[int, int]],
    saliency: Sequence[float],
    synonyms: Callable[[int], Sequence[str]],
    ask: Ask,
) -> str:
    """Ren et al. (2019), algorithm 1: equations 4 to 8, then one replacement after the other until the answer
    changes.
    """
    before = ask(text)
    label = max(range(len(before)), key=lambda number: before[number])
    gains: dict[int, tuple[float, str]] = {}
    for word in range(len(words)):
        for one in synonyms(word):
            gain = before[label] - ask(_with(text, words, {word: one}))[label]
            if word not in gains or gain > gains[word][0]:
                gains[word] = (gain, one)
    total = sum(math.exp(value) for value in saliency)
    weighted = {word: math.exp(saliency[word]) / total * gain for word, (gain, _) in gains.items()}
    replaced: dict[int, str] = {}
    for word in sorted(weighted, key=lambda word: (-weighted[word], word)):
        replaced[word] = gains[word][1]
        after = ask(_with(text, words, replaced))
        if max(range(len(after)), key=lambda number: after[number]) != label:
            break
    return _with(text, words, replaced)


def _with(text: str, words: Sequence[tuple[int, int]], replaced: dict[int, str]) -> str:
    for word in sorted(replaced, reverse=True):
        start, end = words[word]
        text = text[:start] + replaced[word] + text[end:]
    return text
