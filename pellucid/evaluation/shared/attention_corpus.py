"""What a test of attention over a whole corpus reads, and the lines that it returns."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from pellucid.core.passes.model import Model
from pellucid.core.results.table import Interval
from pellucid.core.text.example import Example


@dataclass(frozen=True)
class AttentionCorpus:
    """seed: of its draws. imitator: lambda -> a model that is trained to imitate this one; None where nothing is trained."""

    model: Model
    examples: tuple[Example, ...]
    seed: int
    imitator: Callable[[float], Model] | None = None


@dataclass(frozen=True)
class CorpusLine:
    """One number. part: its name among the test's lines. n: how many texts, or other things, were counted.

    at: where it stands on a curve, nan elsewhere. meaning: what it says, "" for what the test's registration says. directed: False
    for a number to compare others with, of which neither more nor less speaks for the weights.
    """

    part: str
    value: Interval
    n: int
    at: float = math.nan
    meaning: str = ""
    directed: bool = True
