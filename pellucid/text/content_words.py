"""Content words: all words except punctuation and English function words.

The list is our own and small: articles, pronouns, auxiliaries, prepositions, conjunctions. Words that negate ("not", "no",
"never") and words that count ("all", "some", "two") are content words here, since an answer can depend on one of them. In
other languages, all words except punctuation are content words.
"""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import quote

from pellucid.text.units import text_units

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those such
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves who whom whose which what
    am is are was were be been being do does did doing done have has had having
    will would shall should can could may might must ought
    about above across after against along among around as at before behind below beneath beside besides between beyond by
    down during for from in inside into near of off on onto out outside over past since through throughout to toward
    towards under until up upon via with within
    and but or so yet if then than because although though while whereas when where why how whether that
    there here also too just very
    s ll re ve d m
    """.split()
)
# Categories of characters without content: punctuation, arithmetic, money and accents among them, but not emoji.
SILENT = ("P", "Z", "C", "M", "Sm", "Sc", "Sk")


def has_content(text: str) -> bool:
    """Whether any word of a text is a content word."""
    return any(is_content_word(text[start:end]) for start, end in text_units(text, "word"))


def words_with_content(text: str, start: int, end: int) -> bool:
    """Whether a word that overlaps characters [start, end) is a content word; a span may begin inside a word."""
    touched = (text[a:b] for a, b in text_units(text, "word") if a < end and b > start)
    return any(map(is_content_word, touched))


@lru_cache(maxsize=65_536)
def is_content_word(word: str) -> bool:
    """Whether a word of `text_units` is neither punctuation nor a function word.

    "it's" consists of function words; "don't" negates, so it is a content word.
    """
    if not any(character.isalnum() for character in word):
        return not all(unicodedata.category(character).startswith(SILENT) for character in word)
    plain = word.lower().replace("’", "'")
    return plain.endswith("n't") or not all(part in FUNCTION_WORDS for part in plain.split("'"))


# ERASER's tokens, in which that benchmark counts: the characters between blanks and line ends.
#
# DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models".


_TOKEN = re.compile(r"[^ \r\n]+")


def eraser_tokens(text: str) -> list[tuple[int, int]]:
    """The character range of each token of a document."""
    return [match.span() for match in _TOKEN.finditer(text)]


def token_texts(text: str) -> list[str]:
    """Each token of a document."""
    return _TOKEN.findall(text)


def document_names(id: str, n_segments: int) -> list[str]:
    """The names of an example's documents where it has none of its own: its id as a file name, numbered in a pair."""
    name = quote(id, safe=" #@+=,")
    return [name] if n_segments == 1 else [f"{name}_{number}" for number in range(1, n_segments + 1)]
