"""How to read the page: the opening paragraph and the legend, in plain words."""

from collections.abc import Collection

from pellucid.reports.markup.html import Markup, element, fragment
from pellucid.reports.page.heat_map import colour_steps

KINDS = ("words", "spans", "marks")  # what a page may show
STEPS = (-16, -12, -8, -4, 0, 4, 8, 12, 16)

GUIDE = (
    "A text classifier read the texts on this page and gave each one a label. The pictures show which words the label "
    "depended on. Each method estimates this in its own way. Point at a word to see its score."
)
LIMITS = (
    "You can compare colours between texts, but only for the same method: every method has its own unit. "
    "A picture shows what a method found out about the model. It does not show that the model is right. "
    "Methods can disagree; if the page has a comparison table, the table says which methods to believe."
)

SPANS = (
    "A text classifier that explains itself read the texts on this page and gave each one a label. It gives every span "
    "of words a weight, and the weighted sum over all spans decides the label. The heaviest spans that do not overlap are "
    "underlined. Point at one to see its weight."
)
SPANS_LIMITS = (
    "A weight says that a span counted, not which answer it speaks for. The model computes a span’s "
    "vector from the whole text, so the vector can carry more than the span’s own words."
)

COMPARED = (
    "Methods that explain a text classifier were compared on the same texts. The table says how well each method does, "
    "and whether it does better than random scores. No text is shown on this page; pellucid explain --html shows texts."
)

SIDE_BY_SIDE = (
    "A text classifier read a text and gave it a label. Several methods then estimated which words the label depended "
    "on. Each method has one row. Every row shows the same text, so that you can compare a word from row to row. Point at "
    "a word to see its score."
)
SIDE_BY_SIDE_LIMITS = (
    "The rows often disagree, because the methods ask different questions, and some of the methods are poor. This page "
    "does not say which of them is right. To find out, compare each method with random scores on many texts (pellucid "
    "compare)."
)


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
    """How to read a page that has a comparison and no picture."""
    return element("p", COMPARED, class_="pl-lead")


def _guide(lead: str, kinds: Collection[str], limits: str) -> Markup:
    return fragment(
        element("p", lead, class_="pl-lead"), legend(kinds), element("p", limits, class_="pl-note")
    )


def legend(kinds: Collection[str] = KINDS) -> Markup:
    """Samples of these kinds, each with what it means."""
    items = (element("li", *item) for kind, item in legend_items() if kind in kinds)
    return element("ul", *items, class_="pl-legend")


def legend_items() -> tuple[tuple[str, tuple[Markup | str, ...]], ...]:
    """Each sample and its meaning, by the kind that it belongs to."""
    scale = colour_steps(STEPS, "pl-steps pl-wide")
    return (
        ("words", ("against the answer", scale, "for the answer")),
        ("words", _sample("strong", "pl-u pl-p9 pl-for", "one of the three strongest, for the answer")),
        (
            "words",
            _sample("strong", "pl-u pl-n9 pl-against", "one of the three strongest, against the answer"),
        ),
        (
            "spans",
            _sample("heavy", "pl-span pl-s1", "a span the model weighed; thicker means heavier"),
        ),
        ("marks", _sample("reason", "pl-marked", "what the text’s author marked as the reason")),
    )


def _sample(word: str, css_classes: str, meaning: str) -> tuple[Markup | str, ...]:
    return element("span", word, class_=f"pl-sample {css_classes}", aria_hidden="true"), meaning
