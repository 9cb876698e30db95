"""Makes hostile characters harmless: control characters become pictures, changes of direction become names.

Texts, tokens, labels, and the names of methods, files and models come from strangers.
"""

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
_PICTURES |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # halves of surrogate pairs cannot be written
_DIRECTIONS = (
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)  # embeddings, overrides, isolates and their ends
_NAMED = _PICTURES | {code: f"‹U+{code:04X}›" for code in _DIRECTIONS}


def visible(text: str) -> str:
    """The text with control characters as pictures (tab and newline stay); nothing else is changed."""
    return text.translate(_PICTURES)


def plain(text: str) -> str:
    """As `visible`, with direction-changing characters named: for use where no markup isolates them."""
    return text.translate(_NAMED)


def turns(text: str) -> bool:
    """Whether the text contains invisible characters that change the direction in which it is read."""
    return any(ord(character) in _DIRECTIONS for character in text)
