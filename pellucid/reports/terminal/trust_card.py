"""A trust card in a terminal: each kind of advice with its sentences, short enough to be read in a minute."""

from rich.console import Console

from pellucid.base.kinds import renderers
from pellucid.reports.page.trust_card_view import HEADINGS, title
from pellucid.reports.terminal.rich_text import Line, indented, line, printed
from pellucid.results.check_outcome import TrustCard


@renderers.add(draws="trust card")
def terminal_trust_card(card: TrustCard, *, colour: bool | None = None, width: int | None = None) -> str:
    """The card as text.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    return printed(card_lines(card), colour, width or Console().width)


def card_lines(card: TrustCard) -> list[Line]:
    """The lines of a card; the tests behind its first point stand under it."""
    lines: list[Line] = [line(title(card.model, card.n_texts), style="bold")]
    for kind, (sign, heading) in HEADINGS.items():
        points = card.points(kind)
        if points:
            lines += [line(f"{sign} {heading}", style="bold"), *indented(one.sentence for one in points)]
        if kind == "use":
            lines += indented(f"  {test}" for one in points for test in one.evidence)
    return [*lines, line(card.tests, style="dim")]
