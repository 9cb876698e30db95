"""WordNet's synonyms of a word in its part of speech, in its form and case."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.core.foundation.kinds import attack_candidates
from pellucid.core.lexicon.inflection import in_form_of
from pellucid.core.lexicon.synonyms import synonyms as synonyms_of


@attack_candidates.add(needs={"wordnet"})
def synonyms(case: AttackCase, unit: int, *, most: int = 50) -> list[str]:
    """Synonyms of a unit that is one word; none for names, function words and terms of several words.

    most: at most so many, most frequent first. The part of speech is the tagger's where it is installed; else the one that WordNet's texts
    have most often.
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
