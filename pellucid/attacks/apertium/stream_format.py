"""Text in Apertium's stream format: its own signs are escaped, and what it would lose passes through as a superblank.

A superblank, "[...]", is carried along and not translated. Characters of control stand in one, and "~", which the last stage
would take for its own. Null ends a text there, so it becomes a blank.
"""

import re

OWN_SIGNS = re.compile(r"[\\^$\[\]{}<>@/]")
CARRIED = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f~]+")
ESCAPED = re.compile(r"\\(.)|[\[\]]", re.DOTALL)
SENTENCE_END = re.compile(r"[.!?;:…]\s*\Z")


def escaped(text: str) -> str:
    """A text as Apertium reads it."""
    return CARRIED.sub(r"[\g<0>]", OWN_SIGNS.sub(r"\\\g<0>", text.replace("\0", " ")))


def unescaped(stream: str) -> str:
    """The text of a stream: escaped signs as they are, superblanks without their brackets."""
    return ESCAPED.sub(lambda match: match[1] or "", stream)


def closed(text: str) -> str:
    """A text that ends as sentences do, since the tagger reads sentences; `opened` takes the added full stop away."""
    return text if SENTENCE_END.search(text) else text + "."


def opened(translation: str, text: str) -> str:
    """A translation of the closed text, without the full stop that was added."""
    return translation if SENTENCE_END.search(text) else re.sub(r"\s*\.\s*\Z", "", translation)
