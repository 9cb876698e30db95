"""A new translator: the library's Transformer with sinusoidal places, norms before each part and one table of word
vectors.

The library calls this form Pegasus; no weights of that model are used.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from pellucid.base.checks import between, of_kind
from pellucid.base.errors import BadSetting
from pellucid.base.torch_state import OwnDraws
from pellucid.models.translation.lstm_network import LstmConfig, LstmTranslator

PAD, END = 0, 1  # the decoder begins with the pad token, as Marian's do
MOST_PLACES = 512


@dataclass(frozen=True)
class NetworkSettings:
    """Sizes of a Transformer that translates.

    layers: blocks of the encoder, and as many of the decoder; 1 to 24. width: of every state, 8 to 4,096, divisible by
        heads.
    heads: of attention. inner_width: of the layers inside blocks; None: four times the width. dropout: 0 to 0.9.
    Raises `BadSetting` for other values.
    """

    layers: int = 3
    width: int = 256
    heads: int = 4
    inner_width: int | None = None
    dropout: float = 0.1

    def __post_init__(self) -> None:
        between("layers", of_kind("layers", self.layers, int), 1, 24)
        between("width", of_kind("width", self.width, int), 8, 4096)
        between("heads", of_kind("heads", self.heads, int), 1, 64)
        between("dropout", self.dropout, 0, 0.9)
        if self.inner_width is not None:
            between("inner_width", of_kind("inner_width", self.inner_width, int), 8, 65536)
        if self.width % self.heads or self.width % 2:
            raise BadSetting(
                f"width={self.width} is not possible with heads={self.heads}; give an even width that heads divides."
            )

    def record(self) -> dict[str, object]:
        """Every field by its name."""
        return asdict(self)


def untrained_network(settings: NetworkSettings, n_pieces: int, seed: int) -> PreTrainedModel:
    """An untrained network over so many pieces; its first weights are drawn from the seed."""
    inner = settings.inner_width or 4 * settings.width
    config = PegasusConfig(
        vocab_size=n_pieces,
        d_model=settings.width,
        encoder_layers=settings.layers,
        decoder_layers=settings.layers,
        encoder_attention_heads=settings.heads,
        decoder_attention_heads=settings.heads,
        encoder_ffn_dim=inner,
        decoder_ffn_dim=inner,
        dropout=settings.dropout,
        attention_dropout=settings.dropout,
        activation_dropout=0.0,
        activation_function="relu",
        scale_embedding=True,
        init_std=settings.width**-0.5,
        max_position_embeddings=MOST_PLACES,
        pad_token_id=PAD,
        eos_token_id=END,
        forced_eos_token_id=None,
        decoder_start_token_id=PAD,
        tie_word_embeddings=True,
    )
    with OwnDraws(seed):
        return PegasusForConditionalGeneration(config)


# A new translator of LSTMs, before it is trained.


@dataclass(frozen=True)
class LstmSettings:
    """Sizes of a translator of LSTMs.

    layers: of the encoder, and as many of the decoder; 1 to 24. width: of every state and word vector, an even number
    from 8 to 4,096; half of an encoder's state comes from each direction. dropout: 0 to 0.9. Raises `BadSetting` for
    other values.
    """

    layers: int = 2
    width: int = 256
    dropout: float = 0.1

    def __post_init__(self) -> None:
        between("layers", of_kind("layers", self.layers, int), 1, 24)
        between("width", of_kind("width", self.width, int), 8, 4096)
        between("dropout", self.dropout, 0, 0.9)
        if self.width % 2:
            raise BadSetting(f"width={self.width} is odd; each direction has half of it, so give an even number.")

    def record(self) -> dict[str, object]:
        """Every field by its name, and that it is no Transformer."""
        return {"kind": "lstm"} | asdict(self)


def untrained_lstm(settings: LstmSettings, n_pieces: int, seed: int) -> LstmTranslator:
    """An untrained network over so many pieces; its first weights are drawn from the seed."""
    config = LstmConfig(
        vocab_size=n_pieces,
        hidden_size=settings.width,
        num_layers=settings.layers,
        dropout=settings.dropout,
        max_position_embeddings=MOST_PLACES,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=PAD,
    )
    with OwnDraws(seed):
        return LstmTranslator(config)


# Joint pieces: one table of byte pairs for both languages, learnt on train texts only; bytes stand for what it does
# not know.

PAD_TOKEN, END_TOKEN = "<pad>", "</s>"
BYTES = 256


def learn_pieces(texts: Iterable[str], n_pieces: int) -> PreTrainedTokenizerFast:
    """A tokenizer of at most so many pieces, bytes and two special tokens among them; equal texts give equal pieces.

    n_pieces: 300 or more. Raises `BadSetting` for fewer.
    """
    if n_pieces < BYTES + 44:
        raise BadSetting(f"pieces={n_pieces} is too few; give {BYTES + 44} or more: the bytes are {BYTES}.")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=n_pieces,
        special_tokens=[PAD_TOKEN, END_TOKEN],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    assert (tokenizer.token_to_id(PAD_TOKEN), tokenizer.token_to_id(END_TOKEN)) == (PAD, END)
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(
                single=f"$A {END_TOKEN}",
                pair=f"$A {END_TOKEN} $B {END_TOKEN}",
                special_tokens=[(END_TOKEN, END)],
            ),
        ]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD_TOKEN,
        eos_token=END_TOKEN,
        clean_up_tokenization_spaces=False,
        split_special_tokens=True,  # a text that spells one out is text
    )
