"""Guards of an attack: which edits are allowed, a function each."""

import re

from pellucid.attacks.attack_case import AttackCase, Edit, edited_segments
from pellucid.attacks.attack_steps import Edits
from pellucid.attacks.dictionaries import PARTS_OF_SPEECH
from pellucid.base.checks import between
from pellucid.base.kinds import attack_guards
from pellucid.text.lexicon import antonyms as antonyms_of
from pellucid.text.lexicon import has_content, is_content_word, parts_of_speech
from pellucid.text.units import text_units
from pellucid.text.wordnet import WordNet


@attack_guards.add()
def content_words(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether what is replaced has a content word.

    Function words stay as they are.
    """
    return has_content(edit.before)


PART = re.compile(r"[^\W\d_]+")


@attack_guards.add()
def known_words(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether WordNet has every content word of what is put in, or the text had it before; numbers and signs are no
    words.

    What is put in consists of words that a dictionary has: neither misspelt, nor left untranslated.

    Of a word with hyphens or apostrophes its parts will do. Raises `BadFile`, with the package that brings it, where
    WordNet is not installed.
    """
    text_words = {
        text[start:end].casefold() for text in case.example.segments for start, end in text_units(text, "word")
    }
    words = (edit.after[start:end] for start, end in text_units(edit.after, "word"))
    return all(word.casefold() in text_words or _is_known(word, case.dictionaries.wordnet) for word in words)


def _is_known(word: str, wordnet: WordNet) -> bool:
    if not is_content_word(word) or parts_of_speech(word, wordnet):
        return True
    parts = PART.findall(word)
    return (len(parts) > 1 or not parts) and all(_is_known(part, wordnet) for part in parts)


@attack_guards.add()
def whole_words(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether what is put in begins and ends between words of the edited text, also where it is nothing at all.

    No edit glues words to each other.
    """
    text = edited_segments(case.example.segments, (*before, edit))[edit.segment]
    earlier = (change for change in before if change.segment == edit.segment and change.end <= edit.start)
    start = edit.start + sum(len(change.after) - (change.end - change.start) for change in earlier)
    end = start + len(edit.after)
    return not any(first < start < last or first < end < last for first, last in text_units(text, "word"))


@attack_guards.add()
def one_segment(case: AttackCase, before: Edits, edit: Edit, *, segment: int | None = None) -> bool:
    """Whether an edit is in the segment: the one with this number, or, for None, that of the first edit.

    Of a pair, one text alone is edited.
    """
    wanted = segment if segment is not None else (before[0].segment if before else edit.segment)
    return edit.segment == wanted


@attack_guards.add()
def marked_evidence(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether an edit touches no marked character; texts without marks allow every edit.

    What people marked as the reason for the label stays, so that a reader would still give the same
    answer.
    """
    return not any(
        mark.segment == edit.segment and mark.start < edit.end and edit.start < mark.end
        for mark in case.example.rationales
    )


@attack_guards.add()
def antonyms(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether what stands in a word's place afterwards is no antonym of it by WordNet, in any sense of either.

    Then a reader would change the answer too.

    Raises `BadFile`, with the package that brings it, where WordNet is not installed.
    """
    wordnet = case.dictionaries.wordnet
    new, old = edit.after.lower(), edit.before.lower()
    return not any(
        new in antonyms_of(old, part, wordnet) or old in antonyms_of(new, part, wordnet) for part in PARTS_OF_SPEECH
    )


@attack_guards.add()
def similarity(case: AttackCase, before: Edits, edit: Edit, *, least: float = 0.9) -> bool:
    """Whether the cosine of the texts' MiniLM vectors is at least this high afterwards, of a pair's texts the lower
    one.

    The edited text still says about the same.

    least: -1 to 1; 0.9 is the median of texts translated to Spanish and back, 0.22 that of two texts that have nothing
    to do with each other. Raises `BadFile`, which says how to install it, where there is no MiniLM.
    """
    between("least", least, -1, 1)
    edited = edited_segments(case.example.segments, (*before, edit))
    return case.dictionaries.similarity(case.example.segments, edited) >= least


@attack_guards.add()
def share_edited(case: AttackCase, before: Edits, edit: Edit, *, most: float = 0.25) -> bool:
    """Whether at most this share of the words is edited afterwards, one word in any case. most: 0 to 1.

    No more than a share of the text's words is edited.
    """
    between("most", most, 0, 1)
    n_words = sum(len(segment.split()) for segment in case.example.segments)
    edited = sum(len(change.before.split()) for change in (*before, edit))
    return edited <= max(1, most * n_words)
