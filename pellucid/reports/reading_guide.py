"""How to read the page: the opening paragraph and the legend, in plain words."""

from pellucid.reports.html import Markup, element, fragment

_STEPS = (-16, -12, -8, -4, 0, 4, 8, 12, 16)


def reading_guide() -> Markup:
    """What the colours, lines and marks mean, and what they do not."""
    return fragment(element("p", GUIDE, class_="pl-lead"), legend(), element("p", LIMITS, class_="pl-note"))


def span_guide() -> Markup:
    """What underlined stretches mean, and what they do not."""
    items = (element("li", *item) for item in legend_items()[3:])
    return fragment(
        element("p", SPANS, class_="pl-lead"),
        element("ul", *items, class_="pl-legend"),
        element("p", SPANS_LIMITS, class_="pl-note"),
    )


def side_by_side_guide() -> Markup:
    """What rows of methods mean, and what they do not."""
    steps = legend_items()
    return fragment(
        element("p", SIDE_BY_SIDE, class_="pl-lead"),
        element("ul", *(element("li", *item) for item in steps[:3]), class_="pl-legend"),
        element("p", SIDE_BY_SIDE_LIMITS, class_="pl-note"),
    )


GUIDE = (
    "A text classifier read the texts on this page and gave each a label. The pictures show which words its "
    "answer depended on, as different methods estimate it. Let the pointer rest on a word to see its number."
)
LIMITS = (
    "Colours can be compared between texts for one method, not between methods: each has its own unit. "
    "A picture shows what the method found in the model. It does not show that the model is right, "
    "and methods can disagree; the comparison table, where there is one, says which of them to believe."
)

SPANS = (
    "A text classifier that explains itself read the texts on this page and gave each a label. It weighs every stretch of "
    "words and decides by the weighted sum. The heaviest stretches that do not overlap are underlined. Let the pointer rest "
    "on one to see its weight."
)
SPANS_LIMITS = (
    "The weights say what counted, not for what. A stretch’s vector is made from states that have seen the whole text, so it "
    "can carry more than its own words."
)

SIDE_BY_SIDE = (
    "A text classifier read a text and gave it a label. Several methods then estimated which words its answer depended "
    "on. Each has a row of its own, and every row shows the same text, so that words stand under each other. Let the "
    "pointer rest on a word to see its number."
)
SIDE_BY_SIDE_LIMITS = (
    "The rows often disagree: the methods ask different questions, and some of them ask badly. This page does not say "
    "which of them is right. For that, see how each does against random scores on many texts (pellucid compare)."
)


def legend() -> Markup:
    """Swatches with their meaning."""
    return element("ul", *(element("li", *item) for item in legend_items()), class_="pl-legend")


def legend_items() -> tuple[tuple[Markup | str, ...], ...]:
    """Each swatch and its meaning."""
    steps = [element("span", class_=f"pl-p{s}" if s > 0 else f"pl-n{-s}" if s else None) for s in _STEPS]
    scale = element("span", *steps, class_="pl-steps pl-wide", aria_hidden="true")
    return (
        ("against the answer", scale, "for the answer"),
        _sample("strong", "pl-u pl-p9 pl-for", "one of the three strongest words, for"),
        _sample("strong", "pl-u pl-n9 pl-against", "one of the three strongest words, against"),
        _sample("heavy", "pl-span pl-s1", "a stretch the model weighed; thicker is heavier"),
        _sample("reason", "pl-marked", "what the text’s author marked as the reason"),
    )


def _sample(word: str, classes: str, meaning: str) -> tuple[Markup | str, ...]:
    return element("span", word, class_=f"pl-sample {classes}", aria_hidden="true"), meaning
