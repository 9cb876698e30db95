"""The analysis of a text's heaviest spans: the text, a row a span, and what follows from it in words."""

from collections.abc import Sequence

from pellucid.core.results.heaviest_spans import analysed_heaviest
from pellucid.core.results.span_analysis import AnalysedSpan, Answer, SpanAnalysis
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.card import answer, heading
from pellucid.reports.page.expert_facts import expert_facts
from pellucid.reports.page.heat_map import small_print, warnings
from pellucid.reports.page.section import Section
from pellucid.reports.page.span_view import span_view
from pellucid.reports.wording.numbers import number, percent, three, unbroken, weight

INTRO = (
    "A self-explaining model decides by a weighted sum over all spans of a text. The weights say which spans "
    "counted. The tables ask whether that can be believed."
)
COLUMNS = {
    "weight": "α, the span’s share of the sum. All weights of a text sum to 1.",
    "by itself": (
        "What the model’s last layer makes of the span’s vector alone. That vector was made from the whole text."
    ),
    "read alone": "What the model says when it reads the words of the span and no others.",
    "random": (
        "How often random spans of the same length, read alone, get the text’s answer. Where this is high, reading "
        "alone proves little."
    ),
    "without it": "What the model says when it reads all words but those of the span.",
    "left out of the sum": (
        "How the explained number changes if the span’s vector is left out and its weight shared among the others. "
        "Near 0 where other spans, such as those that overlap it, say the same."
    ),
    "slope": (
        "How far the explained number moves, at most, with a small change of the span’s vector; in brackets the part "
        "that goes through the weights, which equation 5 of the paper leaves out."
    ),
}


def span_analysis_sections(analyses: Sequence[SpanAnalysis]) -> list[Section]:
    """A card a text, after what the columns mean."""
    key = element(
        "dl",
        *(part for title, told in COLUMNS.items() for part in (element("dt", title), element("dd", told))),
        class_="pl-key",
    )
    cards = element("div", *map(span_analysis_card, analyses), class_="pl-cards")
    heaviest = analysed_heaviest(analyses)
    all_texts = element("p", heaviest.in_words(), class_="pl-note") if heaviest.texts > 1 else None
    body = fragment(all_texts, *warnings(heaviest.cautions()), key, cards)
    return [Section("The spans of each text", INTRO, body)]


def span_analysis_card(analysis: SpanAnalysis) -> Markup:
    """One text: the answer, its spans underlined, the table, and what to keep in mind."""
    explanation = analysis.explanation
    head = element("tr", *(element("th", title, scope="col") for title in ("span", *COLUMNS)))
    rows = (_row(span) for span in analysis.spans)
    table = element("table", element("thead", head), element("tbody", *rows), class_="pl-table")
    return element(
        "article",
        heading(explanation.example),
        answer(explanation, [str(explanation.target)]),
        span_view(explanation),
        element("div", table, class_="pl-scroll", tabindex=0, role="region", aria_label="The heaviest spans"),
        small_print(told(analysis)),
        *warnings(cautions(analysis)),
        expert_facts([explanation]),
        class_="pl-card",
    )


def cells(span: AnalysedSpan) -> tuple[str, ...]:
    """One entry a column of COLUMNS."""
    return (
        weight(span.weight) if span.weight >= 0.005 else "< .01",
        said(span.own),
        said(span.alone),
        "–" if span.random_agrees != span.random_agrees else unbroken(percent(span.random_agrees)),
        said(span.without),
        _moved(-span.removal),
        f"{three(span.gradient_norm)} ({_moved(span.gradient_by_weights)})",
    )


def _moved(value: float) -> str:
    """Three decimals with their sign; nothing moved has none."""
    if value != value or abs(value) < 0.0005:
        return "–" if value != value else "0.000"
    return f"+{three(value)}" if value > 0 else three(value)


def said(given: Answer) -> str:
    """A class, and the explained class's probability."""
    return f"{given.label} ({unbroken(percent(given.probability))})"


def told(analysis: SpanAnalysis) -> list[str]:
    """What holds for all spans of the text together."""
    predicted = analysis.explanation.prediction.label
    explained = analysis.explanation.target.label
    return [
        f"In brackets: the probability of {explained}.",
        f"Spans that say {predicted} by themselves hold {percent(analysis.agreeing_weight)} of the weight.",
        f"The weight is spread over about {number(analysis.effective_spans)} spans (1 / Σα²), or "
        f"{number(analysis.entropy_spans)} by its entropy.",
    ]


def cautions(analysis: SpanAnalysis) -> list[str]:
    """What speaks against taking the heaviest span for the reason."""
    if not analysis.spans:
        return ["The text has no span that the model could weigh."]
    best, predicted = analysis.spans[0], analysis.explanation.prediction.label
    found = list(analysis.explanation.caveats)
    if best.alone.label != predicted:
        found.append(
            f"Read alone, “{best.text}” gets {best.alone.label}, not {predicted}: its vector carries more of the text "
            "than its own words."
        )
    elif best.alone.probability <= best.random_probability:
        found.append(f"Read alone, “{best.text}” does no better than random spans of its length.")
    if best.without.label == predicted:
        found.append(f"Without “{best.text}” the answer is still {predicted}: other words are enough for it.")
    return found


def _row(span: AnalysedSpan) -> Markup:
    return element(
        "tr",
        element("th", name(f"“{span.text}”"), scope="row"),
        *(element("td", name(cell)) for cell in cells(span)),
    )
