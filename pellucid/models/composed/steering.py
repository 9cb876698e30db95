"""What training remembers of a model that chooses its words; buffers, so that it is saved and restored with the weights."""

import torch
from torch import Tensor, nn

MEMORY = 0.9  # of the moving average: how much of it stays at each step


class Steering(nn.Module):
    """steps: how many were made. loss: its moving average, the baseline of REINFORCE. price: of reading every word.

    The price is in units of the loss; below 0 it rewards reading.
    """

    steps: Tensor
    loss: Tensor
    price: Tensor

    def __init__(self) -> None:
        super().__init__()
        for name in ("steps", "loss", "price"):
            self.register_buffer(name, torch.zeros(()))

    def remember(self, loss: Tensor) -> None:
        """Move the average; the first steps count alike, so that nothing hangs on where it starts."""
        self.steps += 1
        self.loss += max(1 / float(self.steps), 1 - MEMORY) * (loss.detach().to(self.loss) - self.loss)
