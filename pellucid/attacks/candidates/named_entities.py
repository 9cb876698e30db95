"""Names of the same kind that are common in the texts of other classes.

Ren et al. (2019), "Generating Natural Language Adversarial Examples through Probability Weighted Word Saliency", section 3.2.1. Their
names are those of spaCy's kinds; ours are Apertium's people, places and organisations, of one word as the text has it.
"""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.name_counts import KINDS
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attack_candidates


@attack_candidates.add(needs={"apertium", "train"})
def named_entities(case: AttackCase, unit: int, *, most: int = 1) -> list[str]:
    """The names that are commonest in the training texts of all classes but the model's answer; none where the unit is no name.

    most: at most so many, commonest first; the paper's 1.
    """
    at_least("most", most, 1)
    place, dictionaries = case.units[unit], case.dictionaries
    assert dictionaries.names is not None  # the door counts them, or says what is missing
    tagged = dictionaries.part_of_speech(case.text_of[place.segment], place.start, place.end)
    if tagged is None or tagged.name is None or tagged.name not in KINDS:
        return []
    return dictionaries.names.commonest(tagged.name, case.answer.label)[:most]
