"""How to read the page: the opening paragraph and the legend, in plain words."""

from collections.abc import Collection

from pellucid.reports.markup.html import Markup, element, fragment

KINDS = ("words", "spans", "marks")  # what a page may show
_STEPS = (-16, -12, -8, -4, 0, 4, 8, 12, 16)


def reading_guide(kinds: Collection[str] = KINDS) -> Markup:
    """What the colours, lines and marks mean, and what they do not; kinds: what the page shows of these."""
    return _guide(GUIDE, kinds, LIMITS)


def span_guide(marked: bool) -> Markup:
    """What underlined spans mean, and what they do not; marked: whether the page shows authors' marks."""
    return _guide(SPANS, ("spans", "marks") if marked else ("spans",), SPANS_LIMITS)


def side_by_side_guide() -> Markup:
    """What rows of methods mean, and what they do not."""
    return _guide(SIDE_BY_SIDE, ("words",), SIDE_BY_SIDE_LIMITS)


def comparison_guide() -> Markup:
    """What a page says that holds a comparison and no picture."""
    return element("p", COMPARED, class_="pl-lead")


def _guide(lead: str, kinds: Collection[str], limits: str) -> Markup:
    return fragment(
        element("p", lead, class_="pl-lead"), legend(kinds), element("p", limits, class_="pl-note")
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
    "A text classifier that explains itself read the texts on this page and gave each a label. It weighs every span of "
    "words and decides by the weighted sum. The heaviest spans that do not overlap are underlined. Let the pointer rest "
    "on one to see its weight."
)
SPANS_LIMITS = (
    "The weights say what counted, not for what. A span’s vector is made from states that have seen the whole text, so it "
    "can carry more than its own words."
)

COMPARED = (
    "Methods that explain a text classifier were compared on the same texts. The table says how well each does, and "
    "whether it does better than random scores. No text is shown on this page; pellucid explain --html draws them."
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


def legend(kinds: Collection[str] = KINDS) -> Markup:
    """Swatches with their meaning, of these kinds."""
    items = (element("li", *item) for kind, item in legend_items() if kind in kinds)
    return element("ul", *items, class_="pl-legend")


def legend_items() -> tuple[tuple[str, tuple[Markup | str, ...]], ...]:
    """Each swatch and its meaning, by what it belongs to."""
    steps = [element("span", class_=f"pl-p{s}" if s > 0 else f"pl-n{-s}" if s else None) for s in _STEPS]
    scale = element("span", *steps, class_="pl-steps pl-wide", aria_hidden="true")
    return (
        ("words", ("against the answer", scale, "for the answer")),
        ("words", _sample("strong", "pl-u pl-p9 pl-for", "one of the three strongest words, for")),
        ("words", _sample("strong", "pl-u pl-n9 pl-against", "one of the three strongest words, against")),
        ("spans", _sample("heavy", "pl-span pl-s1", "a span the model weighed; thicker is heavier")),
        ("marks", _sample("reason", "pl-marked", "what the text’s author marked as the reason")),
    )


def _sample(word: str, classes: str, meaning: str) -> tuple[Markup | str, ...]:
    return element("span", word, class_=f"pl-sample {classes}", aria_hidden="true"), meaning
