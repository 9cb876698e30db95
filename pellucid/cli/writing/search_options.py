"""How far the commands that write texts search, and how long a text may get."""

from typing import Annotated

import typer

from pellucid.api.writing.continuing_texts import MOST_BEAMS, MOST_PIECES

Beam = Annotated[
    int, typer.Option(min=1, max=MOST_BEAMS, help="How many beginnings the search follows at once.")
]
MaxPieces = Annotated[
    int, typer.Option(min=1, max=MOST_PIECES, help="The most pieces of a text that the model writes.")
]
