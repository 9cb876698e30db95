"""What `write` and `translate` say of how texts ended."""

from collections.abc import Sequence

from pellucid.api.translation.translating import Translation
from pellucid.cli.printing.safe_text import say
from pellucid.models.writing.continuing import Written


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
