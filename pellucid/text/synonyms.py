"""Synonyms of a word in its part of speech, without those that are antonyms in another sense."""

from collections.abc import Iterator

from pellucid.text.wordnet import PartOfSpeech, Synset, WordNet

INSTANCE_OF = "@i"


def synonyms(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> tuple[str, ...]:
    """Words that share a synset with a word, or with what it is a form of; most frequent first, as base forms.

    A synonym's frequency is how often WordNet's texts have it in the senses that it shares with the word; among equals, the
    word's more frequent senses come first. Terms of several words are written with blanks ("motion picture"). Left out are senses
    that are one person, place or event ("day" is also the writer Clarence Day), and what is an antonym of the word in any sense, or
    has it as antonym.

    >>> synonyms("films", "noun", wordnet)[:3]
    ('movie', 'picture', 'pic')
    """
    bases = base_forms(word, part_of_speech, wordnet)
    refused = antonyms(word, part_of_speech, wordnet)
    counts: dict[str, int] = {}
    for base in bases:
        for sense in filter(_is_kind, wordnet.senses(base, part_of_speech)):
            for one in sense.words:
                name = one.replace("_", " ")
                if name.lower() not in (*bases, word.lower()) and name.lower() not in refused:
                    counts[name] = counts.get(name, 0) + wordnet.count(sense, one)
    # Stable: names are in the order of the word's senses.
    ordered = sorted(counts, key=lambda name: -counts[name])
    own = {word.lower(), *bases}
    return tuple(one for one in ordered if own.isdisjoint(antonyms(one, part_of_speech, wordnet)))


def _is_kind(sense: Synset) -> bool:
    """Whether a sense is a kind of thing, and not one person, place or event."""
    return all(pointer.symbol != INSTANCE_OF for pointer in sense.pointers)


# Base forms of words: the rules of WordNet's own morphology, its page morphy(7WN), with its lists of
# exceptions.


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
            form.removesuffix(ending) + base
            for ending, base in RULES[part_of_speech]
            if form.endswith(ending)
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


# Antonyms: the words that WordNet sets against a word, and for adjectives also those that are similar to
# such a word.


ANTONYM, SIMILAR = "!", "&"


def antonyms(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> frozenset[str]:
    """Every word, in lower case, that is an antonym of a word in one of its senses.

    An antonym's synonyms of that sense count too. Adjectives form clusters around a main one: "rapid" is similar to "fast",
    "sluggish" to "slow", so the antonyms of each are the whole cluster of the other.

    >>> sorted(antonyms("rapid", "adjective", wordnet))[:3]
    ['bumper-to-bumper', 'dilatory', 'drawn-out']
    """
    opposite = {
        other
        for base in base_forms(word, part_of_speech, wordnet)
        for sense in wordnet.senses(base, part_of_speech)
        for other in _opposite(sense, base, wordnet)
    }
    return frozenset(one.replace("_", " ").lower() for other in opposite for one in other.words)


def _opposite(sense: Synset, base: str, wordnet: WordNet) -> Iterator[Synset]:
    """The synsets that stand against a word in one sense."""
    if sense.part_of_speech != "adjective":
        names = [one.replace("_", " ").lower() for one in sense.words]
        for pointer, other in wordnet.related(sense, ANTONYM):
            if not pointer.source or names[pointer.source - 1] == base:
                yield other
        return
    mains = [main for _, main in wordnet.related(sense, SIMILAR)] if sense.letter == "s" else [sense]
    for main in mains:
        for _, other in wordnet.related(main, ANTONYM):
            yield other
            yield from (similar for _, similar in wordnet.related(other, SIMILAR))
