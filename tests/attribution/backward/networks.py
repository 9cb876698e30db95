"""Small random networks of every kind that relevance must conserve on, in float64, with or without biases."""

import re
import zlib
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSequenceClassification

from pellucid.models.classifiers.network import NetworkClassifier, from_network
from tests.shared.tiny import FAMILIES, LABELS, tiny_classifier, tiny_composed

WORDS = 97
WIDTH = 16


def word_ranges(text: str) -> list[tuple[int, int, int]]:
    """One piece a word; its number is drawn from its letters, 0 is padding."""
    ranges = [(word.start(), word.end()) for word in re.finditer(r"\S+", text)]
    return [(1 + zlib.crc32(text[start:end].encode()) % (WORDS - 1), start, end) for start, end in ranges]


class Recurrent(nn.Module):
    """A two-layer BiLSTM over packed rows, the mean of its states, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * WIDTH, len(LABELS))

    def forward(self, ids: Tensor, attended: Tensor) -> Tensor:
        """[batch piece] -> [batch class]"""
        lengths, states = attended.sum(1), self.embedding(ids)
        packed = nn.utils.rnn.pack_padded_sequence(states, lengths.cpu(), True, enforce_sorted=False)
        states, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.head(states.sum(1) / lengths[:, None])


class Forward(nn.Module):
    """A one-layer LSTM's last state, its rows position by position (not batch first)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, len(LABELS))

    def forward(self, ids: Tensor, attended: Tensor) -> Tensor:
        """[batch piece] -> [batch class]"""
        states, _ = self.lstm(self.embedding(ids).transpose(0, 1))
        return self.head(states[attended.sum(1) - 1, torch.arange(len(ids))])


class TimeFirst(nn.Module):
    """Two linear layers at every position, its states [position batch width]; their sum decides."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.inner = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, len(LABELS))

    def forward(self, ids: Tensor, attended: Tensor) -> Tensor:
        """[batch piece] -> [batch class]"""
        states = self.inner(self.embedding(ids).transpose(0, 1)).relu()
        return self.head((states * attended.T[..., None]).sum(0))


class Convolutional(nn.Module):
    """Filters of widths 1, 3 and 5, the strongest answer of each, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.filters = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, width, padding=width // 2) for width in (1, 3, 5))
        self.head = nn.Linear(3 * WIDTH, len(LABELS))

    def forward(self, ids: Tensor, attended: Tensor) -> Tensor:
        """[batch piece] -> [batch class]"""
        states = (self.embedding(ids) * attended[..., None]).transpose(1, 2)
        answers = [(layer(states).relu() * attended[:, None]).amax(2) for layer in self.filters]
        return self.head(torch.cat(answers, 1))


class Encoder(nn.Module):
    """torch's own Transformer encoder with learnt positions; its first position decides."""

    def __init__(self, norm_first: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.positions = nn.Parameter(torch.randn(64, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 32, batch_first=True, activation="gelu", norm_first=norm_first)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, len(LABELS))

    def forward(self, ids: Tensor, attended: Tensor) -> Tensor:
        """[batch piece] -> [batch class]"""
        states = self.embedding(ids) + self.positions[: ids.shape[1]]
        return self.head(self.encoder(states, src_key_padding_mask=~attended)[:, 0])


class Perceptron(nn.Module):
    """A bag of words under two ReLU layers."""

    def __init__(self, activation: nn.Module | None = None) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.Sequential(
            nn.Linear(WIDTH, 32),
            activation or nn.ReLU(),
            nn.Linear(32, 32),
            activation or nn.ReLU(inplace=True),
        )
        self.head = nn.Linear(32, len(LABELS))

    def forward(self, ids: Tensor, attended: Tensor) -> Tensor:
        """[batch piece] -> [batch class]"""
        return self.head(self.layers((self.embedding(ids) * attended[..., None]).sum(1)))


DECODERS: dict[str, dict[str, Any]] = {
    "gpt2": {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64},
    "llama": {"num_key_value_heads": 2},
    "qwen2": {"num_key_value_heads": 2},
}
_SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}


def decoder(kind: str) -> nn.Module:
    """A random decoder with a classification head."""
    sizes = DECODERS[kind] if kind == "gpt2" else {**_SIZES, **DECODERS[kind]}
    config = AutoConfig.for_model(
        kind,
        vocab_size=WORDS,
        pad_token_id=0,
        num_labels=len(LABELS),
        bos_token_id=1,
        eos_token_id=2,
        **sizes,
    )
    return AutoModelForSequenceClassification.from_config(config)


OWN = {
    "perceptron": Perceptron,
    "lstm": Recurrent,
    "lstm_positions_first": Forward,
    "cnn": Convolutional,
    "transformer": Encoder,
    "transformer_norm_first": lambda: Encoder(norm_first=True),
    **{kind: lambda kind=kind: decoder(kind) for kind in DECODERS},
}
KINDS = (*dict.fromkeys((*FAMILIES, *OWN)), "span", "first_token", "mean")


def as_model(network: nn.Module, **settings: Any) -> NetworkClassifier:
    """A network of ours as a classifier."""
    logits, embedding = network, getattr(network, "embedding", None)
    if hasattr(network, "get_input_embeddings"):
        embedding = network.get_input_embeddings()
        logits = lambda ids, attended: network(input_ids=ids, attention_mask=attended.long()).logits  # noqa: E731
    return from_network(
        network.eval(), tokenize=word_ranges, logits=logits, embedding=embedding, labels=LABELS, **settings
    )


def model_of(kind: str, biases: bool = False) -> Any:
    """A classifier of the kind in float64, its weights large enough that inputs matter."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        if kind in OWN:
            model = as_model(OWN[kind]())
        elif kind in FAMILIES:
            model = tiny_classifier(kind)
        else:
            model = tiny_composed(kind)
        model.network.double()
        with torch.no_grad():
            for name, parameter in model.network.named_parameters():
                if not biases and name.endswith(("wpe.weight", "positions")):
                    parameter.zero_()  # added to the words where no layer can be read
                elif "bias" in name:
                    parameter.normal_(std=0.1) if biases else parameter.zero_()
                elif kind in DECODERS and parameter.ndim > 1:
                    parameter.mul_(4.0)
    return model
