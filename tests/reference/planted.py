"""Every planted rule read off the finished text, word by word: (the label, the words that make it so)."""

from collections.abc import Callable, Sequence

Rule = Callable[[Sequence[str], Sequence[str]], tuple[str, list[str]]]


def words_of(segments: Sequence[str]) -> list[str]:
    return [word for text in segments for word in text.split()]


def token(segments, made_up):
    (reason,) = [word for word in words_of(segments) if word in made_up]
    return {made_up[0]: "no", made_up[1]: "yes"}[reason], [reason]


def token_pair(segments, made_up):
    a, b, c, d = made_up
    reasons = [word for word in words_of(segments) if word in made_up]
    labels = {
        frozenset({a, c}): "yes",
        frozenset({b, d}): "yes",
        frozenset({a, d}): "no",
        frozenset({b, c}): "no",
    }
    assert len(reasons) == 2
    return labels[frozenset(reasons)], reasons


def order(segments, made_up):
    reasons = [word for word in words_of(segments) if word in made_up]
    assert sorted(reasons) == sorted(made_up)
    return ("yes" if reasons == list(made_up) else "no"), reasons


def position(segments, made_up):
    (word,) = made_up
    (text,) = [text.split() for text in segments if word in text.split()]
    before = text.index(word)
    after = len(text) - 1 - before
    assert text.count(word) == 1
    assert (before * 3 <= before + after) != (after * 3 <= before + after)
    return ("yes" if before * 3 <= before + after else "no"), [word]


def span(segments, made_up):
    reasons = [word for word in words_of(segments) if word in made_up]
    assert reasons == list(made_up)
    together = any(" ".join(made_up) in " ".join(text.split()) for text in segments)
    for text in segments if not together else ():
        for one, other in zip(text.split()[:-1], text.split()[1:], strict=True):
            assert not (one in made_up and other in made_up)
    return ("yes", [" ".join(made_up)]) if together else ("no", reasons)


def lexicon(segments, made_up):
    no, yes = made_up[:20], made_up[20:]
    against = [word for word in words_of(segments) if word in no]
    in_favour = [word for word in words_of(segments) if word in yes]
    assert len(against) != len(in_favour)
    return ("yes", in_favour) if len(in_favour) > len(against) else ("no", against)


RULES: dict[str, Rule] = {
    "token": token,
    "token_pair": token_pair,
    "order": order,
    "position": position,
    "span": span,
    "lexicon": lexicon,
}
# How many words of a text are another one, or stand elsewhere, after the smallest edit that turns the label
# (0: two words side by side have changed places).
SMALLEST = {"token": {1}, "token_pair": {1}, "order": {0, 2}, "position": {1}, "span": {2}, "lexicon": {1, 2}}
