"""One bidirectional LSTM over the pieces that are attended; those that are not are passed over, as if they were not there."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BidirectionalLayer(nn.Module):
    """hidden: numbers of a state from each direction; "forward" and "backward" are the two halves of a state."""

    def __init__(self, size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.parts = {"forward": slice(0, hidden), "backward": slice(hidden, 2 * hidden)}
        self.lstm = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, attended: Tensor) -> Tensor:
        """[batch piece size] -> [batch piece width], 0 where nothing is attended."""
        order = attended.long().argsort(dim=1, descending=True, stable=True)  # attended pieces first
        lengths = attended.sum(1).clamp_min(1).cpu()
        close = states.gather(1, order[..., None].expand_as(states))
        packed = pack_padded_sequence(close, lengths, batch_first=True, enforce_sorted=False)
        # cuDNN has no backward outside training, where explanations are made.
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled and self.training):
            outputs = self.lstm(packed)[0]
        read = pad_packed_sequence(outputs, batch_first=True, total_length=states.shape[1])[0]
        back = order.argsort(dim=1)[..., None].expand_as(read)
        return self.dropout(read.gather(1, back) * attended[..., None])
