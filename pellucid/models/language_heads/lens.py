"""Digests of what a lens is made of: its tensors, and what the ids of a model mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.base.checks import between, quoted
from pellucid.base.errors import ModelCannot
from pellucid.base.json_text import json_digest
from pellucid.models.language_heads.lens_table import LensTable, read_lens_table
from pellucid.models.language_heads.masked_head import MaskedHead, named_tokens
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model, lacking
from pellucid.run.target import NamedTokens
from pellucid.run.trace import Want
from pellucid.text.example import Example


def tensors_digest(tensors: Mapping[str, Tensor]) -> str:
    """32 hexadecimal digits for named tensors and their shapes."""
    digest = blake2b(digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name}{list(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def vocabulary_digest(model: Model) -> str:
    """32 hexadecimal digits for the pieces of a model's tokenizer by their ids; of a model without one, for its ids."""
    tokenizer = getattr(model, "tokenizer", None)
    if callable(vocabulary := getattr(tokenizer, "get_vocab", None)):
        return json_digest(sorted(vocabulary().items()))
    return json_digest([model.vocabulary.tolist(), sorted(model.blank_ids().items())])


# A lens: a masked-language-model head for the last layer, and for each layer below an affine translator to it.
#
# Belrose et al. (2023), "Eliciting Latent Predictions from Transformers with the Tuned Lens", section 3: the states
# of layer l are translated, h -> A_l h + b_l, and then read by the head of the last layer.

# What lens.json says of a lens: sizes, digests, what it was trained on and how, and how well it names pieces.

FORM = "pellucid-lens-1"
ENCODER, CLASSIFIER = "the encoder before fine-tuning", "the classifier"
MOST_WIDTH, MOST_TOKENS, MOST_LAYERS = 1 << 17, 1 << 24, 10_000  # of any model there is


@dataclass(frozen=True)
class LensRecord:
    """What a lens is of.

    model, model_hash: name and digest of the model whose states it reads. vocabulary: a digest of what ids mean.
    trained_on: ENCODER or CLASSIFIER. widths: numbers of a state of each layer, 0 to the last. vector_width, n_tokens:
    of the table of word vectors. recipe: every setting of the training. fingerprint: names model, texts and recipe.
    weights: a digest of all tensors. n_texts: how many texts it was trained on. table: how well it names pieces, on dev
    texts.
    """

    model: str
    model_hash: str
    vocabulary: str
    trained_on: str
    widths: tuple[int, ...]
    vector_width: int
    n_tokens: int
    recipe: Mapping[str, object]
    fingerprint: str
    weights: str
    n_texts: int
    table: LensTable

    @property
    def n_layers(self) -> int:
        """The number of the last layer; layer 0 is the first block's input."""
        return len(self.widths) - 1

    @property
    def translated(self) -> tuple[int, ...]:
        """The layers that have a translator."""
        return tuple(layer.layer for layer in self.table.layers if layer.translated)

    def record(self) -> dict[str, object]:
        """Everything as JSON can hold it."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {"form": FORM, **plain, "widths": list(self.widths), "table": self.table.record()}


def read_lens_record(values: Mapping[str, Any]) -> LensRecord:  # Any: values of every kind, checked here
    """The record in a stranger's lens.json; raises `ValueError`, `TypeError` or `LookupError` for what is none."""
    if values.get("form") != FORM:
        raise ValueError("it is of another form")
    if values["trained_on"] not in (ENCODER, CLASSIFIER):
        raise ValueError(f"trained_on is {quoted(values['trained_on'])}")
    widths = values["widths"]
    if not isinstance(widths, list) or not 1 <= len(widths) <= MOST_LAYERS:
        raise ValueError(f"widths is {quoted(widths)}, which is no list of layers")
    words = {
        name: _word(name, values[name]) for name in ("model", "model_hash", "vocabulary", "fingerprint", "weights")
    }
    return LensRecord(
        **words,
        trained_on=values["trained_on"],
        widths=tuple(_size("a width", width, MOST_WIDTH) for width in widths),
        vector_width=_size("vector_width", values["vector_width"], MOST_WIDTH),
        n_tokens=_size("n_tokens", values["n_tokens"], MOST_TOKENS),
        recipe=_numbers("recipe", values["recipe"]),
        n_texts=_size("n_texts", values["n_texts"], 10**12),
        table=read_lens_table(values["table"], len(widths) - 1),
    )


def _word(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {quoted(value)}, not a word")
    return value


def _size(name: str, value: object, most: int) -> int:
    if type(value) is not int or not 1 <= value <= most:
        raise ValueError(f"{name} is {quoted(value)}, not a whole number from 1 to {most:,}")
    return value


def _numbers(name: str, value: object) -> Mapping[str, object]:
    """Names with finite numbers."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is {quoted(value)}, not names with values")
    for setting, amount in value.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not abs(amount) <= HIGHEST_SEED:
            raise ValueError(f"{setting} of its {name} is {quoted(amount)}, not a number")
    return value


class Translators(nn.Module):
    """For each layer below the last an affine map of its states to states of the last layer; it begins as the identity.

    widths: numbers of a state of each layer, the last layer's at the end. Where a layer is narrower than the last one,
    its states are filled with zeros at first; where it is wider, they are cut.
    """

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.of_layer = nn.ModuleList(nn.Linear(width, widths[-1]) for width in widths[:-1])
        for translator in self.of_layer:
            assert isinstance(translator, nn.Linear)
            nn.init.eye_(translator.weight)
            nn.init.zeros_(translator.bias)

    def forward(self, states: Tensor, layer: int) -> Tensor:
        """[place layer_width] -> [place width]; the last layer's states stay as they are."""
        return states if layer == len(self.of_layer) else self.of_layer[layer](states)


@dataclass(frozen=True, eq=False, repr=False)
class Lens:
    """A language head for every layer of one model; implements `core.LanguageHead`.

    head: reads states of the last layer. translators: layer -> its affine map; a layer without one is read by the head
    as it is. record: what it was trained on and how well it names pieces, as lens.json says.
    """

    head: MaskedHead
    translators: Mapping[int, nn.Module]
    record: LensRecord

    def __repr__(self) -> str:
        return f"<Lens of {self.record.model}: {self.record.n_layers} layers, on {self.trained_on}>"

    def __str__(self) -> str:
        return str(self.record.table)

    @property
    def digest(self) -> str:
        """32 hexadecimal digits for all weights, the word vectors among them."""
        return self.record.weights

    @property
    def description(self) -> str:
        """What it is, in one line that stands with results."""
        return (
            f"a lens trained on {self.trained_on} ({self.record.model}): a masked-language-model head on its word "
            f"vectors, and {len(self.translators)} of {self.record.n_layers} layers translated"
        )

    @property
    def width(self) -> int:
        """Numbers of a state of the last layer."""
        return self.record.widths[-1]

    @property
    def n_tokens(self) -> int:
        """How many ids it can name."""
        return self.head.n_tokens

    @property
    def trained_on(self) -> str:
        """Whose states it was trained on."""
        return self.record.trained_on

    @property
    def vocabulary(self) -> str:
        """A digest of what the ids mean."""
        return self.record.vocabulary

    def to(self, device: torch.device, dtype: torch.dtype = torch.float32) -> "Lens":
        """Move the lens to a device, have it in a number type, in which it computes, and return it."""
        for module in (self.head, *self.translators.values()):
            module.to(device, dtype)
        return self

    def log_probabilities(self, states: Tensor, layer: int, ids: Sequence[int]) -> Tensor:
        """See `core.LanguageHead`."""
        return self.name_tokens(states, layer, ids).log_probabilities

    def most_likely(self, states: Tensor, layer: int) -> Tensor:
        """See `core.LanguageHead`."""
        return self.name_tokens(states, layer, ()).most_likely

    @torch.no_grad()
    def name_tokens(self, states: Tensor, layer: int, ids: Sequence[int]) -> NamedTokens:
        """See `core.LanguageHead`; states of another number type or device are read in the lens's own."""
        translated = self._translated(states.to(self.head.bias), layer)
        named = named_tokens(self.head, translated, ids, self.n_tokens)
        return NamedTokens(named.log_probabilities.to(states.device), named.most_likely.to(states.device))

    def _translated(self, states: Tensor, layer: int) -> Tensor:
        """States [place width] as the head reads them; raises `BadSetting` for no such layer, `ModelCannot` for a
        width.
        """
        between("layer", layer, 0, self.record.n_layers)
        width = self.record.widths[layer]
        if states.shape[-1] != width:
            raise ModelCannot(
                f"The language head reads states of {width} numbers from layer {layer}, and these have "
                f"{states.shape[-1]}; give a lens that was trained on this model: pellucid lens MODEL --texts FILE "
                f"--out LENS."
            )
        translator = self.translators.get(layer)
        return states if translator is None else translator(states)


# Whether a lens reads the states of a model: its ids, its layers and their widths.

NEEDS = frozenset({"gradient", "hidden_states"})
TRIAL = Example(("a b c",), id="trial")
OWN = "make one of its own: pellucid lens MODEL --texts FILE --out LENS"


def check_has_states(model: Model) -> None:
    """Raise `ModelCannot` where a model shows no hidden states or word embeddings, which a lens is made from."""
    lacks = lacking(model, NEEDS)
    if lacks:
        raise ModelCannot(
            f"{model.name} {lacks}, so there is nothing for a lens to read (documents in joined windows have no states "
            f"of their own); give a model that reads its text at once."
        )


def layer_widths(model: Model) -> tuple[int, ...]:
    """Numbers of a state of each layer, 0 to the last, seen while the model reads one short text."""
    with torch.inference_mode(False), torch.no_grad():
        trace = model.trace(model.encode([TRIAL]).rows, Want(hidden=True, deepest=model.n_layers))
    return tuple(states.shape[-1] for states in trace.hidden)


def check_lens_fits(lens: Lens, model: Model) -> None:
    """Raise `ModelCannot` unless a lens was trained for this model's tokenizer, layers and widths."""
    check_has_states(model)
    if lens.record.vocabulary != vocabulary_digest(model):
        raise ModelCannot(
            f"The lens of {lens.record.model} names the pieces of another tokenizer than {model.name} has; {OWN}."
        )
    widths = layer_widths(model)
    if lens.record.widths != widths:
        raise ModelCannot(
            f"The lens of {lens.record.model} reads {lens.record.n_layers} layers of {lens.width} numbers, and "
            f"{model.name} has {model.n_layers} layers of {widths[-1]}; {OWN}."
        )
