"""What training remembers about a model that chooses its words: buffers, which are saved and restored with the weights."""

import torch
from torch import Tensor, nn

MEMORY = 0.9  # of the moving average: how much of it stays at each step


class Steering(nn.Module):
    """steps: how many there were. loss: its moving average, the baseline of REINFORCE. price: of reading every word.

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
        """Update the average; the first steps count equally, so that its first value does not matter."""
        self.steps += 1
        self.loss += max(1 / float(self.steps), 1 - MEMORY) * (loss.detach().to(self.loss) - self.loss)
