"""Parts of speech, forms and names of the words of English texts, by Apertium's dictionary and tagger."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pellucid.attacks.apertium.modes import MODES, tagging_stages, unescaped
from pellucid.attacks.apertium.stage_groups import StageGroups
from pellucid.text.inflection import Form
from pellucid.text.wordnet import PartOfSpeech

NameKind = Literal["person", "place", "organisation", "other"]
UNIT = re.compile(r"\^((?:\\.|[^\\$])*)\$", re.DOTALL)
ANALYSES = re.compile(r"((?:\\.|[^\\/])*)/((?:\\.|[^\\/<])*)((?:<[^>]*>)*)", re.DOTALL)
TAG = re.compile(r"<([^>]*)>")
PARTS_OF_SPEECH: dict[str, PartOfSpeech] = {
    "n": "noun",
    "vblex": "verb",
    "adj": "adjective",
    "adv": "adverb",
    "preadv": "adverb",
}
NAMES: dict[str, NameKind] = {
    "ant": "person",
    "cog": "person",
    "loc": "place",
    "top": "place",
    "org": "organisation",
}
FORMS: dict[str, Form] = {
    "pl": "plural",
    "past": "past",
    "pp": "participle",
    "pprs": "gerund",
    "ger": "gerund",
    "subs": "gerund",
    "comp": "comparative",
    "sup": "superlative",
}


@dataclass(frozen=True)
class TaggedWord:
    """A word, or a term of several, at characters [start, end) of the text, as Apertium reads it.

    lemma: its base form; that of an unknown word is the word. part_of_speech: None for names, auxiliaries, function words,
    punctuation and unknown words. name: the kind of a proper name, else None.
    """

    start: int
    end: int
    lemma: str
    part_of_speech: PartOfSpeech | None
    form: Form
    name: NameKind | None


class Tagger:
    """English parts of speech and names; its programs are kept running."""

    def __init__(self, seconds: float = 20.0, modes: Path = MODES) -> None:
        """seconds: the most for one text. Raises `BadFile`, with the package, where no English mode is installed."""
        self.stages = StageGroups(tagging_stages(modes), seconds)

    def words(self, texts: Sequence[str]) -> list[tuple[TaggedWord, ...]]:
        """The words of each text in their order; none for a text that took too long."""
        streams = self.stages.answers(texts)
        return [
            () if stream is None else tuple(_located(stream, text))
            for stream, text in zip(streams, texts, strict=True)
        ]

    def close(self) -> None:
        """End the programs; the next text starts them again."""
        self.stages.close()


def _located(stream: str, text: str) -> Iterator[TaggedWord]:
    """The words of a stream at their places in the text; the full stop that was added has none."""
    offset, before = 0, 0
    for unit in UNIT.finditer(stream):
        offset += len(unescaped(stream[before : unit.start()]))
        before = unit.end()
        match = ANALYSES.match(unit[1])
        surface = unescaped(match[1] if match else unit[1])
        if _plain(text[offset : offset + len(surface)]) != _plain(surface):
            place = text.find(surface, offset)
            if place < 0:
                continue
            offset = place
        if match and surface and offset + len(surface) <= len(text):
            yield _word(offset, offset + len(surface), unescaped(match[2]), TAG.findall(match[3]))
        offset += len(surface)


def _plain(surface: str) -> str:
    """Without what Apertium may write otherwise within a term: the kind of a blank."""
    return re.sub(r"\s", " ", surface)


def _word(start: int, end: int, lemma: str, tags: list[str]) -> TaggedWord:
    """A word by the tags of its first analysis; a word without tags is unknown, and its lemma begins with a star."""
    if not tags:
        return TaggedWord(start, end, lemma.removeprefix("*"), None, "base", None)
    if tags[0] == "np":
        kinds = [NAMES[tag] for tag in tags if tag in NAMES]
        return TaggedWord(start, end, lemma, None, "base", kinds[0] if kinds else "other")
    part_of_speech = PARTS_OF_SPEECH.get(tags[0])
    return TaggedWord(start, end, lemma, part_of_speech, _form(tags) if part_of_speech else "base", None)


def _form(tags: list[str]) -> Form:
    if tags[0] == "vblex" and "p3" in tags and "sg" in tags and "pri" in tags:
        return "third_person"
    return next((FORMS[tag] for tag in tags if tag in FORMS and not (tag == "pl" and tags[0] != "n")), "base")
