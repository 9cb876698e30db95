"""A mode's stages in the groups that run together, and what they say of English words: parts of speech, forms and
names.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pellucid.attacks.apertium.modes import (
    MODES,
    TAGGER,
    closed,
    escaped,
    opened,
    pivot_modes,
    tagging_stages,
    translation_stages,
    unescaped,
)
from pellucid.attacks.apertium.pipeline import Pipeline
from pellucid.text.inflection import Form
from pellucid.text.units import trimmed
from pellucid.text.wordnet import PartOfSpeech

STATISTICAL = "-g"  # the option of the tagger that has the fault; others, "-gx", have it not
REPORTING = "-d"
SPOILT_BY = re.compile(r"^Word '(.*)'\.\nNew ambiguity class", re.MULTILINE)


class StageGroups:
    """Pipelines one after the other. seconds: the most that a text may take in each."""

    def __init__(self, stages: Sequence[Sequence[str]], seconds: float) -> None:
        groups: list[tuple[list[list[str]], re.Pattern[str] | None]] = [([], None)]
        for program, *arguments in stages:
            if Path(program).name == TAGGER and STATISTICAL in arguments:
                groups += [([[program, REPORTING, *arguments]], SPOILT_BY), ([], None)]
            else:
                groups[-1][0].append([program, *arguments])
        self.pipelines = [Pipeline(group, seconds, spoilt_by) for group, spoilt_by in groups if group]

    def start(self) -> None:
        """Start all programs, if they do not run, without waiting for them."""
        for pipeline in self.pipelines:
            pipeline.start()

    def answers(self, texts: Sequence[str]) -> list[str | None]:
        """What comes out for each text, in the stream format; None for one that took too long, or that stages died
        of.
        """
        streams: list[str | None] = [escaped(closed(text)) for text in texts]
        for pipeline in self.pipelines:
            numbers = [index for index, stream in enumerate(streams) if stream is not None]
            answers = pipeline.answers([streams[text_index] or "" for text_index in numbers])
            for text_index, answer in zip(numbers, answers, strict=True):
                streams[text_index] = answer
        return streams

    def process_ids(self) -> list[int]:
        """Of the running programs."""
        return [process_id for pipeline in self.pipelines for process_id in pipeline.process_ids]

    def close(self) -> None:
        """End the programs; the next text starts them again."""
        for pipeline in self.pipelines:
            pipeline.close()


# Paraphrases of texts: translated into another language and back, by Apertium's rules.

PRONOUN = re.compile(r"I\b|[A-Z]{2}")  # capitals that are no sentence's beginning
TWO_BLANKS = re.compile(r" {2,}")


class Pivot:
    """A language that English texts are translated to and back from; its programs are kept running."""

    def __init__(self, language: str = "spanish", seconds: float = 20.0, modes: Path = MODES) -> None:
        """seconds: the most for one text in each direction.

        Raises `UnknownName` for a language that is no pivot, and `BadFile`, with its package, for one that is not
        installed.
        """
        there, back, package = pivot_modes(language)
        self.language = language
        self.there = StageGroups(translation_stages(there, package, modes), seconds)
        self.back = StageGroups(translation_stages(back, package, modes), seconds)

    def start(self) -> None:
        """Start the programs, if they do not run, without waiting for them."""
        self.there.start()
        self.back.start()

    def paraphrases(self, texts: Sequence[str]) -> list[str | None]:
        """Each text there and back; None where nothing came back, or nothing in time."""
        self.start()  # those of the way back read their dictionaries meanwhile
        there = _translated(texts, self.there)
        numbers = [index for index, translation in enumerate(there) if translation]
        back = _translated([there[text_index] or "" for text_index in numbers], self.back)
        of_text = dict(zip(numbers, back, strict=True))
        return [dressed(of_text.get(text_index), text) for text_index, text in enumerate(texts)]

    def close(self) -> None:
        """End the programs; the next text starts them again."""
        self.there.close()
        self.back.close()


def back_translations(texts: Sequence[str], pivots: Sequence[Pivot]) -> list[tuple[str, ...]]:
    """The different paraphrases of each text, in the order of the pivots; none that is the text itself.

    What a text has around it, blanks and the case of its first letter, its paraphrases have too. Texts do not touch
    each other: one alone has the same paraphrases as one among many.
    """
    by_pivot = [pivot.paraphrases(texts) for pivot in pivots]
    return [
        tuple(dict.fromkeys(paraphrase for paraphrase in column if paraphrase is not None and paraphrase != text))
        for text, *column in zip(texts, *by_pivot, strict=True)
    ]


def _translated(texts: Sequence[str], stages: StageGroups) -> list[str | None]:
    streams = stages.answers(texts)
    return [
        None if stream is None else opened(unescaped(stream), text) for stream, text in zip(streams, texts, strict=True)
    ]


def dressed(translation: str | None, text: str) -> str | None:
    """A translation with the blanks around the text, its capital, and no new double blanks; None where nothing is
    left.
    """
    start, end = trimmed(text, 0, len(text))
    if translation is None or not translation.strip() or not text[start:end].strip():
        return None
    core = translation.strip()
    if not TWO_BLANKS.search(text):
        core = TWO_BLANKS.sub(" ", core)  # where words were left out
    if text[start].isupper():
        core = core[0].upper() + core[1:]
    elif text[start].islower() and not PRONOUN.match(core):
        core = core[0].lower() + core[1:]
    return text[:start] + core + text[end:]


# Parts of speech, forms and names of the words of English texts, by Apertium's dictionary and tagger.

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

    lemma: its base form; that of an unknown word is the word. part_of_speech: None for names, auxiliaries, function
    words, punctuation and unknown words. name: the kind of a proper name, else None.
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
            () if stream is None else tuple(_located(stream, text)) for stream, text in zip(streams, texts, strict=True)
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
