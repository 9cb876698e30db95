"""A word in the form, and in the case, of the word that it replaces: WordNet's exceptions, read backwards, then rules.

WordNet lists what its rules cannot undo, doubled letters among it ("stopped stop"). So what is not listed is regular.
"""

import re
from collections.abc import Callable
from typing import Literal

from pellucid.text.lexicon import likeliest_base, parts_of_speech, synonyms
from pellucid.text.wordnet import PartOfSpeech, WordNet

Form = Literal["base", "plural", "third_person", "past", "participle", "gerund", "comparative", "superlative"]
BE = {"third_person": "is", "past": "was", "participle": "been", "gerund": "being"}
SAME_PARTICIPLE = ("come", "run")  # "came, come"; also of "become", "outrun"
SAME_PAST = frozenset(
    "beat bet bid burst cast cost cut hit hurt let put quit read rid set shed shut slit split spread thrust".split()
    + "broadcast forecast offset outset overcut reset sublet undercut upset wed wet".split()
)
UNUSUAL = frozenset(  # listed, but the regular form is usual
    "wrought brethren curst addrest molten swollen slidden dreamt crying cryings blent programmes stomaches "
    "co-ordinate".split()
)
SAME_PLURAL = frozenset("aircraft craft data deer fish means offspring series sheep species".split())
WITH_S = ("human", "german", "roman", "norman", "ottoman", "shaman", "talisman", "caiman", "superhuman")
IRREGULAR_DEGREES = {
    "good": ("better", "best"),
    "well": ("better", "best"),
    "bad": ("worse", "worst"),
    "badly": ("worse", "worst"),
    "far": ("farther", "farthest"),
    "little": ("less", "least"),
    "many": ("more", "most"),
    "much": ("more", "most"),
}
SHORT_ENDINGS = ("y", "le", "ow")  # of adjectives of two syllables that take -er: "happy", "simple", "narrow"
CONSONANT_Y = re.compile(r"[^aeiou]y$")
SYLLABLES = re.compile(r"[aeiouy]+")
ONE_CONSONANT = re.compile(r"^[^aeiou]*[aeiou][bdgmnprt]$")  # "big", "thin": doubled before -er
HISSING = ("s", "x", "z", "ch", "sh")


def form_of(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> Form:
    """The form that a word has in this part of speech: "base" where it is one, or where WordNet does not know it.

    Past and participle are told apart where they differ ("went", "gone"); else it is "past".
    """
    form = word.lower()
    base = likeliest_base(form, part_of_speech, wordnet)
    if base is None or base == form:
        return "base"
    if part_of_speech == "noun":
        return "plural"
    if part_of_speech == "verb":
        return _verb_form(form, base, wordnet)
    return "superlative" if form.endswith("st") else "comparative"


def _verb_form(form: str, base: str, wordnet: WordNet) -> Form:
    if form.endswith("ing"):
        return "gerund"
    if form.endswith("s") and form != "was":
        return "third_person"
    is_participle = form == _participle(base, wordnet) != _past(base, wordnet)
    return "participle" if is_participle else "past"


def inflected(word: str, form: Form, wordnet: WordNet) -> str:
    """A base form in another form; of a verb of several words the first is changed, of a noun the last.

    >>> inflected("go", "past", wordnet), inflected("motion picture", "plural", wordnet)
    ('went', 'motion pictures')
    """
    if form == "base" or not word.strip():
        return word
    if form in ("comparative", "superlative"):
        return _degree(word, form == "superlative", wordnet)
    if form == "plural":
        before, blank, last = word.rpartition(" ")
        return before + blank + _plural(last, wordnet)
    first, blank, after = word.partition(" ")
    return VERB_FORMS[form](first, wordnet) + blank + after


def in_form_of(
    synonym: str, word: str, part_of_speech: PartOfSpeech, wordnet: WordNet, form: Form | None = None
) -> str:
    """A synonym in the form and in the case of the word that it replaces.

    form: that of the word where it is known, from a tagger; None: what `form_of` says.

    >>> in_form_of("movie", "Films", "noun", wordnet)
    'Movies'
    """
    form = form_of(word, part_of_speech, wordnet) if form is None else form
    return in_case_of(inflected(synonym, form, wordnet), word)


def in_case_of(replacement: str, word: str) -> str:
    """A replacement with the case of a word: all capitals, a capital first, or as it is.

    Capitals of the replacement's own stay, as in "English".
    """
    letters = [letter for letter in word if letter.isalpha()]
    if len(letters) > 1 and all(letter.isupper() for letter in letters):
        return replacement.upper()
    if word[:1].isupper():
        return replacement[:1].upper() + replacement[1:]
    return replacement


def _listed(base: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> list[str]:
    """The exceptions that are forms of a word, in the order of the file."""
    forms = wordnet.irregular_forms(part_of_speech).get(base.lower(), ())
    return [form for form in forms if form not in UNUSUAL]


def _plural(noun: str, wordnet: WordNet) -> str:
    irregular = _listed(noun, "noun", wordnet)
    if noun in SAME_PLURAL or (not irregular and _is_plural(noun, wordnet)):
        return noun
    if irregular:
        return irregular[0]
    if noun.endswith("man") and noun.lower() not in WITH_S:
        return noun[:-3] + "men"
    return noun[:-3] + "ses" if noun.endswith("sis") else _with_s(noun)


def _is_plural(noun: str, wordnet: WordNet) -> bool:
    """Whether a noun looks like a plural already: "funds", "politics"."""
    if len(noun) < 5 or not noun.endswith("s") or noun.endswith(("ss", "us", "is")):
        return False
    return noun.endswith("ics") or wordnet.has(noun[:-1], "noun")


def _third_person(verb: str, wordnet: WordNet) -> str:
    if verb == "be":
        return BE["third_person"]
    listed = [form for form in _listed(verb, "verb", wordnet) if form.endswith("s")]
    return listed[0] if listed else _with_s(verb + "e" if verb.endswith("o") else verb)


def _gerund(verb: str, wordnet: WordNet) -> str:
    listed = [form for form in _listed(verb, "verb", wordnet) if form.endswith("ing")]
    if listed:
        return listed[0]
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    silent = verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be"
    return (verb[:-1] if silent else verb) + "ing"


def _past(verb: str, wordnet: WordNet) -> str:
    if verb == "be" or verb in SAME_PAST:
        return BE["past"] if verb == "be" else verb
    forms = [form for form in _past_forms(verb, wordnet) if not _adds_n(form, verb)]
    return min(forms, key=_participle_like) if forms else _with_ed(verb)


def _participle(verb: str, wordnet: WordNet) -> str:
    if verb == "be":
        return BE["participle"]
    forms = _past_forms(verb, wordnet)
    if (forms and verb.endswith(SAME_PARTICIPLE)) or (verb in SAME_PAST and verb != "beat"):
        return verb
    return max(forms, key=_participle_like) if forms else _with_ed(verb)


def _past_forms(verb: str, wordnet: WordNet) -> list[str]:
    """Listed forms that are past or participle."""
    listed = _listed(verb, "verb", wordnet)
    return [form for form in listed if not form.endswith(("ing", "s"))]


def _adds_n(form: str, verb: str) -> bool:
    """Whether a form is a participle beside a regular past: "shown", "proven"."""
    return form in (f"{verb}n", f"{verb}en")


def _participle_like(form: str) -> bool:
    """Whether an irregular form is rather the participle: "gone", "taken", "sung"."""
    return (form.endswith(("n", "ne")) and not form.endswith("an")) or re.search(r"u[nm][gkm]?$", form) is not None


VERB_FORMS: dict[str, Callable[[str, WordNet], str]] = {
    "third_person": _third_person,
    "past": _past,
    "participle": _participle,
    "gerund": _gerund,
}


def _degree(word: str, superlative: bool, wordnet: WordNet) -> str:
    ending, particle = ("est", "most") if superlative else ("er", "more")
    if word in IRREGULAR_DEGREES:
        return IRREGULAR_DEGREES[word][superlative]
    listed = [form for form in _listed(word, "adjective", wordnet) if form.endswith(ending)]
    if listed:
        return listed[0]
    syllables = len(SYLLABLES.findall(word.removesuffix("e") if not word.endswith("le") else word))
    short = syllables == 1 or (syllables == 2 and word.endswith(SHORT_ENDINGS) and not word.endswith("ly"))
    if not short or not word.isalpha():
        return f"{particle} {word}"
    if CONSONANT_Y.search(word):
        return word[:-1] + "i" + ending
    doubled = word + word[-1] if ONE_CONSONANT.search(word) else word
    return doubled.removesuffix("e") + ending


def _with_s(word: str) -> str:
    if CONSONANT_Y.search(word):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(HISSING) else "s")


def _with_ed(verb: str) -> str:
    if CONSONANT_Y.search(verb):
        return verb[:-1] + "ied"
    return verb.removesuffix("e") + "ed"


# The most frequent synonym of a word whose part of speech nobody said.


def likeliest_synonym(word: str, wordnet: WordNet) -> str | None:
    """The most frequent synonym of one word in the word's likeliest part of speech, in its form and case; None where
    there is none.

    >>> likeliest_synonym("films", wordnet)
    'movies'
    """
    for part_of_speech in list(parts_of_speech(word, wordnet))[:1]:
        one_word = [each for each in synonyms(word, part_of_speech, wordnet) if each.isalpha()]
        if one_word:
            return in_form_of(one_word[0], word, part_of_speech, wordnet)
    return None
