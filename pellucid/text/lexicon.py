"""What a dictionary says of words: concepts, words with content, synonyms."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput
from pellucid.text.units import text_units
from pellucid.text.wordnet import PartOfSpeech, Synset, WordNet


@dataclass(frozen=True)
class Concept:
    """The words of a concept, such as "time": ("year", "day", …); equal words count once. Raises `BadInput` without
    words.
    """

    name: str
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        words = tuple(dict.fromkeys(word.strip() for word in self.words if word.strip()))
        if not self.name.strip() or not words:
            raise BadInput(f"Concept {quoted(self.name)} needs a name and one word or more.")
        object.__setattr__(self, "words", words)


# Content words: all words except punctuation and English function words.
#
# The list is our own and small: articles, pronouns, auxiliaries, prepositions, conjunctions. Words that negate
# ("not", "no", "never") and words that count ("all", "some", "two") are content words here, since an answer can
# depend on one of them. In other languages, all words except punctuation are content words.

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those such
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves who whom whose which what
    am is are was were be been being do does did doing done have has had having
    will would shall should can could may might must ought
    about above across after against along among around as at before behind below beneath beside besides between beyond
    by down during for from in inside into near of off on onto out outside over past since through throughout to
    toward towards under until up upon via with within
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
    return [name] if n_segments == 1 else [f"{name}_{text_number}" for text_number in range(1, n_segments + 1)]


# Synonyms of a word in its part of speech, without those that are antonyms in another sense.

INSTANCE_OF = "@i"


def synonyms(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> tuple[str, ...]:
    """Words that share a synset with a word, or with what it is a form of; most frequent first, as base forms.

    A synonym's frequency is how often WordNet's texts have it in the senses that it shares with the word; among equals,
    the word's more frequent senses come first. Terms of several words are written with blanks ("motion picture"). Left
    out are senses that are one person, place or event ("day" is also the writer Clarence Day), and what is an antonym
    of the word in any sense, or has it as antonym.

    >>> synonyms("films", "noun", wordnet)[:3]
    ('movie', 'picture', 'pic')
    """
    bases = base_forms(word, part_of_speech, wordnet)
    refused = antonyms(word, part_of_speech, wordnet)
    counts: dict[str, int] = {}
    for base in bases:
        for sense in filter(_is_kind, wordnet.senses(base, part_of_speech)):
            for term in sense.words:
                name = term.replace("_", " ")
                if name.lower() not in (*bases, word.lower()) and name.lower() not in refused:
                    counts[name] = counts.get(name, 0) + wordnet.count(sense, term)
    # Stable: names are in the order of the word's senses.
    ordered = sorted(counts, key=lambda name: -counts[name])
    own_forms = {word.lower(), *bases}
    return tuple(
        candidate for candidate in ordered if own_forms.isdisjoint(antonyms(candidate, part_of_speech, wordnet))
    )


def _is_kind(sense: Synset) -> bool:
    """Whether a sense is a kind of thing, and not one person, place or event."""
    return all(pointer.symbol != INSTANCE_OF for pointer in sense.pointers)


# Base forms of words: the rules of WordNet's own morphology, its page morphy(7WN), with its lists of exceptions.

# Ending of a form -> ending of its base. "ves" is no rule of the page, but of its common re-writings.
RULES: dict[PartOfSpeech, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adjective": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adverb": (),
}


def base_forms(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> tuple[str, ...]:
    """What a word can be a form of, in lower case, those that WordNet has; the word itself first where it is one.

    >>> base_forms("Churches", "noun", wordnet)
    ('church',)
    """
    form = word.lower()
    bases = wordnet.exceptions(part_of_speech).get(form.replace(" ", "_"))
    if bases is None:
        bases = tuple(
            form.removesuffix(ending) + base for ending, base in RULES[part_of_speech] if form.endswith(ending)
        )
    candidates = dict.fromkeys((form, *(base.replace("_", " ") for base in bases)))
    return tuple(base for base in candidates if base and wordnet.has(base, part_of_speech))


def parts_of_speech(word: str, wordnet: WordNet) -> dict[PartOfSpeech, int]:
    """The parts of speech that a word can have, with how often its senses were marked; the most frequent first.

    Counts are those of its base forms, so "films" counts as "film".
    """
    counts: dict[PartOfSpeech, int] = {}
    for part_of_speech in RULES:
        bases = base_forms(word, part_of_speech, wordnet)
        if bases:
            counts[part_of_speech] = sum(_count(base, part_of_speech, wordnet) for base in bases)
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


def likeliest_base(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> str | None:
    """The base form whose senses were marked most often: "find" for "found"; None where there is none."""
    bases = base_forms(word, part_of_speech, wordnet)
    if len(bases) < 2:
        return bases[0] if bases else None
    return max(bases, key=lambda base: _count(base, part_of_speech, wordnet))


def _count(base: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> int:
    return sum(wordnet.count(sense, base) for sense in wordnet.senses(base, part_of_speech))


# Antonyms: the words that WordNet sets against a word, and for adjectives also those that are similar to such a word.

ANTONYM, SIMILAR = "!", "&"


def antonyms(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> frozenset[str]:
    """Every word, in lower case, that is an antonym of a word in one of its senses.

    An antonym's synonyms of that sense count too. Adjectives form clusters around a main one: "rapid" is similar to
    "fast", "sluggish" to "slow", so the antonyms of each are the whole cluster of the other.

    >>> sorted(antonyms("rapid", "adjective", wordnet))[:3]
    ['bumper-to-bumper', 'dilatory', 'drawn-out']
    """
    opposite = {
        opposed
        for base in base_forms(word, part_of_speech, wordnet)
        for sense in wordnet.senses(base, part_of_speech)
        for opposed in _opposite(sense, base, wordnet)
    }
    return frozenset(term.replace("_", " ").lower() for opposed in opposite for term in opposed.words)


def _opposite(sense: Synset, base: str, wordnet: WordNet) -> Iterator[Synset]:
    """The synsets that stand against a word in one sense."""
    if sense.part_of_speech != "adjective":
        names = [term.replace("_", " ").lower() for term in sense.words]
        for pointer, opposite in wordnet.related(sense, ANTONYM):
            if not pointer.source or names[pointer.source - 1] == base:
                yield opposite
        return
    mains = [main for _, main in wordnet.related(sense, SIMILAR)] if sense.letter == "s" else [sense]
    for main in mains:
        for _, opposite in wordnet.related(main, ANTONYM):
            yield opposite
            yield from (similar for _, similar in wordnet.related(opposite, SIMILAR))
