"""A trust card as a list: a heading for each kind of advice, its sentences, and the tests behind them to unfold."""

from pellucid.base.kinds import renderers
from pellucid.reports.markup.html import Markup, element, fragment
from pellucid.reports.page.notebook_frame import notebook_frame
from pellucid.results.check_outcome import Advice, Kind, TrustCard


def card_view(card: TrustCard) -> Markup:
    """The card; kinds without advice are left out."""
    points = [(kind, card.points(kind)) for kind in HEADINGS]
    rows = (
        fragment(
            element("dt", element("span", HEADINGS[kind][0], aria_hidden="true"), " ", HEADINGS[kind][1]),
            element("dd", *map(_point, advice)),
        )
        for kind, advice in points
        if advice
    )
    return fragment(
        element("dl", *rows, class_="pl-key pl-trust"), element("p", card.tests, class_="pl-note")
    )


def _point(advice: Advice) -> Markup:
    sentence = element("p", advice.sentence)
    if not advice.evidence:
        return sentence
    items = (element("li", one) for one in advice.evidence)
    return fragment(sentence, element("details", element("summary", "the tests"), element("ul", *items)))


# What the kinds of advice of a trust card are called, and their signs, in the order in which they are
# shown.


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


@renderers.add(draws="trust card")
def notebook_html_of_trust_card(card: TrustCard) -> str:
    """Which methods a comparison recommends, for `_repr_html_`."""
    return notebook_frame(card_view(card))
