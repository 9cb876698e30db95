"""Models given in memory: one that is no plain classifier of Hugging Face is refused, and the message says what to do."""

from torch import nn

from pellucid.core.foundation.errors import ModelCannot
from pellucid.models.folders.kinds_of_model import refuse_class

# Attributes under which wrappers keep the model that they wrap: of torch.compile, and of DataParallel and its kin.
WRAPPED = ("_orig_mod", "module")


def check_in_memory(network: nn.Module) -> None:
    """Raise `ModelCannot` for a wrapped model, one without a configuration, or one without a head."""
    check_of_library(network)
    name = type(network).__name__
    refuse_class(name, f"The model ({name})")
    if getattr(network, "base_model", None) is network:
        raise ModelCannot(
            f"{name} is an encoder without a classification head; give a fine-tuned sequence classifier, or train one: "
            "pellucid.train(data, encoder=..., out=...) or pellucid train DATA --encoder FOLDER."
        )


def check_of_library(network: nn.Module) -> None:
    """Raise `ModelCannot` for a wrapped model, or one that is none of the library's."""
    name = type(network).__name__
    for inside in WRAPPED:
        if isinstance(getattr(network, inside, None), nn.Module):
            raise ModelCannot(
                f"The model is wrapped in {name}, behind which its parts cannot be followed; give what is inside: "
                f"load(model.{inside}, tokenizer)."
            )
    if not hasattr(network, "config") or not hasattr(network, "get_input_embeddings"):
        raise ModelCannot(
            f"{name} is a torch network, but none of Hugging Face's; use pellucid.from_network(network, ...)."
        )
