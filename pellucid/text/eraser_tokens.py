"""ERASER's tokens, in which that benchmark counts: the characters between blanks and line ends.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models".
"""

import re
from urllib.parse import quote

_TOKEN = re.compile(r"[^ \r\n]+")


def eraser_tokens(text: str) -> list[tuple[int, int]]:
    """The character range of each token of a document."""
    return [match.span() for match in _TOKEN.finditer(text)]


def token_texts(text: str) -> list[str]:
    """Each token of a document."""
    return _TOKEN.findall(text)


def document_names(id: str, n_segments: int) -> list[str]:
    """The names of an example's documents where it has none of its own: its id as a file name, numbered in a pair."""
    name = quote(id, safe=" #@+=,")
    return [name] if n_segments == 1 else [f"{name}_{number}" for number in range(1, n_segments + 1)]
