"""What commands say of a model besides its folder or name."""

from dataclasses import dataclass
from typing import Annotated

import typer


@dataclass(frozen=True)
class ModelOptions:
    """What the model is loaded with."""

    language_head: Annotated[
        str | None,
        typer.Option(
            help="What reads hidden states back as words, for decoded_saliency: the folder or name of the checkpoint that the "
            "model was fine-tuned from, or a lens folder."
        ),
    ] = None
    route: Annotated[
        str | None,
        typer.Option(
            help="How passes are computed: a name that methods --routes lists, or auto for the fastest by trial; default: "
            "what PELLUCID_ROUTE says, else eager."
        ),
    ] = None
