"""What one window contributes to the answer for its text. The text's logits are the mean of its windows' logits.

Where a logit is explained, the window's own logit can be explained: the text's logit is the mean of the windows' logits.
The text's probability is not the mean of the windows' probabilities. There, a window's contribution is how the text's
probability changes with this window, while the text's other windows stay as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class WindowAnswers:
    """The model's own logits for windows and for their texts; an example is a window.

    windows: [example logit]. texts: [example logit], logits of the whole text; equal to `windows` where a text fits one
    window. counts: [example], how many windows the text has.
    """

    texts: Tensor
    windows: Tensor
    counts: Tensor

    def select(self, indices: Sequence[int]) -> "WindowAnswers":
        """The answers of these windows."""
        picked = list(indices)
        return WindowAnswers(self.texts[picked], self.windows[picked], self.counts[picked])

    def numbers(self, number_of: Callable[[Tensor], Tensor], logits: Tensor) -> Tensor:
        """[example logit] -> [example]: the text's explained value when one of its windows gives these logits.

        number_of: [example logit] -> [example], the explained value. A change is multiplied by the number of windows, so
        that the mean over the windows is the change of the text.
        """
        texts, windows, counts = (part.to(logits) for part in (self.texts, self.windows, self.counts))
        several = counts > 1
        moved = torch.where(several[:, None], texts + (logits - windows) / counts[:, None], logits)
        numbers, start = number_of(moved), number_of(texts)
        return torch.where(several, start + counts * (numbers - start), numbers)
