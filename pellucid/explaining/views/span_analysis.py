"""The analysis of a text's heaviest spans: the text, a row a span, and what follows from it in words."""

from collections.abc import Sequence
from dataclasses import replace

from pellucid.base.kinds import renderers
from pellucid.drawing.card import answer_line, expert_facts, text_heading
from pellucid.drawing.heat_map import caution_lines, small_print
from pellucid.drawing.html import (
    Markup,
    definition_list,
    element,
    fragment,
    header_row,
    name,
    scroll_box,
    table,
)
from pellucid.drawing.page import Opening, Section, notebook_frame
from pellucid.drawing.span_view import span_view
from pellucid.drawing.wording import percent, readable_number, target_name, three, unbroken, weight
from pellucid.explaining.views.opening import opening
from pellucid.results.heaviest_spans import analysed_heaviest
from pellucid.results.span_analysis import AnalysedSpan, Answer, SpanAnalysis

TITLE = "What the spans say"
INTRO = (
    "A self-explaining model decides by a weighted sum over spans of a text: over all of them, or over the few that it "
    "chooses. The weights say which spans counted. The tables test whether these weights can be believed."
)
COLUMNS = {
    "weight": "α, the span’s share of the sum. All weights of a text add up to 1.",
    "by itself": (
        "What the model’s last layer makes of the span’s vector alone. That vector was computed from the whole text."
    ),
    "read alone": (
        "The model’s answer when it reads the words of the span and no others. They keep their places in the text, so "
        "the words typed by themselves can get another answer."
    ),
    "from outside": (
        "How far the span’s vector moves when the words outside the span are not read, as a share of its length. 0: it "
        "says nothing but its own words."
    ),
    "random": (
        "How often random spans of the same length, read alone, get the same answer as the text. Where this is high, "
        "reading alone proves little. Here each span is read by itself; above the table, all spans that the answer "
        "uses are read together."
    ),
    "without it": "The model’s answer when it reads all words except those of the span.",
    "left out of the sum": (
        "How the explained number changes if the span’s vector is left out and its weight is shared among the others. "
        "The change is near 0 where other spans, such as overlapping ones, say the same."
    ),
    "gradient": (
        "How strongly, at most, the explained number reacts to a small change of the span’s vector. In brackets: the "
        "part that goes through the weights, which equation 5 of the paper leaves out."
    ),
}


def span_analysis_sections(analyses: Sequence[SpanAnalysis]) -> list[Section]:
    """A card a text, then what the columns mean."""
    cards = element("div", *map(span_analysis_card, analyses), class_="pl-cards")
    heading = element("h3", "The columns", class_="pl-heading")
    key = definition_list(COLUMNS.items(), "pl-key")
    body = fragment(*caution_lines(analysed_heaviest(analyses).cautions()), cards, heading, key)
    return [Section("The spans of each text", INTRO, body)]


def span_analysis_opening(analyses: Sequence[SpanAnalysis]) -> Opening:
    """The model, the texts, and how often their heaviest spans, read alone, get the texts' answers."""
    heaviest = analysed_heaviest(analyses)
    trust = heaviest.in_words() if heaviest.texts > 1 else ""
    facts = opening([analysis.explanation for analysis in analyses])
    return replace(facts, trust=trust, command="", title=TITLE)


def span_analysis_card(analysis: SpanAnalysis) -> Markup:
    """One text: the answer, its spans underlined, the table, and what to keep in mind."""
    explanation = analysis.explanation
    spans = table(header_row(("span", *COLUMNS)), map(_row, analysis.spans), "pl-table")
    return element(
        "article",
        text_heading(explanation.example),
        answer_line(explanation, [target_name(explanation)]),
        span_view(explanation),
        scroll_box(spans, "The heaviest spans"),
        small_print(summary_sentences(analysis)),
        *caution_lines(cautions(analysis)),
        expert_facts([explanation]),
        class_="pl-card",
    )


def cells(span: AnalysedSpan) -> tuple[str, ...]:
    """One entry a column of COLUMNS."""
    random_agrees = span.random_agrees
    return (
        weight(span.weight) if span.weight >= 0.005 else "< .01",
        answer_in_words(span.own),
        answer_in_words(span.alone),
        unbroken(percent(span.outside)) if span.outside == span.outside else "–",
        unbroken(percent(random_agrees)) if random_agrees == random_agrees else "–",
        answer_in_words(span.without),
        _change(-span.removal),
        f"{three(span.gradient_norm)} ({_change(span.gradient_by_weights)})",
    )


def _change(value: float) -> str:
    """Three decimals with their sign; 0 has no sign."""
    if value != value or abs(value) < 0.0005:
        return "–" if value != value else "0.000"
    return f"+{three(value)}" if value > 0 else three(value)


def answer_in_words(answer: Answer) -> str:
    """A class, and the explained class's probability."""
    return f"{answer.label} ({unbroken(percent(answer.probability))})"


def summary_sentences(analysis: SpanAnalysis) -> list[str]:
    """What is true of all spans of the text together."""
    predicted = analysis.explanation.prediction.label
    explained = analysis.explanation.target.label
    return [
        f"In brackets: the probability of {explained}.",
        f"Spans that say {predicted} by themselves have {percent(analysis.agreeing_weight)} of the weight.",
        f"The weight is spread over about {readable_number(analysis.effective_spans)} spans (1 / Σα²), or about "
        f"{readable_number(analysis.entropy_spans)} if measured by its entropy.",
    ]


def cautions(analysis: SpanAnalysis) -> list[str]:
    """Why the heaviest span may not be the reason for the answer."""
    if not analysis.spans:
        return ["The text has no span that the model could weigh."]
    best, predicted = analysis.spans[0], analysis.explanation.prediction.label
    sentences = list(analysis.explanation.caveats)
    if best.alone.label != predicted:
        sentences.append(
            f"Read alone, “{best.text}” gets {best.alone.label}, not {predicted}: its vector carries more of the text "
            "than its own words."
        )
    elif best.alone.probability <= best.random_probability:
        sentences.append(f"Read alone, “{best.text}” does no better than random spans of the same length.")
    if best.without.label == predicted:
        sentences.append(f"Without “{best.text}” the answer is still {predicted}: the other words are enough for it.")
    return sentences


def _row(span: AnalysedSpan) -> Markup:
    return element(
        "tr",
        element("th", name(f"“{span.text}”"), scope="row"),
        *(element("td", name(cell)) for cell in cells(span)),
    )


@renderers.add(draws="span analysis")
def notebook_span_analysis(analysis: SpanAnalysis) -> str:
    """One text's heaviest spans, analysed, for `_repr_html_`."""
    return notebook_frame(span_analysis_card(analysis))
