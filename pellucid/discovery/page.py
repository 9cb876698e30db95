"""Concepts on a page: a card each, how far they can be believed, and the concepts of one text."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pellucid.base.checks import listed, percent
from pellucid.base.kinds import renderers
from pellucid.discovery.concept import NO_NAME, BesideChance, LearntConcept
from pellucid.discovery.naming import ConceptWord
from pellucid.discovery.record import LearntConcepts
from pellucid.discovery.text_record import TextConcept, TextConcepts
from pellucid.drawing.card import text_highlights
from pellucid.drawing.emphasis import Scales
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import (
    Content,
    Markup,
    definition_list,
    element,
    fragment,
    header_row,
    name,
    scroll_box,
    table,
)
from pellucid.drawing.long_text import text_block
from pellucid.drawing.page import (
    Opening,
    Section,
    caveats_section,
    facts_section,
    notebook_sections,
    page_scales,
    write_report,
    written_on,
)
from pellucid.drawing.wording import bounds, signed, three
from pellucid.explaining.views.opening import texts_in_words
from pellucid.results.explanation import Explanation
from pellucid.results.table import Interval

GUIDE = (
    "A concept is a direction in a layer’s states that the model has made itself. Its name is made of the words in "
    "whose states it is strongest, where they stand out of what chance gives such rare words. Orange words have much "
    "of it."
)
DOES = (
    "“Moves the answer” takes a concept out of the states and finishes the pass: by how much the logit of the answered "
    "class moves, beside a random direction of equal size. A concept that moves it no more is seen by the model, but "
    "the answer does not depend on it."
)
MEASURES = (
    "How much of the states the concepts hold, and how often the answer stays where states are made of concepts alone. "
    "Chance is as many random directions, drawn with the spread of the states."
)
ADDS = (
    "The logit of the answer is what is left without concepts, what each concept adds, the gap of the path, and the "
    "error of the reconstruction."
)
OPEN = 12  # cards; further ones are folded
ROUNDING = 1e-6  # of sums of float32


def trust_in_words(learnt: LearntConcepts) -> str:
    """How far the concepts can be believed, in two sentences."""
    matter = [concept for concept in learnt.concepts if concept.removal.is_ahead]
    variance, same = learnt.reconstruction, learnt.answers
    return (
        f"Taking {len(matter)} of the {len(learnt)} concepts out moves answers surely more than random directions of "
        f"equal size do. Together they hold {percent(variance.value.mean)} of what the states vary by (random "
        f"directions {percent(variance.chance.mean)}), and {percent(same.value.mean)} of answers stay when states are "
        f"made of them alone (random {percent(same.chance.mean)})."
    )


def matters_in_words(removal: BesideChance) -> tuple[str, str, str]:
    """The symbol, words and CSS class of what taking a concept out does."""
    if removal.is_ahead:
        return "▲", "the answer depends on it", "pl-better"
    if removal.over.high < 0:
        return "▼", "moves less than a random direction", "pl-worse"
    return "○", "no more than a random direction", "pl-unclear"


def removal_in_words(removal: BesideChance) -> str:
    """Both means with their intervals."""
    return (
        f"{three(removal.value.mean)} ({bounds(removal.value)}), a random direction {three(removal.chance.mean)} "
        f"({bounds(removal.chance)}), {removal.n} texts"
    )


def words_in_words(words: Sequence[ConceptWord]) -> str:
    """“account” (92 texts), “profile” (35)"""
    return ", ".join(f"“{word.word}” ({word.texts:,})" for word in words) or "none stands out of chance"


def near_in_words(concept: LearntConcept) -> str:
    """“time” (r = .61, chance .12); "" where it is near to none."""
    return ", ".join(f"“{near.name}” (r = {three(near.r)}, chance {three(near.limit)})" for near in concept.near)


def decoded_in_words(concept: LearntConcept) -> str:
    """“account”, “profile” (+2.1 nats, chance 0.9); "" where no word stands out."""
    if not concept.decoded:
        return ""
    first, words = concept.decoded[0], ", ".join(f"“{word.word}”" for word in concept.decoded)
    return f"{words} (up to {signed(first.rise)} nats, chance {three(first.limit)})"


def classes_in_words(concept: LearntConcept) -> str:
    """The classes that it surely adds to, with how much."""
    surely = [effect for effect in concept.classes if effect.value.low > 0]
    return ", ".join(f"{effect.label} ({signed(effect.value.mean)})" for effect in surely) or "none surely"


@renderers.add(
    "page_of_learnt_concepts",
    draws="learnt concepts",
    page_of=("pellucid.discovery.record.LearntConcepts",),
    heading="What the model has learnt to tell apart",
)
def concepts_page(
    learnt: LearntConcepts, path: str | Path, title: str, about: Mapping[str, object] | None = None
) -> Path:
    """Write the concepts to one HTML file; about: facts that are shown last."""
    done = [facts_section("What was done", "", {**learnt.about, "method": learnt.method, **(about or {})})]
    facts = (
        f"Model {learnt.model}",
        f"Layer {learnt.layer}, by {learnt.method}",
        texts_in_words(int(str(learnt.about.get("texts", 0))), str(learnt.about.get("data", ""))),
        written_on(),
    )
    guide = element("p", GUIDE, class_="pl-lead")
    opening = Opening(facts, trust_in_words(learnt))
    return write_report(path, title=title, sections=[*concept_sections(learnt), *done], guide=guide, opening=opening)


def concept_sections(learnt: LearntConcepts) -> list[Section]:
    """The cards, the measures of all concepts together, and what to keep in mind."""
    cards = [_card(concept) for concept in learnt.concepts]
    more = cards[OPEN:]
    folded = element(
        "details",
        element("summary", f"{len(more)} smaller concepts"),
        element("div", *more, class_="pl-cards"),
        class_="pl-full",
    )
    body = fragment(element("div", *cards[:OPEN], class_="pl-cards"), folded if more else None)
    sections = [Section("The concepts", DOES, body), Section("How far to believe them", MEASURES, _measures(learnt))]
    return [*sections, caveats_section(learnt.caveats)]


def _card(concept: LearntConcept) -> Markup:
    symbol, words, css_class = matters_in_words(concept.removal)
    scales = page_scales(concept.texts)
    facts: list[tuple[Content, Content]] = [
        ("words", name(words_in_words(concept.words))),
        ("phrases", name(words_in_words(concept.phrases))),
        *(("near to", name(words)) for words in [near_in_words(concept)] if words),
        *(("decodes to", name(words)) for words in [decoded_in_words(concept)] if words),
        ("speaks for", name(classes_in_words(concept))),
        (
            "moves the answer",
            fragment(removal_in_words(concept.removal), " ", element("span", f"{symbol} {words}", class_=css_class)),
        ),
        ("where", f"in {percent(concept.active)} of states; {percent(concept.size)} of what all concepts make of them"),
    ]
    texts = [element("div", _coloured(text, scales), class_="pl-map") for text in concept.texts]
    heading = element("h3", f"{concept.id} ", name(concept.name))
    return element(
        "article", heading, definition_list(facts, "pl-facts"), *texts, class_="pl-card", id=f"concept-{concept.id}"
    )


def _coloured(text: Explanation, scales: Scales) -> Markup:
    return text_block(text.example, text_highlights(text, scales))


def _measures(learnt: LearntConcepts) -> Markup:
    rows = [
        _measure("variance of the states", learnt.reconstruction, "states"),
        _measure("answers that stay", learnt.answers, "texts"),
    ]
    head = header_row(("measure", "concepts, 95 % interval", "random directions", "ahead by"))
    return scroll_box(table(head, rows, "pl-table"), "How far to believe the concepts")


def _measure(title: str, beside: BesideChance, what: str) -> Markup:
    cells = [interval_cell(each) for each in (beside.value, beside.chance, beside.over)]
    return element("tr", element("th", title, element("small", f"{beside.n:,} {what}"), scope="row"), *cells)


def interval_cell(interval: Interval) -> Markup:
    """A cell of a table: a mean, and its interval below it, where there is one."""
    return element("td", *mean_and_bounds(interval))


def mean_and_bounds(interval: Interval) -> tuple[Markup, ...]:
    """A mean, and its interval below it, where there is one."""
    mean = element("span", three(interval.mean), class_="pl-value")
    return (mean,) if interval.low != interval.low else (mean, element("small", bounds(interval)))


@renderers.add(draws="learnt concepts")
def notebook_learnt_concepts(learnt: LearntConcepts) -> str:
    """The cards and measures, for `_repr_html_`."""
    return notebook_sections(concept_sections(learnt))


@renderers.add(
    "page_of_text_concepts",
    draws="concepts of a text",
    page_of=("pellucid.discovery.text_record.TextConcepts",),
    heading="Which concepts this text has",
)
def text_page(result: TextConcepts, path: str | Path, title: str, about: Mapping[str, object] | None = None) -> Path:
    """Write the concepts of one text to one HTML file; about: facts that are shown last."""
    done = [facts_section("What was done", "", about)] if about else []
    facts = (f"Model {result.model}", f"Layer {result.layer}", written_on())
    guide = element("p", GUIDE, class_="pl-lead")
    sections = [*text_sections(result), *done]
    return write_report(
        path, title=title, sections=sections, guide=guide, opening=Opening(facts, text_in_words(result))
    )


def text_in_words(result: TextConcepts) -> str:
    """Which concepts move the answer more than random directions."""
    ahead = [f"“{concept.name}” ({concept.id})" for concept in result.concepts if concept.is_ahead]
    most = listed(ahead[:3]) if ahead else "none of the concepts"
    more = f" and {len(ahead) - 3} more" if len(ahead) > 3 else ""
    return (
        f"The model answers {result.label}. Taken out of the states, {most}{more} "
        f"{'moves' if len(ahead) < 2 else 'move'} the answer more than a random direction of equal size."
    )


def text_sections(result: TextConcepts) -> list[Section]:
    """What each concept did, where the strongest are, and what to keep in mind."""
    shown = [concept for concept in result.concepts if concept.activation]
    rows = (_text_row(result, concept) for concept in shown)
    head = header_row(("concept", "adds, by the path", "by its gradient", "taken out", "random direction"))
    sums = {
        "without concepts": result.rest,
        "concepts add": sum(concept.by_path for concept in result.concepts),
        "gap of the path": result.gap,
        "error of the reconstruction": result.error,
        f"logit of {result.label}": result.answer,
    }
    body = fragment(
        scroll_box(table(head, rows, "pl-table"), "Concepts of the text"),
        definition_list(((key, part_in_words(result, value)) for key, value in sums.items()), "pl-facts"),
        *caution_lines(result.caveats),
    )
    maps = [_where(concept) for concept in shown[:6]]
    return [
        Section("What each concept does", ADDS, body),
        Section("Where the concepts are", "The strongest first.", element("div", *maps, class_="pl-cards")),
    ]


def part_in_words(result: TextConcepts, value: float) -> str:
    """A part of the answer with its sign; what lies below the rounding of its largest part is 0."""
    by_path = (concept.by_path for concept in result.concepts)
    largest = max(map(abs, (result.answer, result.rest, result.error, *by_path)))
    return signed(0.0 if abs(value) < ROUNDING * largest else value)


def _text_row(result: TextConcepts, concept: TextConcept) -> Markup:
    symbol, css_class = ("▲", "pl-better") if concept.is_ahead else ("○", "pl-unclear")
    values: Iterable[float] = (concept.by_path, concept.by_gradient, concept.removal)
    cells = [element("td", element("span", part_in_words(result, value), class_="pl-value")) for value in values]
    random = element("td", three(concept.random), " ", element("small", symbol, class_=css_class))
    return element("tr", element("th", f"{concept.id} ", name(concept.name), scope="row"), *cells, random)


def _where(concept: TextConcept) -> Markup:
    heading = element("h3", f"{concept.id} ", name(concept.name))
    return element("article", heading, _coloured(concept.where, page_scales([concept.where])), class_="pl-card")


@renderers.add(draws="concepts of a text")
def notebook_text_concepts(result: TextConcepts) -> str:
    """What each concept did, for `_repr_html_`."""
    return notebook_sections(text_sections(result))


def names_in_words(learnt: LearntConcepts) -> str:
    """How many concepts have a name."""
    unnamed = sum(concept.name == NO_NAME for concept in learnt.concepts)
    return f"{len(learnt) - unnamed} of {len(learnt)} concepts have a name"
