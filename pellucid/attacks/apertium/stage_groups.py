"""A mode's stages in the groups that run together: up to the tagger, the tagger alone, and what follows it.

The tagger alone can be spoilt by a text, and starts in milliseconds; the dictionaries beside it take longer.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from pellucid.attacks.apertium.modes import TAGGER
from pellucid.attacks.apertium.pipeline import Pipeline
from pellucid.attacks.apertium.stream_format import closed, escaped

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
