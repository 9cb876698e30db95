"""A lens: a masked-language-model head for the last layer, and for each layer below an affine translator to it.

Belrose et al. (2023), "Eliciting Latent Predictions from Transformers with the Tuned Lens", section 3: the states of layer
l are translated, h -> A_l h + b_l, and then read by the head of the last layer.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import ModelCannot
from pellucid.models.language_heads.lens_record import LensRecord
from pellucid.models.language_heads.masked_head import MaskedHead


class Translators(nn.Module):
    """For each layer below the last an affine map of its states to states of the last layer; it begins as the identity.

    widths: numbers of a state of each layer, the last layer's at the end. Where a layer is narrower than the last one, its
    states are filled with zeros at first; where it is wider, they are cut.
    """

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.of_layer = nn.ModuleList(nn.Linear(width, widths[-1]) for width in widths[:-1])
        for layer in range(len(widths) - 1):
            nn.init.eye_(self.translator(layer).weight)
            nn.init.zeros_(self.translator(layer).bias)

    def translator(self, layer: int) -> nn.Linear:
        """The affine map of a layer below the last."""
        translator = self.of_layer[layer]
        assert isinstance(translator, nn.Linear)
        return translator

    def forward(self, states: Tensor, layer: int) -> Tensor:
        """[place layer_width] -> [place width]; the last layer's states stay as they are."""
        return states if layer == len(self.of_layer) else self.translator(layer)(states)


@dataclass(frozen=True, eq=False, repr=False)
class Lens:
    """A language head for every layer of one model; implements `core.LanguageHead`.

    head: reads states of the last layer. translators: layer -> its affine map; a layer without one is read by the head as it
    is. record: what it was trained on and how well it names pieces, as lens.json says.
    """

    head: MaskedHead
    translators: Mapping[int, nn.Linear]
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

    def log_probabilities(self, states: Tensor, layer: int, ids: Tensor) -> Tensor:
        """[place k]: log probabilities of ids [k], for states [place width] of a layer; the normaliser is exact."""
        return self.head.log_probabilities(self._translated(states, layer), ids)

    def most_likely(self, states: Tensor, layer: int) -> Tensor:
        """[place]: the id with the highest probability, for states [place width] of a layer."""
        with torch.no_grad():
            return self.head.most_likely(self._translated(states, layer))

    def _translated(self, states: Tensor, layer: int) -> Tensor:
        """States [place width] as the head reads them; raises `BadSetting` for no such layer, `ModelCannot` for a width."""
        between("layer", layer, 0, self.record.n_layers)
        width = self.record.widths[layer]
        if states.shape[-1] != width:
            raise ModelCannot(
                f"The language head reads states of {width} numbers from layer {layer}, and these have {states.shape[-1]}; "
                "give a lens that was trained on this model: pellucid lens MODEL --texts FILE --out LENS."
            )
        states = states.to(self.head.bias.dtype)
        translator = self.translators.get(layer)
        return states if translator is None else translator(states)
