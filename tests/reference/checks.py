"""Checks, slowly and literally: loops over texts and words."""

import math


def pearson(xs, ys):
    """Pearson's correlation of two lists."""
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    over = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    return over / math.sqrt(sum((a - x) ** 2 for a in xs) * sum((b - y) ** 2 for b in ys))


def relative(text):
    """A text's scores divided by the largest size."""
    largest = max(abs(float(score)) for score in text.scores)
    return [float(score) / largest for score in text.scores]


def types(texts):
    """(class, lower-case word) -> the mean relative score of its occurrences."""
    scores = {}
    for text in texts:
        for word, score in zip(text.words, relative(text), strict=True):
            scores.setdefault((text.label, word.lower()), []).append(score)
    return {one: sum(of_type) / len(of_type) for one, of_type in scores.items()}


def seed_agreement(ones, others, over):
    """Wu & Ong: the correlation over word types that both have, or over tokens."""
    if over == "type":
        a, b = types(ones), types(others)
        common = sorted(set(a) & set(b))
        return pearson([a[one] for one in common], [b[one] for one in common])
    return pearson(*([score for text in texts for score in relative(text)] for texts in (ones, others)))


def tau(xs, ys):
    """Kendall's tau-b: pairs in the same order less pairs in opposite orders, over pairs without ties."""
    pairs = [(i, j) for j in range(len(xs)) for i in range(j)]
    signs = [(_sign(xs[i] - xs[j]), _sign(ys[i] - ys[j])) for i, j in pairs]
    untied = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    return sum(a * b for a, b in signs) / math.sqrt(untied[0] * untied[1])


def _sign(value):
    return int(value > 0) - int(value < 0)


def mean_tau(ones, others, form=float):
    """The mean over texts that can be ranked."""
    values = []
    for one, other in zip(ones, others, strict=True):
        xs, ys = ([form(score) for score in text.scores] for text in (one, other))
        if len(set(xs)) > 1 and len(set(ys)) > 1:
            values.append(tau(xs, ys))
    return sum(values) / len(values)


def mean_top(ones, others, k, form=float):
    """The mean share of the k highest-scored words that both have, over texts of more words than k."""
    shares = []
    for one, other in zip(ones, others, strict=True):
        if len(one.scores) > k:
            best = [
                set(sorted(range(len(text.scores)), key=lambda word, text=text: (-form(text.scores[word]), word))[:k])
                for text in (one, other)
            ]
            shares.append(len(best[0] & best[1]) / k)
    return sum(shares) / len(shares)


def dead_weight(texts):
    """The first word's share of all sizes, times the number of words, meant over draws and texts of several words."""
    values = []
    for text in texts:
        shares = [abs(draw[0]) / sum(abs(score) for score in draw) * len(draw) for draw in text.draws if any(draw)]
        if len(text.scores) > 1 and len(shares) == len(text.draws):
            values.append(sum(shares) / len(shares))
    return sum(values) / len(values)
