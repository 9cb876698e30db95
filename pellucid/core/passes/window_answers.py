"""What a window adds to its text's answer: the text's logits are the mean of its windows', and a number is read off the mean.

A logit of the mean is the mean of logits, so a window's own logit can be explained in its place. A probability of the mean
is no mean of probabilities: a window's part in it is asked while the text's other windows stay as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class WindowAnswers:
    """The model's own answers to windows and to their texts.

    texts, windows: [example logit], of each window's text and of the window; equal for a text that fits one window.
    counts: [example], the windows of each one's text.
    """

    texts: Tensor
    windows: Tensor
    counts: Tensor

    def select(self, indices: Sequence[int]) -> "WindowAnswers":
        """The answers of these windows."""
        chosen = list(indices)
        return WindowAnswers(self.texts[chosen], self.windows[chosen], self.counts[chosen])

    def numbers(self, number_of: Callable[[Tensor], Tensor], logits: Tensor) -> Tensor:
        """[example logit] -> [example]: the text's number when its windows give these logits, one window at a time.

        number_of: [example logit] -> [example]. Changes are multiplied by the number of windows, so that their mean over
        the windows is what they change in the text.
        """
        texts, windows, counts = (part.to(logits) for part in (self.texts, self.windows, self.counts))
        several = counts > 1
        moved = torch.where(several[:, None], texts + (logits - windows) / counts[:, None], logits)
        numbers, start = number_of(moved), number_of(texts)
        return torch.where(several, start + counts * (numbers - start), numbers)
