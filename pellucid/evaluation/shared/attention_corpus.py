"""What a test of attention over a whole corpus reads, and the lines that it returns."""

import math
from dataclasses import dataclass

from pellucid.core.passes.model import Model
from pellucid.core.results.table import Interval
from pellucid.core.text.example import Example


@dataclass(frozen=True)
class AttentionCorpus:
    """train: texts to train with, empty where there are none. seed: of its draws."""

    model: Model
    examples: tuple[Example, ...]
    train: tuple[Example, ...]
    seed: int


@dataclass(frozen=True)
class CorpusLine:
    """One number. part: its name among the test's lines. n: how many texts, or other things, were counted.

    at: where it stands on a curve, nan elsewhere. meaning: what it says, "" for what the test's registration says.
    """

    part: str
    value: Interval
    n: int
    at: float = math.nan
    meaning: str = ""
