"""A network that reverses strings: two LSTM layers read a source and then a target so far, and attention looks back.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4.2, explain such a
network step by step; its sizes are not published. Attention: Luong et al. (2015), "Effective Approaches to
Attention-based Neural Machine Translation", equations 5 and 8 ("general").
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from pellucid.models.classifiers.network import NetworkClassifier, from_network

LETTERS = "abcd"
PAD, START = 0, len(LETTERS) + 1  # the start stands between source and target
MARK = ">"  # the start, where source and target are one text
END = "end"
LABELS = (*LETTERS, END)
LAYERS = 3  # two of LSTMs, and what attention adds


class ReversingNetwork(nn.Module):
    """Ids of a source, the start and a target so far -> what comes next in the target."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(START + 1, width)
        self.first, self.second = ReadingLayer(width), ReadingLayer(width)
        self.attention = LookingBack(width)
        self.head = nn.Linear(width, len(LABELS))

    def every_step(self, ids: Tensor, attended: Tensor) -> Tensor:
        """[batch piece] -> logits [batch piece class] of what comes after each piece."""
        n_source = source_lengths(ids, attended)
        states = self.second(self.first(self.embedding(ids), n_source), n_source)
        return self.head(self.attention(states, n_source))

    def forward(self, ids: Tensor, attended: Tensor) -> Tensor:
        """[batch piece] -> logits [batch class] of what comes after the last piece."""
        last = attended.long().sum(1).clamp_min(1) - 1
        logits = self.every_step(ids, attended)
        return logits[torch.arange(len(ids), device=ids.device), last]


class ReadingLayer(nn.Module):
    """An LSTM reads the source; where it ends, another one begins with its state and reads the target."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.encoder, self.decoder = (nn.LSTM(width, width, batch_first=True) for _ in range(2))

    def forward(self, vectors: Tensor, n_source: Tensor) -> Tensor:
        """[batch piece width] -> [batch piece width]; n_source: [batch], how many pieces are the source."""
        length = vectors.shape[1]
        packed = pack_padded_sequence(vectors, n_source.clamp_min(1).cpu(), batch_first=True, enforce_sorted=False)
        read, (hidden, cell) = self.encoder(packed)
        read = pad_packed_sequence(read, batch_first=True, total_length=length)[0]
        there = (n_source > 0).to(vectors)[None, :, None]  # of an empty source nothing was read
        place = torch.arange(length, device=vectors.device)[None] - n_source[:, None]
        target = _moved(vectors, (place + 2 * n_source[:, None]).clamp_max(length - 1))
        written = self.decoder(target, (hidden * there, cell * there))[0]
        return torch.where((place >= 0)[..., None], _moved(written, place.clamp_min(0)), read)


class LookingBack(nn.Module):
    """Each state of the target looks at all states of the source, and takes what it sees in; the source's stay."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, width, bias=False)
        self.joined = nn.Linear(2 * width, width)

    def forward(self, states: Tensor, n_source: Tensor) -> Tensor:
        """[batch piece width] -> [batch piece width]"""
        place = torch.arange(states.shape[1], device=states.device)[None]
        source = place < n_source[:, None]
        looks = states @ self.key(states).transpose(1, 2)
        looks = looks.masked_fill(~source[:, None], torch.finfo(looks.dtype).min)
        seen = looks.softmax(-1) @ states
        return torch.where(source[..., None], states, self.joined(torch.cat([seen, states], -1)).tanh())


def _moved(states: Tensor, places: Tensor) -> Tensor:
    """[batch piece width]: at each piece the state that stands at another place of the row [batch piece]."""
    return states.gather(1, places[..., None].expand_as(states))


def source_lengths(ids: Tensor, attended: Tensor) -> Tensor:
    """[batch]: how many pieces stand before the start; all, where there is no start."""
    before = ((ids == START).long().cumsum(1) == 0) & attended
    return before.sum(1)


def as_model(network: ReversingNetwork) -> NetworkClassifier:
    """The network as a classifier of pairs: a source, and the target so far; its layers have hidden states.

    A time step is a piece of the second text: the state there has read the source and the target up to it, and
    foretells the next letter. Layer 0 are the letters' vectors, 1 and 2 the LSTMs, 3 what attention adds.
    """
    return from_network(
        network.eval(),
        tokenize=lambda text: [
            (START if letter == MARK else 1 + LETTERS.index(letter), place, place + 1)
            for place, letter in enumerate(text)
            if letter in LETTERS + MARK
        ],
        logits=network,
        embedding=network.embedding,
        labels=LABELS,
        name="reversing network",
        pad=PAD,
        separator=START,
        layers=[network.first, network.second, network.attention],
    )
