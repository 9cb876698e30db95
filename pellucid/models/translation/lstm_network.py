"""The decoder of an LSTM translator: what was written so far, and attention that looks back at the source.

Luong et al. (2015), "Effective Approaches to Attention-based Neural Machine Translation", equations 5 and 8
("general"). As in Wu et al. (2016), "Google's Neural Machine Translation System", section 3, the first layer asks the
source and the layers above it read the answer: so a step knows what the steps before it asked for, and all steps of a
text are computed together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import GenerationMixin, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import (
    BaseModelOutput,
    BaseModelOutputWithPastAndCrossAttentions,
    Seq2SeqLMOutput,
)

from pellucid.base.checks import of_kind
from pellucid.models.composed.lower_layers import BidirectionalLayer


@dataclass(frozen=True)
class RecurrentStates:
    """What a search goes on from, in place of all that was read before. hidden, cell: for each layer [1 batch
    width].
    """

    hidden: tuple[Tensor, ...]
    cell: tuple[Tensor, ...]

    def of_rows(self, rows: Tensor) -> "RecurrentStates":
        """Those of other rows of the batch, such as of the best beginnings of a search."""
        hidden, cell = (tuple(state.index_select(1, rows) for state in states) for states in (self.hidden, self.cell))
        return RecurrentStates(hidden, cell)


class LstmDecoder(nn.Module):
    """Pieces written so far and the encoder's states -> for every place the state that writes the next piece.

    embed_tokens: the table of word vectors, as wide as states. A place that is not attended writes as the one before
    it.
    """

    def __init__(self, embed_tokens: nn.Embedding, layers: int, dropout: float) -> None:
        super().__init__()
        width = embed_tokens.embedding_dim
        self.embed_tokens = embed_tokens
        every_layer = [nn.LSTM(width, width, batch_first=True) for _ in range(layers)]
        self.blocks = nn.ModuleList(map(DecoderBlock, every_layer))
        self.layers = nn.ModuleList(every_layer)
        self.beginning = nn.Linear(width, 2 * layers * width)
        self.attention = SourceAttention(width)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        input_ids: Tensor,
        encoder_hidden_states: Tensor,
        encoder_attention_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        past_key_values: RecurrentStates | None = None,
    ) -> BaseModelOutputWithPastAndCrossAttentions:
        """input_ids: [batch place], after what `past_key_values` has read. Masks: 1 where a piece may be read; None:
        everywhere.
        """
        source, there = encoder_hidden_states, encoder_attention_mask
        there = torch.ones_like(source[..., 0]) if there is None else there.to(source)
        places = None if attention_mask is None else _ReadPlaces.from_attended(attention_mask)
        states, ends = self.dropout(self.embed_tokens(input_ids)), []
        looks = None
        for index, block in enumerate(self.blocks):
            begin = partial(self._begin, index, past_key_values)
            states, end, weights = block(states, source, there, begin, places, None if index else self.attention)
            looks = weights if looks is None else looks
            ends.append(end)
            states = self.dropout(states)
        hidden, cell = zip(*ends, strict=True)
        return BaseModelOutputWithPastAndCrossAttentions(
            states,
            RecurrentStates(hidden, cell),  # type: ignore[arg-type]  # the library's caches are of Transformers
            cross_attentions=(looks,),  # type: ignore[arg-type]  # there is a layer
        )

    def _begin(self, index: int, past: RecurrentStates | None, source: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """A layer's hidden and cell states before anything is written, from the mean of the source's; else the past."""
        if past is not None:
            return past.hidden[index], past.cell[index]
        mean = (source * there[..., None]).sum(1) / there.sum(1).clamp_min(1)[:, None]
        parts = self.beginning(mean).tanh()[None].chunk(2 * len(self.layers), -1)
        return parts[index].contiguous(), parts[index + len(self.layers)].contiguous()


Begin = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # the source's states, and where they are -> hidden and cell


class DecoderBlock(nn.Module):
    """What a layer makes of the states: the first one's look at the source, what the others read is added to theirs.

    It has no weights of its own: the layer's stand in the decoder, by the names that folders have.
    """

    def __init__(self, layer: nn.LSTM) -> None:
        super().__init__()
        self.of_layer = (layer,)  # in a tuple, torch does not count it as a part

    def forward(
        self,
        states: Tensor,
        source: Tensor,
        there: Tensor,
        begin: Begin,
        places: "_ReadPlaces | None",
        attention: "SourceAttention | None",
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor | None]:
        """The states [batch place width], hidden and cell at the end, and the weights of the source."""
        close = states if places is None else places.close(states)
        # cuDNN has no backward outside training, where explanations are made.
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled and self.training):
            read, end = self.of_layer[0](close, begin(source, there))
        read = read if places is None else places.spread(read)
        if attention is None:
            return states + read, end, None
        seen, weights = attention(read, source, there)
        return seen, end, weights


@dataclass(frozen=True)
class _ReadPlaces:
    """order: [batch place], the places that are read, then the others. last: [batch place], which of the read ones is
    the last up to each place."""

    order: Tensor
    last: Tensor

    @classmethod
    def from_attended(cls, attended: Tensor) -> "_ReadPlaces":
        """attended: [batch place], 1 where a piece is read; at least at the first place."""
        order = attended.long().argsort(dim=1, descending=True, stable=True)
        return cls(order, (attended.long().cumsum(1) - 1).clamp_min(0))

    def close(self, states: Tensor) -> Tensor:
        """The states without gaps; behind them stand those that are not read."""
        return states.gather(1, self.order[..., None].expand_as(states))

    def spread(self, states: Tensor) -> Tensor:
        """At each place the state after what was read up to it."""
        return states.gather(1, self.last[..., None].expand_as(states))


class SourceAttention(nn.Module):
    """States of the target look at all states of the source, and take in what they see."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, width, bias=False)
        self.joined = nn.Linear(2 * width, width)

    def forward(self, states: Tensor, source: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """[batch place width], [batch source width], [batch source] -> the states that saw it, and weights [batch 1
        place source].
        """
        scores = states @ self.key(source).transpose(1, 2)
        scores = scores.masked_fill(there[:, None] == 0, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        seen = weights.to(source.dtype) @ source
        return self.joined(torch.cat([seen, states.to(seen.dtype)], -1)).tanh(), weights[:, None]


# A translator of LSTMs with attention: a bidirectional encoder, and a decoder that looks back, with one table of word
# vectors.
#
# It is a network as the library's are, so searches, the layer of source spans and every method take it like a
# Transformer.


class LstmConfig(PreTrainedConfig):
    """Sizes of an `LstmTranslator`, with the ids of its special tokens."""

    model_type = "pellucid_lstm_translator"

    vocab_size: int = 300
    hidden_size: int = 256
    num_layers: int = 2
    dropout: float = 0.1
    max_position_embeddings: int = 512
    is_encoder_decoder: bool = True
    pad_token_id: int | None = 0
    eos_token_id: int | list[int] | None = 1
    decoder_start_token_id: int | None = 0
    tie_word_embeddings: bool = True


SIZES = ("vocab_size", "hidden_size", "num_layers", "dropout", "max_position_embeddings")
IDS = ("pad_token_id", "eos_token_id", "decoder_start_token_id")


def lstm_config(values: Mapping[str, object]) -> LstmConfig:
    """The configuration that a folder's values describe; nothing else of them is read. Raises `BadSetting` for other
    kinds of values.
    """
    names = {name: of_kind(name, values[name], float if name == "dropout" else int) for name in (*SIZES, *IDS)}
    return LstmConfig(**cast(dict[str, Any], names))


class LstmEncoder(nn.Module):
    """A source's ids -> a state for each piece, which has read the text from both sides; 0 where nothing is
    attended.
    """

    main_input_name = "input_ids"  # the library asks

    def __init__(self, embed_tokens: nn.Embedding, layers: int, dropout: float) -> None:
        super().__init__()
        width = embed_tokens.embedding_dim
        self.embed_tokens = embed_tokens
        self.layers = nn.ModuleList(BidirectionalLayer(width, width // 2, dropout) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        **_: Any,  # what the library asks of Transformers
    ) -> BaseModelOutput:
        """[batch piece] -> states [batch piece width]"""
        attended = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        states = self.dropout(self.embed_tokens(input_ids))
        for layer in self.layers:
            states = layer(states, attended.bool())
        return BaseModelOutput(states)


class LstmTranslator(PreTrainedModel, GenerationMixin):
    """Encoder, decoder and head over the vocabulary; its first weights are torch's."""

    config_class = LstmConfig
    config: LstmConfig
    base_model_prefix = ""
    _tied_weights_keys = {  # noqa: RUF012 - the library reads it from the class
        "lm_head.weight": "shared.weight",
        "encoder.embed_tokens.weight": "shared.weight",
        "decoder.embed_tokens.weight": "shared.weight",
    }

    def __init__(self, config: LstmConfig) -> None:
        super().__init__(config)
        width = config.hidden_size
        self.shared = nn.Embedding(config.vocab_size, width)
        nn.init.normal_(self.shared.weight, std=width**-0.5)
        self.encoder = LstmEncoder(self.shared, config.num_layers, config.dropout)
        self.decoder = LstmDecoder(self.shared, config.num_layers, config.dropout)
        self.lm_head = nn.Linear(width, config.vocab_size, bias=False)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: the parts have begun already."""

    def get_encoder(self, modality: str | None = None) -> LstmEncoder:
        """What reads the source."""
        return self.encoder

    def get_decoder(self) -> LstmDecoder:
        """What reads the target so far."""
        return self.decoder

    def get_input_embeddings(self) -> nn.Embedding:
        """The table of word vectors."""
        return self.shared

    def get_output_embeddings(self) -> nn.Linear:
        """The head over the vocabulary, whose weights are the same table."""
        return self.lm_head

    def prepare_decoder_input_ids_from_labels(self, labels: Tensor) -> Tensor:
        """[batch place]: the first token, then every piece but the last one."""
        start, pad = self.config.decoder_start_token_id, self.config.pad_token_id
        assert start is not None and pad is not None  # `lstm_config` and training give both
        first = torch.full_like(labels[:, :1], start)
        written = labels[:, :-1].masked_fill(labels[:, :-1] < 0, pad)
        return torch.cat([first, written], 1)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,  # the encoder's, where it has run already
        labels: Tensor | None = None,
        past_key_values: RecurrentStates | None = None,
        use_cache: bool | None = None,
        return_dict: bool | None = None,
    ) -> Seq2SeqLMOutput:
        """logits [batch place id] of what comes after each place of the target; labels: in place of
        decoder_input_ids.
        """
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
        if decoder_input_ids is None:
            assert labels is not None  # one of both is given, as in the library
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        decoded = self.decoder(
            input_ids=decoder_input_ids,
            encoder_hidden_states=encoder_outputs[0],
            encoder_attention_mask=attention_mask,
            attention_mask=decoder_attention_mask,
            past_key_values=past_key_values,
        )
        return Seq2SeqLMOutput(
            logits=self.lm_head(decoded.last_hidden_state),
            past_key_values=decoded.past_key_values if use_cache else None,
            cross_attentions=decoded.cross_attentions,
            encoder_last_hidden_state=encoder_outputs[0],
        )

    # What the library's search asks of a network, for states in place of a Transformer's cache.

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        return False

    @staticmethod
    def _reorder_cache(past_key_values: RecurrentStates, beam_idx: Tensor) -> RecurrentStates:
        return past_key_values.of_rows(beam_idx)

    def prepare_inputs_for_generation(  # type: ignore[override]  # states in place of a cache
        self,
        input_ids: Tensor,
        past_key_values: RecurrentStates | None = None,
        attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,  # as in `forward`
        use_cache: bool | None = None,
        **_: Any,  # what the library hands to other networks
    ) -> dict[str, Any]:
        """The last piece alone, where states know of those before it."""
        return {
            "decoder_input_ids": input_ids if past_key_values is None else input_ids[:, -1:],
            "past_key_values": past_key_values,
            "encoder_outputs": encoder_outputs,
            "attention_mask": attention_mask,
            "use_cache": use_cache,
        }
