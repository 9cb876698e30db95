"""A masked-language-model head on frozen word vectors: dense, GELU, LayerNorm, and the word vectors as decoder.

Devlin et al. (2019), "BERT", appendix A.2, and the code released with it: the decoder's weight is the table of word
vectors. Here the table is frozen, so only dense, norm and the decoder's bias are trained.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput

from pellucid.base.errors import ModelCannot
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.in_memory import network_digest
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.run.model import Model
from pellucid.run.module_hooks import hook_output
from pellucid.run.target import NamedTokens
from pellucid.run.trace import Want

NUMBERS = 1 << 23  # logits that are in memory at once: 32 MB
STD = 0.02  # of the first weights, as BERT's


class MaskedHead(nn.Module):
    """Reads states [place width] as logits over the vocabulary.

    word_vectors: [token vector], frozen; it is used as it is, not copied, and belongs to no state_dict. width: numbers
    of a state; where it differs from that of word vectors, `dense` projects.
    """

    def __init__(self, width: int, word_vectors: Tensor) -> None:
        super().__init__()
        n_tokens, vector_width = word_vectors.shape
        self.dense = nn.Linear(width, vector_width)
        nn.init.normal_(self.dense.weight, std=STD)
        nn.init.zeros_(self.dense.bias)
        self.norm = nn.LayerNorm(vector_width)
        self.bias = nn.Parameter(torch.zeros(n_tokens))
        self.register_buffer("word_vectors", word_vectors.detach(), persistent=False)
        self.word_vectors: Tensor

    @property
    def n_tokens(self) -> int:
        """How many ids it can name."""
        return len(self.word_vectors)

    def features(self, states: Tensor) -> Tensor:
        """[place width] -> [place vector]: what is multiplied with each word vector."""
        return self.norm(nn.functional.gelu(self.dense(states)))

    def forward(self, states: Tensor) -> Tensor:
        """[place width] -> logits [place token]"""
        return nn.functional.linear(self.features(states), self.word_vectors, self.bias)

    def slices_of_places(self, count: int) -> Iterator[slice]:
        """Slices of so many places whose logits fit the memory at once."""
        size = max(1, NUMBERS // self.n_tokens)
        yield from (slice(start, start + size) for start in range(0, count, size))

    def most_likely(self, states: Tensor) -> Tensor:
        """[place]: the id with the largest logit, for states [place width]; of equal ones the first."""
        best = states.new_full((len(states),), -torch.inf)
        ids = torch.zeros(len(states), dtype=torch.long, device=states.device)
        for start, logits in self._logits(self.features(states)):
            highest, index = logits.max(-1)
            ids = torch.where(highest > best, index + start, ids)
            best = torch.maximum(best, highest)
        return ids

    def _logits(self, features: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Logits [place part] of parts of the vocabulary, with the first id of each part."""
        size = max(1, NUMBERS // max(1, len(features)))
        for start in range(0, self.n_tokens, size):
            part = slice(start, start + size)
            yield start, nn.functional.linear(features, self.word_vectors[part], self.bias[part])


def word_vectors_of(model: Model) -> Tensor:
    """[token vector]: a model's word embeddings in float32; its own table, not a copy, where the table is what it
    reads.
    """
    table = getattr(getattr(model, "embedding", None), "weight", None)
    count = _n_tokens(model)
    if isinstance(table, Tensor) and table.ndim == 2 and len(table) >= count:
        some = torch.arange(min(8, len(table)), device=table.device)
        if torch.equal(model.embed(some), table.detach()[some]):  # some families multiply what they look up
            return table.detach().float()
        count = len(table)
    return model.embed(torch.arange(count, device=model.device)).detach().float()


def _n_tokens(model: Model) -> int:
    """One more than the highest id that a text can have."""
    blanks = [blank_id for blank_id in model.blank_ids().values() if blank_id is not None]
    return max([int(model.vocabulary.max()), *blanks]) + 1


# The masked-language-model head of a pretrained checkpoint, frozen: everything that runs after the encoder's last
# block.
#
# Hou & Castañón (2023), "Decoding Layer Saliency in Language Transformers", section 3.2; with the checkpoint's own
# word embeddings, never those of the fine-tuned classifier (corrections.md A1.8).
#
# No family is looked up by its name. The encoder is taken out of the library's own network and states are put in its
# place; that this gives the network's own logits is tried when the head is read.

BEFORE = "the encoder before fine-tuning"
TOLERANCE = 1e-4  # of a logit, or of 1 where it is smaller


class GivenStates(nn.Module):
    """Stands where a network had its encoder, and returns the states that the network was called with.

    last: what lies between the encoder's last block and its last hidden state, a norm in some families. embeddings: the
    encoder's, which some heads read.
    """

    def __init__(self, last: nn.Module, embeddings: nn.Module | None) -> None:
        super().__init__()
        self.last, self.embeddings = last, embeddings

    def forward(self, *_: object, inputs_embeds: Tensor, **__: object) -> BaseModelOutput:
        """The states, as the encoder would have returned them."""
        return BaseModelOutput(last_hidden_state=self.last(inputs_embeds))


class MaskedLMHead:
    """A masked-LM network without its encoder; implements `core.LanguageHead`. It reads every layer in the same way."""

    trained_on = BEFORE

    def __init__(self, network: Any, tokenizer: Tokenizer, name: str) -> None:
        """Any: a network of Hugging Face, which declares no parts. It becomes the head's own, and loses its encoder.

        Raises `ModelCannot` where its logits are no function of its encoder's last states alone.
        """
        self.description = f"masked-language-model head of {name}"
        self.vocabulary = vocabulary_digest(tokenizer)
        theirs, states = _without_encoder(network.eval().requires_grad_(False), tokenizer, name)
        self._network, self.width, self.n_tokens = network, states.shape[-1], theirs.shape[-1]
        self.digest = network_digest(network, ["masked_lm_head", self.vocabulary])
        ours = self._logits(states)
        if ours.shape != theirs.shape or ((ours - theirs).abs() > TOLERANCE * theirs.abs().clamp_min(1.0)).any():
            raise ModelCannot(_unusual(name))

    def __repr__(self) -> str:
        return f"<MaskedLMHead: {self.description}>"

    def log_probabilities(self, states: Tensor, layer: int, ids: Sequence[int]) -> Tensor:
        """See `core.LanguageHead`."""
        return self.name_tokens(states, layer, ids).log_probabilities

    def most_likely(self, states: Tensor, layer: int) -> Tensor:
        """See `core.LanguageHead`."""
        return self.name_tokens(states, layer, ()).most_likely

    @torch.no_grad()
    def name_tokens(self, states: Tensor, layer: int, ids: Sequence[int]) -> NamedTokens:
        """See `core.LanguageHead`; states of another number type or device are read in the head's own."""
        parameter = next(self._network.parameters())
        named = named_tokens(self._logits, states.to(parameter), ids, self.n_tokens)
        return NamedTokens(named.log_probabilities.to(states.device), named.most_likely.to(states.device))

    def to(self, device: torch.device, dtype: torch.dtype = torch.float32) -> "MaskedLMHead":
        """Move its weights, and have them in a number type, in which it computes."""
        self._network.to(device, dtype)
        return self

    def _logits(self, states: Tensor) -> Tensor:
        """[place width] -> [place token]."""
        return self._network(inputs_embeds=states[None], return_dict=True).logits[0]


def _without_encoder(network: Any, tokenizer: Tokenizer, name: str) -> tuple[Tensor, Tensor]:
    """Take the encoder out of a network; its own logits [place token] for a short text, and its last block's states."""
    encoder = network.base_model
    last: list[Tensor] = []
    read: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def note(module: nn.Module, inputs: tuple[Any, ...], output: object) -> None:
        first = output[0] if isinstance(output, tuple) else output
        if inputs and isinstance(inputs[0], Tensor) and isinstance(first, Tensor):
            read[module] = inputs[0].detach(), first.detach()

    removers = [hook_output(module, note) for module in encoder.modules() if module is not encoder]
    removers.append(hook_output(encoder, lambda _, __, output: last.append(output[0].detach())))
    try:
        reader = Classifier(network, tokenizer, ("token",), "single_label", name)
        with torch.no_grad():
            trace = reader.trace([reader.facts.trial_row], Want(hidden=True))
    finally:
        for remove in removers:
            remove()
    if not trace.hidden or not last or trace.logits.ndim != 3:
        raise ModelCannot(_unusual(name))
    setattr(
        network,
        network.base_model_prefix,
        GivenStates(_between(trace.hidden[-1], last[-1], read, name), getattr(encoder, "embeddings", None)),
    )
    return trace.logits[0], trace.hidden[-1][0].detach()


def _between(block: Tensor, last: Tensor, read: dict[nn.Module, tuple[Tensor, Tensor]], name: str) -> nn.Module:
    """The module that leads from the last block's states to the encoder's last states; the identity where they are
    equal.
    """
    if _equal(block, last):
        return nn.Identity()
    for module, (before, after) in read.items():
        if _equal(before, block) and _equal(after, last):
            return module
    raise ModelCannot(_unusual(name))


def _equal(first: Tensor, second: Tensor) -> bool:
    return first.shape == second.shape and torch.equal(first, second)


def _unusual(name: str) -> str:
    return (
        f"The head of {name} does not read its encoder's last hidden states alone, so it cannot read other states; "
        f"train a lens for the classifier instead."
    )


# Probabilities over a large vocabulary for some tokens, in slices of places, so that memory stays flat.

LOGITS_AT_ONCE = 1 << 23  # 32 MB
TOKENS_AT_ONCE = 1024


def vocabulary_digest(tokenizer: Tokenizer) -> str:
    """32 hexadecimal digits for all tokens and their ids."""
    text = json.dumps(sorted(tokenizer.get_vocab().items()), ensure_ascii=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def named_tokens(logits: Callable[[Tensor], Tensor], states: Tensor, ids: Sequence[int], n_tokens: int) -> NamedTokens:
    """For states [place width] the log-probabilities of some ids [place k], and the likeliest ids [place].

    logits: some states -> [place token]. The normaliser is the exact sum over all tokens; of the vocabulary's
    probabilities only the k columns are formed, and all logits only for so many places that they take 32 MB.
    """
    columns = torch.as_tensor(list(ids), dtype=torch.long, device=states.device)
    parts = [_of_some(logits(some), columns) for some in states.split(max(1, LOGITS_AT_ONCE // max(1, n_tokens)))]
    if not parts:
        return NamedTokens(states.new_zeros(0, len(columns)), columns.new_zeros(0))
    named, best = zip(*parts, strict=True)
    return NamedTokens(torch.cat(named), torch.cat(best))


def _of_some(logits: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """[place k] log-probabilities and [place] likeliest ids of logits [place token].

    The vocabulary is read in slices that stay in the processor's cache: over all of it at once, the largest number and
    the sum would cost half as much as the product that made the logits.
    """
    slices = logits.split(TOKENS_AT_ONCE, -1)
    highest, where = torch.stack([some.amax(-1) for some in slices], -1).max(-1, keepdim=True)
    total = torch.stack([(some - highest).exp_().sum(-1) for some in slices]).sum(0)
    best = torch.empty_like(where[:, 0])
    for index, some in enumerate(slices):
        places = (where[:, 0] == index).nonzero()[:, 0]
        if len(places):
            best[places] = some[places].argmax(-1) + index * TOKENS_AT_ONCE
    return logits[:, columns] - highest - total.log()[:, None], best
