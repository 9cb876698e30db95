"""Which texts of a data set are judged or shown, so that nobody picks them by hand."""

from collections.abc import Sequence
from hashlib import blake2b

from pellucid.text.example import Example


def with_smallest_digests(texts: Sequence[Example], n: int | None) -> list[Example]:
    """The n texts with the smallest digests, or all of them, in the order of the digests, whatever the order of the
    texts.
    """
    return sorted(texts, key=_digest)[:n]


def _digest(example: Example) -> str:
    return blake2b("\n".join(example.segments).encode(), digest_size=16).hexdigest()
