"""Every planted rule, read off the finished text word by word: (the label, the words that cause it)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Rule = Callable[[Sequence[str], Sequence[str]], tuple[str, list[str]]]


def words_of(segments: Sequence[str]) -> list[str]:
    return [word for text in segments for word in text.split()]


def token(segments, made_up):
    (planted,) = [word for word in words_of(segments) if word in made_up]
    return {made_up[0]: "no", made_up[1]: "yes"}[planted], [planted]


def token_pair(segments, made_up):
    a, b, c, d = made_up
    planted = [word for word in words_of(segments) if word in made_up]
    labels = {
        frozenset({a, c}): "yes",
        frozenset({b, d}): "yes",
        frozenset({a, d}): "no",
        frozenset({b, c}): "no",
    }
    assert len(planted) == 2
    return labels[frozenset(planted)], planted


def order(segments, made_up):
    planted = [word for word in words_of(segments) if word in made_up]
    assert sorted(planted) == sorted(made_up)
    return ("yes" if planted == list(made_up) else "no"), planted


def position(segments, made_up):
    (word,) = made_up
    (text,) = [text.split() for text in segments if word in text.split()]
    before = text.index(word)
    after = len(text) - 1 - before
    assert text.count(word) == 1
    assert (before * 3 <= before + after) != (after * 3 <= before + after)
    return ("yes" if before * 3 <= before + after else "no"), [word]


def span(segments, made_up):
    planted = [word for word in words_of(segments) if word in made_up]
    assert planted == list(made_up)
    together = any(" ".join(made_up) in " ".join(text.split()) for text in segments)
    for text in segments if not together else ():
        for one, other in zip(text.split()[:-1], text.split()[1:], strict=True):
            assert not (one in made_up and other in made_up)
    return ("yes", [" ".join(made_up)]) if together else ("no", planted)


def lexicon(segments, made_up):
    no, yes = made_up[:20], made_up[20:]
    against = [word for word in words_of(segments) if word in no]
    in_favour = [word for word in words_of(segments) if word in yes]
    assert len(against) != len(in_favour)
    return ("yes", in_favour) if len(in_favour) > len(against) else ("no", against)


@dataclass(frozen=True)
class Reference:
    """A reason's rule, written once more, and what the contract tests must know of it.

    n_changed: how many words of a text are another one, or stand elsewhere, after the smallest edit that changes the
    label (0: two words side by side have changed places). single_words: whether a single word tells the label.
    n_words: the fewest words that a text must have. in_both_texts: whether it can stand in either text of a pair.
    """

    rule: Rule
    n_changed: frozenset[int]
    single_words: bool = False
    n_words: int = 1
    in_both_texts: bool = True


REFERENCES: dict[str, Reference] = {
    "token": Reference(token, frozenset({1}), single_words=True),
    "token_pair": Reference(token_pair, frozenset({1})),
    "order": Reference(order, frozenset({0, 2})),
    "position": Reference(position, frozenset({1})),
    "span": Reference(span, frozenset({2}), n_words=2),
    "lexicon": Reference(lexicon, frozenset({1, 2}), single_words=True),
}
