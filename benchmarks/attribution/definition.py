"""What a method must evaluate by its definition, whoever computes it: so many passes of the whole text."""

from dataclasses import dataclass
from typing import Literal

from benchmarks.attribution.floor import Passes

Shape = Literal["pass", "points", "windows", "samples", "permutations"]
SPECIAL = 2  # tokens of a text that are never varied: [CLS] and [SEP]


@dataclass(frozen=True)
class Definition:
    """passes: forward, or forward and backward ("both"). n: points, samples or permutations of a text."""

    passes: Passes
    shape: Shape
    n: int = 1

    def evaluations(self, length: int) -> int:
        """Passes of a text of so many tokens; no target look-up and no baseline counts, but the intact text does where
        all else is compared with it."""
        pieces = length - SPECIAL
        return {
            "pass": 1,
            "points": self.n,
            "samples": self.n,
            "windows": pieces + 1,
            "permutations": self.n * (pieces - 1) + 2,
        }[self.shape]

    def tokens(self, length: int) -> int:
        """Tokens of those passes."""
        return self.evaluations(length) * length
