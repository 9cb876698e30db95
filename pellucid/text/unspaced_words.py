"""Words of scripts that put no spaces between them: Chinese, Japanese, Thai, Khmer, Lao and Burmese.

ICU's dictionaries find them, through the package icu4py. Without it every user-perceived character is a word of its own, so
that scores never belong to a whole sentence; a model's pieces of several characters join them again (`units.coarsen`).
"""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate

import regex

WITHOUT_DICTIONARY = (
    "The text is in a script without spaces between words, and no dictionary is installed: its characters (or the model's "
    "pieces) stand for words. pip install 'pellucid[languages]' finds the words."
)
_SCRIPTS = r"\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Khmer}\p{scx=Lao}\p{scx=Myanmar}"
_LETTER = regex.compile(rf"(?=[\p{{L}}\p{{N}}])[{_SCRIPTS}]")
_RUN = regex.compile(rf"(?:[{_SCRIPTS}]\p{{M}}*)+")
_CHARACTER = regex.compile(r"\X")


def is_unspaced(text: str) -> bool:
    """Whether a letter of the text belongs to a script without spaces between words."""
    return not text.isascii() and _LETTER.search(text) is not None


@cache
def has_dictionary() -> bool:
    """Whether words of such scripts can be looked up: the package icu4py is installed."""
    return find_spec("icu4py") is not None


def caveats_on_words(segments: Sequence[str]) -> tuple[str, ...]:
    """What to keep in mind about the words of these texts: whether they could be looked up."""
    return (WITHOUT_DICTIONARY,) if not has_dictionary() and any(map(is_unspaced, segments)) else ()


def unspaced_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The ranges of the words within characters [start, end), which hold letters, digits and marks of any script.

    What stands between runs of these scripts, such as a Latin name or a year, is a word by itself.
    """
    for run in _RUN.finditer(text, start, end):
        if run.start() > start:
            yield start, run.start()
        find = _dictionary_words if has_dictionary() else _characters
        yield from ((run.start() + first, run.start() + last) for first, last in find(run.group()))
        start = run.end()
    if start < end:
        yield start, end


def _dictionary_words(text: str) -> Iterator[tuple[int, int]]:
    from icu4py.breakers import WordBreaker

    # ICU counts UTF-16 code units; a character beyond the first 65,536, a rare ideograph say, has two.
    after = list(accumulate((2 if ord(character) > 0xFFFF else 1 for character in text), initial=0))
    character_at = {offset: number for number, offset in enumerate(after)}
    for first, last in WordBreaker(text, "root").segments():
        yield character_at[first], character_at[last]


def _characters(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _CHARACTER.finditer(text))
