"""Texts read without their final full stop, as in the release of Sun et al. (2020) (corrections.md A0.7).

The tokenizer skips it, so training, explaining and judging all do; offsets still belong to the text as written.
"""

import json

from tokenizers import Regex, normalizers

from pellucid.models.classifiers.tokenizer import Tokenizer

FINAL_FULL_STOP = r"(?<=\S)\s*\.\s*\z"  # a text of a full stop alone is read


def strip_final_full_stop(tokenizer: Tokenizer) -> None:
    """Make the tokenizer skip one full stop at the end of each text, and the white space around it."""
    if strips_final_full_stop(tokenizer):  # some tokenizers keep it when they are saved, some do not
        return
    backend = tokenizer.backend_tokenizer
    own = [] if backend.normalizer is None else [backend.normalizer]
    backend.normalizer = normalizers.Sequence([normalizers.Replace(Regex(FINAL_FULL_STOP), ""), *own])


def strips_final_full_stop(tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer already skips it."""
    normalizer = json.loads(tokenizer.backend_tokenizer.to_str())["normalizer"] or {}
    steps = [step.get("pattern", {}) for step in normalizer.get("normalizers", [])]
    return any(step.get("Regex") == FINAL_FULL_STOP for step in steps)
