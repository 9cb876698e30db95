"""The page of an attention analysis: the verdict, the tests, single units, and what the numbers do not say."""

from collections.abc import Mapping
from pathlib import Path

from pellucid.attention import layer_page
from pellucid.attention.record import IN_LAYERS, AttentionAnalysis, AttentionLine, ModelAttention
from pellucid.attention.unit_plots import (
    DISTANCE,
    DIVERGENCE,
    LIMITS,
    MARKS,
    READINGS,
    idle_in_words,
    line_name,
    ordered_lines,
    summary_in_words,
    unit_plots,
    verdict_in_words,
)
from pellucid.base.checks import listed
from pellucid.base.kinds import attention_tests, renderers
from pellucid.drawing.curve_plot import axes, drawn, frame_of, line_styles, marked_line, round_ticks, sample_of
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import entry_of, readable
from pellucid.drawing.page import (
    Opening,
    Section,
    caveats_section,
    facts_section,
    glossary_view,
    in_words,
    notebook_sections,
    page_scales,
    texts_view,
    write_report,
    written_on,
)
from pellucid.drawing.wording import bounds, three
from pellucid.explaining.views.opening import examples_view, picks_of, texts_in_words

GUIDE = (
    "Attention gives each word a weight, and the answer is a sum by these weights. This page shows whether they may be "
    "read as the reason of the answer."
)
RESTS = (
    "Two things are asked. Does the answer hang on the weights? Do they lie on the words that the answer depends on? "
    "The limits were fixed before any study ran. All other tests are shown and do "
    "not decide."
)
TESTS = (
    "Each number is the mean over the texts; its 95 % interval stands below it, and then how many texts were judged. "
    "Of random draws ± is the standard deviation between them."
)
ADVERSARY = (
    "For each λ a new model was trained to give the same answers with weights as far away as λ asks. Far to the right "
    "and low: other weights answer alike. The adversary imitates mistakes too, and both numbers are means over texts "
    "of unequal length."
)
UNITS = (
    "What the model would answer by the state of one word alone. A line that stays near the model’s own answer says "
    "that every state carries the whole text: then it matters little where the weight lies."
)

EXAMPLES = (
    "The model’s own weights as colours: the stronger, the heavier; special tokens have some, too, and are not shown. "
    "The verdict says whether they may be read as reasons."
)
ANCHOR = "text"  # of the cards that links lead to


@renderers.add(
    "page_of_attention",
    draws="attention analysis",
    page_of=("pellucid.attention.record.AttentionAnalysis",),
    heading="Can attention be believed?",
)
def report(
    analysis: AttentionAnalysis, path: str | Path, title: str, about: Mapping[str, object] | None = None
) -> Path:
    """Write the analysis to one HTML file; about: facts that are shown last."""
    done = [facts_section("What was done", "", about)] if about else []
    facts = (
        f"Model {listed([model.name for model in analysis.models])}",
        texts_in_words(analysis.models[0].n_texts + analysis.models[0].too_short, str(analysis.about.get("data", ""))),
        written_on(),
    )
    sections = [*attention_sections(analysis), *done]
    which = f" In colour: {readable(analysis.examples[0].method)}." if analysis.examples else ""
    guide = element("p", f"{layer_page.GUIDE if _in_layers(analysis) else GUIDE}{which}", class_="pl-lead")
    picks = picks_of([(text, f"{ANCHOR}-{place}") for place, text in enumerate(analysis.examples, 1)])
    texts = examples_view(picks, page_scales(analysis.examples))
    opening = Opening(facts, verdict_in_words(analysis.models[0]), texts)
    return write_report(path, title=title, sections=sections, guide=guide, opening=opening)


def _in_layers(analysis: AttentionAnalysis) -> bool:
    return analysis.models[0].weighs == IN_LAYERS


def attention_sections(analysis: AttentionAnalysis) -> list[Section]:
    """The verdict, the tests, single units, and limits."""
    verdict = Section("The verdict", summary_in_words(analysis), _verdict(analysis))
    if _in_layers(analysis):
        limits = caveats_section(layer_page.LIMITS, "What these numbers do not say", "")
        layers = layer_page.layer_sections(analysis, settings_table(analysis))
        return [verdict, *_coloured(analysis), *layers, limits]
    sections = [
        verdict,
        *_coloured(analysis),
        Section("The tests", TESTS, fragment(tests_table(analysis), settings_table(analysis))),
    ]
    if curve := adversary_curve(analysis):
        sections.append(Section("Other weights, the same answers", ADVERSARY, curve))
    if plots := unit_plots(analysis):
        sections.append(Section("Word by word", UNITS, plots))
    return [*sections, caveats_section(LIMITS, "What these numbers do not say", "")]


def _coloured(analysis: AttentionAnalysis) -> list[Section]:
    """The example texts whole; none of an analysis of an earlier version."""
    shown = analysis.examples
    return [Section("Texts with their weights", EXAMPLES, texts_view(shown, anchor=ANCHOR))] if shown else []


def _verdict(analysis: AttentionAnalysis) -> Markup:
    first = analysis.models[0]
    symbol, _, css_class = MARKS[first.verdict.answer]
    others = [element("p", verdict_in_words(model)) for model in analysis.models[1:]]
    big = element("p", element("span", f"{symbol} ", class_=css_class), verdict_in_words(first), class_="pl-big")
    rests = element("p", layer_page.RESTS if _in_layers(analysis) else RESTS, class_="pl-note")
    words = element("div", big, *others, *caution_lines(analysis.caveats), rests, class_="pl-verdict")
    return fragment(words, evidence_table(first))


# The curve of the imitation adversary: how far weights can lie from the model's own, and how far the answers then
# move.
#
# Tutek & Šnajder (2020), "Staying True to Your Word", figure 1. Inline SVG without script.

Point = tuple[float, float, float]  # lambda, divergence of the weights, distance of the answers


def adversary_curve(analysis: AttentionAnalysis) -> Markup | None:
    """A line a model, a point a lambda; None where no adversary was trained."""
    curves = {model.name: points for model in analysis.models if (points := curve_points(model))}
    if not curves:
        return None
    every = [point for points in curves.values() for point in points]
    frame = frame_of([0.0, *(x for _, x, _ in every)], [0.0, *(y for _, _, y in every)])
    styles = line_styles(list(curves))
    lines = []
    for model, points in curves.items():
        lambdas, *both = zip(*points, strict=True)
        marks = {n: f"λ = {at:g}" for n, at in enumerate(lambdas)}
        lines.append(marked_line(frame, (both[0], both[1]), styles[model], model, marks))
    ticks = [(tick, f"{tick:g}") for tick in round_ticks(*frame.x_range) if tick <= frame.x_range[1]]
    both_axes = axes(frame, "divergence of the weights, in nats", "distance of the answers", ticks)
    drawing = drawn(both_axes, lines, spoken=_spoken(curves))
    items = (element("li", sample_of(styles[model]), name(model)) for model in curves)
    caption = element(
        "figcaption",
        element("strong", "imitation adversary"),
        element("small", "a point a λ: a new model that answers alike with weights as far away as it can"),
    )
    figure = element("figure", caption, drawing, class_="pl-figure")
    return element("div", fragment(figure, element("ul", *items, class_="pl-lines")), class_="pl-plots pl-many")


def curve_points(model: ModelAttention) -> list[Point]:
    """In the order of lambda."""
    lines = [line for line in model.lines if line.along]
    mean_at = {(line.at, line.part): line.value.mean for line in lines}
    return [
        (at, mean_at[at, DIVERGENCE], mean_at[at, DISTANCE])
        for at in sorted({line.at for line in lines})
        if {(at, DIVERGENCE), (at, DISTANCE)} <= mean_at.keys()
    ]


def _spoken(curves: dict[str, list[Point]]) -> str:
    parts = [
        f"{model}: " + ", ".join(f"λ {at:g} divergence {three(x)}, distance {three(y)}" for at, x, y in points)
        for model, points in curves.items()
    ]
    return f"Divergence of weights and distance of answers by λ. {'; '.join(parts)}"


# The tests as a table: a row a line, a column a model, and what the number says.

DIRECTIONS = {"higher": "↑ speaks for the weights", "lower": "↓ speaks for the weights"}


def evidence_table(model: ModelAttention) -> Markup:
    """What the verdict rests on: each number beside the lines that it is compared with."""
    rows = []
    for test_evidence in model.verdict.evidence:
        symbol, word, css_class = READINGS[test_evidence.reading]
        title = element("th", name(readable(test_evidence.test)), scope="row")
        value = fragment(
            element("span", three(test_evidence.value.mean), class_="pl-value"),
            element("small", bounds(test_evidence.value)),
        )
        reading = element("small", f"{symbol} {word}", class_=css_class)
        rows.append(
            element(
                "tr",
                title,
                element("td", value, reading),
                element("td", test_evidence.bound, class_="pl-lines-of"),
                element("td", test_evidence.sentence),
            )
        )
    head = header_row(("test", "value, 95 % interval", "limits", "what it says"))
    return scroll_box(table(head, rows, "pl-table pl-tests"), "What the verdict rests on")


def tests_table(analysis: AttentionAnalysis) -> Markup:
    """Every line that is no point of a curve, and each model's verdict below its name."""
    lines = ordered_lines(analysis.models[0])
    columns = (_model_column(model) for model in analysis.models)
    head = element("tr", element("th", "test", scope="col"), *columns, element("th", "what it says", scope="col"))
    rows = (_row(line, analysis) for line in lines)
    return scroll_box(table(head, rows, "pl-table pl-tests"), "Tests of attention")


def settings_table(analysis: AttentionAnalysis) -> Markup:
    """How each test was done: its settings and its source, folded."""
    lines = {line.test: line for line in analysis.models[0].lines}
    rows = (_settings_row(line) for line in lines.values())
    head = header_row(("test", "settings", "after whom"))
    box = scroll_box(table(head, rows, "pl-table"), "How each test was done")
    seed = analysis.about.get("seed")
    drawn = [] if seed is None else [element("p", f"Seed of all draws: {seed}.", class_="pl-note")]
    terms = glossary_view(key for line in lines.values() for key in line.settings)
    return element("details", element("summary", "How each test was done"), *drawn, box, terms, class_="pl-expert")


def _settings_row(line: AttentionLine) -> Markup:
    entry = entry_of(attention_tests, line.test)
    source = (entry.paper if entry else "") or "–"  # summaries speak of shapes of tensors
    title = element("th", name(readable(line.test)), scope="row")
    return element("tr", title, element("td", name(in_words(line.settings) or "–")), element("td", name(source)))


def _model_column(model: ModelAttention) -> Markup:
    symbol, word, css_class = MARKS[model.verdict.answer]
    return element("th", name(model.name), element("small", f"{symbol} {word}", class_=css_class), scope="col")


def _row(line: AttentionLine, analysis: AttentionAnalysis) -> Markup:
    title = element("th", name(line_name(line)), element("small", DIRECTIONS.get(line.better, "")), scope="row")
    cells = (layer_page.line_cell(_same(model, line)) for model in analysis.models)
    says = " ".join(part for part in (line.meaning, idle_in_words(line)) if part)
    return element("tr", title, *cells, element("td", says))


def _same(model: ModelAttention, line: AttentionLine) -> AttentionLine | None:
    return next(
        (candidate for candidate in model.lines if (candidate.test, candidate.part) == (line.test, line.part)), None
    )


@renderers.add(draws="attention analysis")
def notebook_attention_analysis(analysis: AttentionAnalysis) -> str:
    """Whether a model's weights may be read as an explanation: verdict, tests and plots, for `_repr_html_`."""
    sections = attention_sections(analysis)
    return notebook_sections(sections)
