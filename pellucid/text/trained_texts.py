"""Which texts a model has seen in training: it stores their digests, but no texts and no file names."""

import json
from collections.abc import Sequence
from hashlib import blake2b

from pellucid.text.example import Example


def text_digest(example: Example) -> str:
    """16 hexadecimal digits for the text or pair as it is written, whatever its label."""
    segments = json.dumps(example.segments, ensure_ascii=False)
    return blake2b(segments.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def seen_in_training(model: object, examples: Sequence[Example]) -> list[bool]:
    """[example]: whether its text was in the train or dev part; all False for a model without such digests."""
    known: frozenset[str] = getattr(model, "trained_texts", frozenset())
    return [bool(known) and text_digest(example) in known for example in examples]


def seen_caveats(model: object, examples: Sequence[Example]) -> tuple[str, ...]:
    """One sentence where some of the examples were seen in training; none otherwise."""
    seen = sum(seen_in_training(model, examples))
    if not seen:
        return ()
    return (
        f"{seen:,} of {len(examples):,} texts were in the train or dev part that the model was made with; what holds of "
        "them need not hold of new texts.",
    )
