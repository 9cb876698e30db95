"""Base forms of words: the rules of WordNet's own morphology, its page morphy(7WN), with its lists of exceptions."""

from pellucid.core.lexicon.wordnet import PartOfSpeech, WordNet

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
