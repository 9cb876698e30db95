"""Candidates of an attack: what may stand in the place of a word, a function each."""

from pellucid.attacks.attack_case import AttackCase
from pellucid.attacks.dictionaries import KINDS
from pellucid.base.checks import at_least, between
from pellucid.base.errors import ModelCannot
from pellucid.base.kinds import attack_candidates
from pellucid.text.inflection import in_case_of, in_form_of
from pellucid.text.lexicon import synonyms as synonyms_of


@attack_candidates.add(needs={"wordnet"})
def synonyms(case: AttackCase, unit: int, *, most: int = 50) -> list[str]:
    """Synonyms of a unit that is one word; none for names, function words and terms of several words.

    WordNet's synonyms of a word in its part of speech, in its form and case.

    most: at most so many, most frequent first. The part of speech is the tagger's where it is installed; else the one
    that WordNet's texts have most often.
    """
    place, dictionaries = case.units[unit], case.dictionaries
    tagged = dictionaries.part_of_speech(case.text_of[place.segment], place.start, place.end)
    if dictionaries.tagger is not None and (tagged is None or tagged.part_of_speech is None):
        return []
    part = tagged.part_of_speech if tagged is not None else dictionaries.likeliest_part_of_speech(place.text)
    if part is None:
        return []
    form = tagged.form if tagged is not None else None
    bases = synonyms_of(place.text, part, dictionaries.wordnet)[:most]
    return [in_form_of(base, place.text, part, dictionaries.wordnet, form) for base in bases]


@attack_candidates.add(needs={"word_vectors"})
def neighbours(case: AttackCase, unit: int, *, most: int = 50, least: float = 0.4) -> list[str]:
    """The words with the nearest vectors, in the case of the word that they replace.

    Words whose vectors in the model's own table are near.

    Source: As in Jin et al. (2020), "Is BERT Really Robust?" (TextFooler), section 2, but by the
    model's vectors in place of counter-fitted ones, which are no package; near in such vectors are
    antonyms too, which the guard `antonyms` keeps out.

    most: at most so many, 1 to 100. least: their cosine at least, -1 to 1. Raises `ModelCannot` for a model without
    vectors of words.
    """
    at_least("most", most, 1)
    between("least", least, -1, 1)
    word = case.units[unit].text
    if not word.isalpha():
        return []
    near = (neighbour for neighbour, cosine in case.dictionaries.near(word) if cosine >= least)
    return list(dict.fromkeys(in_case_of(neighbour, word) for neighbour in near))[:most]


@attack_candidates.add(needs={"apertium", "train"})
def named_entities(case: AttackCase, unit: int, *, most: int = 1) -> list[str]:
    """The names that are commonest in the training texts of all classes but the model's answer; none where the unit is
    no name.

    Names of the same kind that are common in the texts of other classes.

    Source: Ren et al. (2019), "Generating Natural Language Adversarial Examples through Probability
    Weighted Word Saliency", section 3.2.1. Their names are those of spaCy's kinds; ours are Apertium's
    people, places and organisations, of one word as the text has it.

    most: at most so many, commonest first; the paper's 1.
    """
    at_least("most", most, 1)
    place, dictionaries = case.units[unit], case.dictionaries
    assert dictionaries.names is not None  # the door counts them, or says what is missing
    tagged = dictionaries.part_of_speech(case.text_of[place.segment], place.start, place.end)
    if tagged is None or tagged.name is None or tagged.name not in KINDS:
        return []
    return dictionaries.names.commonest(tagged.name, case.answer.label)[:most]


@attack_candidates.add(needs={"language_head"})
def masked_words(case: AttackCase, unit: int, *, most: int = 20) -> list[str]:
    """The words that fit the place best, whatever they mean: use the guard `similarity` beside. most: at most so many,
    1 to 50.

    Words that a language head writes in the masked place.

    Source: As in Li et al. (2020), "BERT-ATTACK", section 3.2, and Garg & Ramakrishnan (2020), "BAE",
    for words of one piece and with the language head that the model was loaded with.

    A language head reads a place from its neighbours alone, so opposites fit as well as synonyms. Raises `ModelCannot`
    for a model that was loaded without a language head.
    """
    at_least("most", most, 1)
    if case.fillers is None:
        raise ModelCannot("masked_words needs a model with a language head; give language_head= to load.")
    word = case.units[unit].text
    near = (in_case_of(filler, word) for filler in case.fillers[unit] if filler.casefold() != word.casefold())
    return list(dict.fromkeys(near))[:most] if word.isalpha() else []


ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@attack_candidates.add()
def typos(case: AttackCase, unit: int, *, shortest: int = 4) -> list[str]:
    """Two neighbouring letters swapped, one left out, one put in, one replaced: one of each kind, drawn by the text and
    the seed.

    Misspellings of a word by one character.

    Source: Gao et al. (2018), "Black-Box Generation of Adversarial Text Sequences to Evade Deep
    Learning Classifiers" (DeepWordBug), section 3.3.

    shortest: words with fewer letters stay as they are, 4 or more. The first and the last character stay, as people who
    mistype do; the paper does not keep them.
    """
    at_least("shortest", shortest, 4)
    word = case.units[unit].text
    if len(word) < shortest or not word.isalpha():
        return []
    draw = case.generator(f"typos of unit {unit}")
    at, letter = int(draw.integers(1, len(word) - 2)), ALPHABET[draw.integers(len(ALPHABET))]
    return [
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
    ]


@attack_candidates.add(needs={"apertium"})
def back_translation(case: AttackCase, unit: int) -> list[str]:
    """The paraphrases of a unit, one a language at most.

    A unit translated to another language and back, by Apertium.
    """
    return list(case.dictionaries.paraphrases(case.units[unit].text))
