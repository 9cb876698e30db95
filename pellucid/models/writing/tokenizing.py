"""How sources, targets and continuations are tokenised: exactly as the tokenizer would, with offsets."""

from threading import Lock
from typing import Any

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.text.example import Example
from pellucid.models.classifiers.tokenizer import TokenizedText, Tokenizer
from pellucid.models.classifiers.tokens import tokenized

SETTINGS: dict[str, Any] = {"truncation": False, "padding": False, "return_offsets_mapping": True}


_ONE_AT_A_TIME = Lock()  # tokenizers of many languages are switched to the target's and back


def encoded_source(tokenizer: Tokenizer, text: str) -> TokenizedText:
    """A text that is read."""
    with _ONE_AT_A_TIME:
        return tokenized(tokenizer, (text,), **SETTINGS)


def encoded_target(tokenizer: Tokenizer, text: str) -> TokenizedText:
    """A text that is written: some tokenizers put other special tokens around it."""
    with _ONE_AT_A_TIME:
        return tokenized(tokenizer, (), text_target=text, **SETTINGS)


def joined(example: Example, prompt: str, continuation: str) -> tuple[str, int]:
    """The text of a prompt and its continuation, and where the continuation begins.

    A blank is put between them where the prompt does not end with one, nor the continuation begin with one.
    """
    between = "" if not prompt or prompt[-1].isspace() or continuation[0].isspace() else " "
    return prompt + between + continuation, len(prompt) + len(between)


def first_after(encoded: TokenizedText, text: str, start: int, example: Example) -> int:
    """The number of the first piece of the continuation, which begins at a character; raises `BadInput` for a piece of both."""
    for number, (segment, (first, last)) in enumerate(
        zip(encoded.sequence_ids(0), encoded["offset_mapping"], strict=True)
    ):
        if segment is None or last <= start:
            continue
        if first < start and text[first:start].strip():
            raise BadInput(
                f"Example {quoted(example.id)}: the tokenizer makes one piece of the prompt's end and the continuation's "
                f"beginning, {quoted(text[first:last])}; end the prompt between words."
            )
        return number
    raise BadInput(f"Example {quoted(example.id)}: the tokenizer leaves nothing of the continuation.")
