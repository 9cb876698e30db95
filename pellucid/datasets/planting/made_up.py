"""Made-up words that no text of a corpus has: only planting can connect them with a label."""

import re
from collections.abc import Iterable

from pellucid.core.foundation.errors import BadInput
from pellucid.core.text.example import Example

WORDS = (
    "blicket wug dax fep zorple snerf mibbit plonkle frabbet quonk tupin glimf vasp brindor trupple lomick nurvel "
    "sklee drimp fazzen jullip kreeb lurvin mosket norvel oddim praffle quessit rimbo sorvit tazzle ulgo vimmer "
    "wexel yoffer zibber brelk chonder dreffin elvick flumpet gorrick hespin ibrel jorvet kimbert lannock murple "
    "nibbick ostle pimmet rastle smerk thrundle umbrit"
).split()


def made_up_words(examples: Iterable[Example], count: int) -> list[str]:
    """The first `count` made-up words that no text has, in capitals or not; raises `BadInput` where too few are left."""
    present = {
        word
        for example in examples
        for text in example.segments
        for word in re.findall(r"\w+", text.casefold())
    }
    free = [word for word in WORDS if word not in present]
    if len(free) < count:
        raise BadInput(
            f"The texts hold {len(WORDS) - len(free)} of our {len(WORDS)} made-up words, and {count} are needed: "
            "was something planted in them before? Give the texts as they were."
        )
    return free[:count]
