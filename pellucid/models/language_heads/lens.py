"""A lens: a masked-language-model head for the last layer, and for each layer below an affine translator to it.

Belrose et al. (2023), "Eliciting Latent Predictions from Transformers with the Tuned Lens", section 3: the states of layer
l are translated, h -> A_l h + b_l, and then read by the head of the last layer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.language_head import NamedTokens
from pellucid.models.language_heads.lens_record import LensRecord
from pellucid.models.language_heads.masked_head import MaskedHead
from pellucid.models.language_heads.vocabulary import named_tokens


class Translators(nn.Module):
    """For each layer below the last an affine map of its states to states of the last layer; it begins as the identity.

    widths: numbers of a state of each layer, the last layer's at the end. Where a layer is narrower than the last one, its
    states are filled with zeros at first; where it is wider, they are cut.
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

    head: reads states of the last layer. translators: layer -> its affine map; a layer without one is read by the head as it
    is. record: what it was trained on and how well it names pieces, as lens.json says.
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
            f"a lens trained on {self.trained_on} ({self.record.model}): a masked-language-model head on its word vectors, "
            f"and {len(self.translators)} of {self.record.n_layers} layers translated"
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
        """States [place width] as the head reads them; raises `BadSetting` for no such layer, `ModelCannot` for a width."""
        between("layer", layer, 0, self.record.n_layers)
        width = self.record.widths[layer]
        if states.shape[-1] != width:
            raise ModelCannot(
                f"The language head reads states of {width} numbers from layer {layer}, and these have {states.shape[-1]}; "
                "give a lens that was trained on this model: pellucid lens MODEL --texts FILE --out LENS."
            )
        translator = self.translators.get(layer)
        return states if translator is None else translator(states)
