"""A mode's stages in the groups that run together: up to the tagger, the tagger alone, and what follows it.

The tagger alone can be spoilt by a text, and starts in milliseconds; the dictionaries beside it take longer.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from pellucid.attacks.apertium.modes import (
    MODES,
    TAGGER,
    closed,
    escaped,
    opened,
    pivot_modes,
    translation_stages,
    unescaped,
)
from pellucid.attacks.apertium.pipeline import Pipeline
from pellucid.text.units import trimmed

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
        """What comes out for each text, in the stream format; None for one that took too long, or that stages died of."""
        streams: list[str | None] = [escaped(closed(text)) for text in texts]
        for pipeline in self.pipelines:
            numbers = [number for number, stream in enumerate(streams) if stream is not None]
            answers = pipeline.answers([streams[number] or "" for number in numbers])
            for number, answer in zip(numbers, answers, strict=True):
                streams[number] = answer
        return streams

    def process_ids(self) -> list[int]:
        """Of the running programs."""
        return [number for pipeline in self.pipelines for number in pipeline.process_ids]

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

        Raises `UnknownName` for a language that is no pivot, and `BadFile`, with its package, for one that is not installed.
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
        numbers = [number for number, translation in enumerate(there) if translation]
        back = _translated([there[number] or "" for number in numbers], self.back)
        of_text = dict(zip(numbers, back, strict=True))
        return [dressed(of_text.get(number), text) for number, text in enumerate(texts)]

    def close(self) -> None:
        """End the programs; the next text starts them again."""
        self.there.close()
        self.back.close()


def back_translations(texts: Sequence[str], pivots: Sequence[Pivot]) -> list[tuple[str, ...]]:
    """The different paraphrases of each text, in the order of the pivots; none that is the text itself.

    What a text has around it, blanks and the case of its first letter, its paraphrases have too. Texts do not touch each other:
    one alone has the same paraphrases as one among many.
    """
    by_pivot = [pivot.paraphrases(texts) for pivot in pivots]
    return [
        tuple(dict.fromkeys(one for one in column if one is not None and one != text))
        for text, *column in zip(texts, *by_pivot, strict=True)
    ]


def _translated(texts: Sequence[str], stages: StageGroups) -> list[str | None]:
    streams = stages.answers(texts)
    return [
        None if stream is None else opened(unescaped(stream), text)
        for stream, text in zip(streams, texts, strict=True)
    ]


def dressed(translation: str | None, text: str) -> str | None:
    """A translation with the blanks around the text, its capital, and no new double blanks; None where nothing is left."""
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
