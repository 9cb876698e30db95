"""A trust card as a list: a heading for each kind of advice, its sentences, and the tests behind them to unfold."""

from pellucid.core.results.trust_card import Advice, TrustCard
from pellucid.reports.markup.html import Markup, element, fragment
from pellucid.reports.trust.headings import HEADINGS


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
