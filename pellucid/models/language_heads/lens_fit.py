"""Whether a lens reads the states of a model: its ids, its layers and their widths."""

import torch

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.model import Model, lacking
from pellucid.core.passes.trace import Want
from pellucid.core.text.example import Example
from pellucid.models.language_heads.lens import Lens
from pellucid.models.language_heads.lens_weights import vocabulary_digest

NEEDS = frozenset({"gradient", "hidden_states"})
TRIAL = Example(("a b c",), id="trial")
OWN = "make one of its own: pellucid lens MODEL --texts FILE --out LENS"


def check_has_states(model: Model) -> None:
    """Raise `ModelCannot` where a model shows no hidden states or word embeddings, which a lens is made from."""
    lacks = lacking(model, NEEDS)
    if lacks:
        raise ModelCannot(
            f"{model.name} {lacks}, so there is nothing for a lens to read (documents in joined windows have no states of "
            "their own); give a model that reads its text at once."
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
            f"The lens of {lens.record.model} reads {lens.record.n_layers} layers of {lens.width} numbers, and {model.name} has "
            f"{model.n_layers} layers of {widths[-1]}; {OWN}."
        )
