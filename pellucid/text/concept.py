"""A concept: a name, and the words that stand for it."""

from dataclasses import dataclass

from pellucid.base.errors import BadInput
from pellucid.base.wording import quoted


@dataclass(frozen=True)
class Concept:
    """The words of a concept, such as "time": ("year", "day", …); equal words count once. Raises `BadInput` without words."""

    name: str
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        words = tuple(dict.fromkeys(word.strip() for word in self.words if word.strip()))
        if not self.name.strip() or not words:
            raise BadInput(f"Concept {quoted(self.name)} needs a name and one word or more.")
        object.__setattr__(self, "words", words)
