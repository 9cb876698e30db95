"""Users' own networks, very small: one of each kind that `from_network` should explain."""

import torch
from torch import nn

from tests.shared.tiny import LABELS


class Bag(nn.Module):
    """A sum of word vectors and a linear layer: gradients, paths and occlusions have closed forms."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(600, 8)
        self.head = nn.Linear(8, len(LABELS))

    def forward(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """[batch piece] -> [batch class]"""
        return self.head((self.embedding(ids) * attended[..., None]).sum(1))


class Recurrent(Bag):
    """An LSTM's last state: reads its words in order."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 8, batch_first=True)

    def forward(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """[batch piece] -> [batch class]"""
        lengths = attended.sum(1).clamp_min(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.embedding(ids), lengths, True, enforce_sorted=False)
        return self.head(self.lstm(packed)[1][0][0])


class Convolutional(Bag):
    """The strongest answers of filters over three words."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = nn.Conv1d(8, 8, 3, padding=1)

    def forward(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """[batch piece] -> [batch class]"""
        vectors = (self.embedding(ids) * attended[..., None]).transpose(1, 2)
        return self.head((self.filters(vectors).relu() * attended[:, None]).amax(2))


class Layered(Bag):
    """Two layers that hand states on, each with the piece on its left: named layers have hidden states."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Shifted(8, 12), Shifted(12, 8)

    @property
    def layers(self) -> list[nn.Module]:
        """What `from_network` gets as layers."""
        return [self.first, self.second]

    def forward(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """[batch piece] -> [batch class]"""
        states = self.second(self.first(self.embedding(ids) * attended[..., None]))
        return self.head((states * attended[..., None]).sum(1))


class Shifted(nn.Module):
    """Each piece's vector and the one on its left, mixed."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.own, self.left = nn.Linear(size, width), nn.Linear(size, width, bias=False)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[batch piece size] -> [batch piece width]"""
        earlier = nn.functional.pad(states, (0, 0, 1, 0))[:, :-1]
        return torch.tanh(self.own(states) + self.left(earlier))


def words(text: str) -> list[tuple[int, int, int]]:
    """One (id, start, end) a word; the id, 1 to 500, by its letters."""
    places, place = [], 0
    for word in text.split():
        start = text.index(word, place)
        place = start + len(word)
        places.append((1 + sum(map(ord, word)) % 500, start, place))
    return places
