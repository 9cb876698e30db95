"""Paraphrases by two models: one translates a text, the other its translations back."""

from dataclasses import dataclass

from pellucid.core.foundation.errors import BadInput
from pellucid.models.writing.continuing import likeliest
from pellucid.models.writing.writing_model import WritingModel

MOST_PIECES = 256
BEAM = 5


@dataclass(frozen=True, eq=False)
class ModelPivot:
    """there, back: models that write. n_best: translations that are translated back."""

    there: WritingModel
    back: WritingModel
    n_best: int = 1

    @property
    def digest(self) -> str:
        """Of both models and of how many translations are read."""
        return f"{self.there.hash} {self.back.hash} {self.n_best}"

    def paraphrases(self, text: str) -> list[str]:
        """The different texts that came back, in the order of their translations; none for a text that is too long or says nothing."""
        if not text.strip():
            return []
        beam = max(BEAM, self.n_best)
        try:
            there = likeliest(self.there, text.strip(), beam, MOST_PIECES, self.n_best)
            back = [one for way in there for one in likeliest(self.back, way.text, beam, MOST_PIECES, 1)]
        except BadInput:  # more pieces than the models read
            return []
        return list(dict.fromkeys(one.text for one in back if not one.is_cut))
