"""What the kinds of advice of a trust card are called, and their signs, in the order in which they are shown."""

from pellucid.core.results.trust_card import Kind

HEADINGS: dict[Kind, tuple[str, str]] = {
    "use": ("✓", "Use for faithful reading"),
    "fast": ("»", "Use when speed matters"),
    "second": ("+", "Faithful, but less so"),
    "people": ("¶", "Nearest to what people marked"),
    "unclear": ("○", "Unclear"),
    "avoid": ("✗", "Do not use"),
    "untested": ("…", "Not tested"),
    "limits": ("!", "What these numbers cannot say"),
}
"""kind -> (sign, heading); signs differ in shape, not in colour alone."""


def title(model: str, n_texts: int) -> str:
    """The heading of a card."""
    return f"Which explanation of {model} to trust, from {n_texts:,} text{'' if n_texts == 1 else 's'}"
