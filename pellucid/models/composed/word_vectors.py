"""What encoders on word vectors share: the vectors, how a new encoder is built, and how a saved one is built again."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.core.foundation.checks import at_least, one_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import encoders
from pellucid.core.passes.model import Parts
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.classifiers.pretrained import load_encoder, minilm_source
from pellucid.models.classifiers.tokenizer import Tokenizer
from pellucid.models.composed.plan import Settings
from pellucid.models.families.encoder import Encoder

Vectors = Literal["minilm", "random"]
WIDTH = 384  # of MiniLM's word vectors
# They have no table of positions. The limit keeps one text from taking all memory; longer ones are read in windows.
MOST_PIECES = 4096


@dataclass(frozen=True)
class Encoded:
    """last_hidden_state: [batch piece width], by the name that encoders of Hugging Face have for it."""

    last_hidden_state: Tensor


@dataclass
class EncoderConfig:
    """What an encoder is made of; the fields have the names that other code reads from a configuration of Hugging Face."""

    model_type: str
    vocab_size: int
    pad_token_id: int
    settings: Settings
    hidden_size: int
    num_hidden_layers: int
    max_position_embeddings: int = MOST_PIECES

    def to_dict(self) -> dict[str, object]:
        """Everything, as JSON can hold it."""
        return asdict(self)


class WordVectors(nn.Module):
    """A table of word vectors, and dropout on what is read from it. width: numbers of a vector; MiniLM's have 384."""

    def __init__(self, vocabulary: int, vectors: Vectors, dropout: float, width: int = WIDTH) -> None:
        super().__init__()
        check_own_width(vectors, width)
        self.width = width
        self.table = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.table.weight, std=0.05)  # near the spread of MiniLM's
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """[batch piece] -> [batch piece width]"""
        return self.dropout(self.table(ids))


def check_own_width(vectors: Vectors, width: int | None) -> None:
    """Raise `BadSetting` for vectors that do not exist, or MiniLM's under another width than their own."""
    one_of("vectors", vectors, get_args(Vectors))
    if width is None:
        return
    at_least("vector_width", width, 1)
    if vectors == "minilm" and width != WIDTH:
        raise BadSetting(
            f"vector_width={width} is not possible: MiniLM's word vectors have {WIDTH} numbers; leave vector_width away, or "
            "give vectors='random'."
        )


class BlocksOnVectors(nn.Module):
    """Word vectors and blocks on them, one after the other: the network of an encoder that is trained from word vectors on.

    vectors: the word vectors. blocks: modules that take states [batch piece width] and which pieces are attended [batch
    piece], and return states; a block whose states have parts names them: `parts`. width: numbers of the last block's states.
    """

    def __init__(self, vectors: WordVectors, blocks: Iterable[nn.Module], width: int) -> None:
        super().__init__()
        self.vectors = vectors
        self.blocks = nn.ModuleList(blocks)
        self.width = width

    def get_input_embeddings(self) -> nn.Embedding:
        """The table of word vectors."""
        return self.vectors.table

    @property
    def state_parts(self) -> dict[int, Parts]:
        """Layer, from 1, -> the named parts of its states; of blocks that declare `parts`."""
        named = {layer: getattr(block, "parts", None) for layer, block in enumerate(self.blocks, start=1)}
        return {layer: parts for layer, parts in named.items() if parts}

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor | None = None
    ) -> Encoded:
        """[batch piece] -> states [batch piece width].

        position_ids are not read: the blocks know the order of pieces and no positions.
        """
        states, attended = self.vectors(input_ids), attention_mask.bool()
        for block in self.blocks:
            states = block(states, attended)
        return Encoded(states)


def new_encoder(name: str, changed: Settings) -> tuple[Encoder, Tokenizer]:
    """A registered encoder to be trained, drawn from torch's random state, and MiniLM's tokenizer.

    changed: settings of the encoder that are not its defaults. Raises `UnknownName` for unknown ones, `BadFile` where
    MiniLM's files are neither installed nor on the hub.
    """
    settings = encoders.get(name).settings(changed)
    pretrained = None
    if settings.get("vectors") == "minilm":
        pretrained, tokenizer = load_encoder("minilm")
    else:
        tokenizer = load_tokenizer(minilm_source())
    assert tokenizer.pad_token_id is not None  # MiniLM's tokenizer has a pad token
    encoder = build_encoder(name, settings, len(tokenizer), tokenizer.pad_token_id)
    tokenizer.model_max_length = MOST_PIECES
    if pretrained is not None:
        with torch.no_grad():
            encoder.get_input_embeddings().weight.copy_(pretrained.get_input_embeddings().weight)
    return encoder, tokenizer


def build_encoder(name: str, settings: Settings, vocabulary: int, pad: int) -> Encoder:
    """A registered encoder under all its settings, with its configuration.

    vocabulary: how many ids it reads. pad: the id of the padding token.
    """
    encoder = encoders.get(name).make(vocabulary, **settings)
    encoder.config = EncoderConfig(name, vocabulary, pad, settings, encoder.width, len(encoder.blocks))
    return encoder


def rebuild_encoder(config: Mapping[str, Any]) -> Encoder:  # as EncoderConfig.to_dict left it
    """The encoder of a saved configuration; its weights are still to be loaded."""
    name = config["model_type"]
    settings = encoders.get(name).settings(config["settings"])
    return build_encoder(name, settings, config["vocab_size"], config["pad_token_id"])
