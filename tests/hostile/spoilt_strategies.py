"""Spoilt files as strategies of hypothesis: it draws seeds, and `spoilt_by_seed` spoils the file by them."""

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st

from tests.hostile import spoilt_by_seed


def spoilt_bytes(whole: bytes) -> st.SearchStrategy[bytes]:
    """A file's bytes with something wrong: up to three changes of any kind."""
    return _by_seed(spoilt_by_seed.spoilt_bytes, whole)


def spoilt_json(whole: bytes) -> st.SearchStrategy[bytes]:
    """A JSON file with up to three of its values exchanged, moved, renamed, repeated or removed."""
    return _by_seed(spoilt_by_seed.spoilt_json, whole)


def spoilt_safetensors(whole: bytes) -> st.SearchStrategy[bytes]:
    """A safetensors file whose header says what is not so, or whose numbers are none."""
    return _by_seed(spoilt_by_seed.spoilt_safetensors, whole)


def _by_seed(spoil: Callable[[Random, bytes], tuple[bytes, str]], whole: bytes) -> st.SearchStrategy[bytes]:
    return st.integers(0, 2**64 - 1).map(lambda seed: spoil(Random(seed), whole)[0])
