"""How far the commands that write texts search, and how long a text may get."""

from collections.abc import Sequence
from typing import Annotated

import typer

from pellucid.api.continuing_texts import MOST_BEAMS, MOST_PIECES
from pellucid.api.translation.translating import Translation
from pellucid.cli.options.safe_text import say
from pellucid.models.writing.continuing import Written

Beam = Annotated[
    int, typer.Option(min=1, max=MOST_BEAMS, help="How many beginnings the search follows at once.")
]
MaxPieces = Annotated[
    int, typer.Option(min=1, max=MOST_PIECES, help="The most pieces of a text that the model writes.")
]


# What `write` and `translate` say of how texts ended.


def say_endings(written: Sequence[Written | Translation]) -> None:
    """How many texts were cut, and of how many the model wrote nothing; no line where it is none."""
    cut, empty = sum(one.is_cut for one in written), sum(not one.text for one in written)
    if cut:
        say(
            f"{cut} of {len(written)} ended because there was no more room; --max-pieces gives more.",
            aside=True,
        )
    if empty:
        say(f"After {empty} of {len(written)} the model wrote nothing.", aside=True)
