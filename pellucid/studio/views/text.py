"""The view of a text: why this answer, by several methods; and what happens while words are hidden."""

from collections.abc import Callable, Iterator, Sequence

from pellucid.base.checks import shortened
from pellucid.base.errors import BadInput, PellucidError
from pellucid.base.kinds import views
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.widgets import button, form, hidden_field, link, widget
from pellucid.explaining.views.side_by_side import left_out_view, rows_view
from pellucid.explaining.views.summary import AGREEMENT, agreement_view
from pellucid.results.explanation import Explanation
from pellucid.results.side_by_side import SideBySide
from pellucid.studio.bars import answer_bars, flips_alone, flips_table, hiding_plot, slider_view
from pellucid.studio.beside import in_a_line
from pellucid.studio.clickable_words import (
    MOST_LINKS,
    WordPlace,
    answers_without,
    clickable_text,
    clickable_words,
    hidden_numbers,
    words_by_name,
)
from pellucid.studio.explained import expected_seconds, explained, refusals, seconds_in_words
from pellucid.studio.frame import refused_runs
from pellucid.studio.hidden_words import HOW, explained_class, hidden_words, rows_of_cuts
from pellucid.studio.question_form import question_form, question_of, way_back
from pellucid.studio.record import TextRequest, checked
from pellucid.studio.trust_line import by_lead
from pellucid.studio.visit import Elsewhere, Page, Visit
from pellucid.studio.work import StillComputing
from pellucid.text.example import Example

EXAMPLES, LONGEST = 6, 400  # texts of the data that the first page offers; characters of each
LONG = 45.0  # seconds of an explanation that is asked about first
AT_ONCE = 10.0  # seconds: a slider that takes longer is prepared when a reader asks for it
SOON = 0.2  # seconds that a page waits for its slider
LONGEST_WORD = 40  # characters of a word in a list
HIDING = (
    "The slider hides words one after the other; the bars show what the model then answers. A method that found what "
    "the model relies on makes the answer fall early, and earlier than random words do. Hidden words are "
    f"{HOW}."
)
NO_SCRIPT = "The slider needs a script; words can be clicked all the same."


@views.add(title="Text")
def text(visit: Visit) -> Page | Elsewhere:
    """Why the model gave a text its answer; with a form, another text."""
    if visit.form is not None:
        key = visit.studio.requests.add(checked(question_of(visit)))
        return Elsewhere(visit.address("text", key))
    if not visit.path:
        return _first_page(visit)
    key, question = visit.question
    seconds = expected_seconds(visit, question)
    if "ask" in visit.query or (seconds > LONG and "anyway" not in visit.query):
        return _before_long_work(visit, key, question, seconds)
    side_by_side = explained(visit, question)
    places = side_by_side.by_text
    index = min(visit.whole_number("answer"), len(places) - 1)
    body = [
        way_back(visit, question),
        question_form(visit, question),
        _choice_of_answers(visit, key, places, index),
        _rows(side_by_side, index),
        _words(visit, key, question, places[index]),
        *_agreement(visit, key, side_by_side, index),
    ]
    shown = next(iter(side_by_side.values())) if len(side_by_side) == 1 else side_by_side
    table = visit.studio.table(visit.studio.model(question.model))
    titles = list(side_by_side)
    return Page("Why this answer?", body, question.model, titles, of_report=lambda: (shown, table))


def _first_page(visit: Visit) -> Page:
    """The form, and some texts to begin with where there is data."""
    studio = visit.studio
    model = visit.query.get("model", next(iter(studio.models), ""))
    if not model:
        raise BadInput("No model is open here, only stored runs; look at these, or start the studio with a model.")
    studio.model(model)
    texts = [example for example in studio.data[:EXAMPLES] if sum(map(len, example.segments)) <= LONGEST]
    begin = element(
        "section", element("h2", "Or begin with one of these"), *(_example(visit, model, each) for each in texts)
    )
    body = [question_form(visit, None), begin if texts else None, refused_runs(studio)]
    return Page("Why this answer?", body, model, beside=[each for each in studio.models if each != model])


def _example(visit: Visit, model: str, example: Example) -> Markup:
    """A text of the data as a button."""
    fields = [hidden_field("model", model), hidden_field("chat", "yes")]
    fields += [hidden_field(name, text) for name, text in zip(("text", "second"), example.segments, strict=False)]
    shown = " – ".join(example.segments)
    return form(visit.address("text"), *fields, button(shown, class_="st-example"))


def _before_long_work(visit: Visit, key: str, question: TextRequest, seconds: float) -> Page:
    """How long it takes, and what takes less."""
    time = f"This text takes {seconds_in_words(seconds)}" if seconds else "How long this text takes is not known"
    note = element("p", f"{time}; short questions come between, and you can stop it.")
    on = link("Explain it all the same", visit.address("text", key, anyway="yes"))
    fewer = element("p", "Fewer methods, or a part of the text, take less.", class_="pl-note")
    return Page("This takes a while", [note, element("p", on), fewer, question_form(visit, question)], question.model)


def _choice_of_answers(visit: Visit, key: str, places: Sequence[Sequence[Explanation]], index: int) -> Markup | None:
    """Of a model that gives a text several answers, such as entities: a link to each."""
    if len(places) < 2:
        return None
    names = [f"{of_place[0].example.id}: {of_place[0].target.label}" for of_place in places]
    entries = (
        element("strong", name(title))
        if place == index
        else link(name(title), visit.address("text", key, answer=place))
        for place, title in enumerate(names)
    )
    parts = [part for entry in entries for part in (entry, " · ")][:-1]
    return element("p", "Answers in this text: ", *parts, class_="pl-note")


# The words, which can be hidden, and the slider.


def _words(visit: Visit, key: str, question: TextRequest, of_text: Sequence[Explanation]) -> Markup:
    """The answer in bars, the text with its words as links, and the slider with its curve where it is ready."""
    places, first = clickable_words(of_text), of_text[0]
    hidden = hidden_numbers(visit, places)
    try:
        edited = answers_without(visit, question, first, hidden, visit.whole_number("answer"))
        slider, below = _prepared(visit, key, question, of_text, hidden)
    except PellucidError as error:
        note = element("p", f"Words cannot be hidden here: {error}", class_="pl-note")
        return element("section", element("h2", "The text"), *clickable_text(first, [], (), str), note)
    card = element(
        "article",
        slider,
        answer_bars(first.prediction, edited[0], edited[1] if hidden else None, explained_class(first)),
        _by_hand(visit, key, first, places, hidden),
        *clickable_text(first, places, hidden, lambda words: _address(visit, key, hidden=words)),
        _links(visit, key, question, len(places)),
        below,
        class_="pl-card st-hiding",
    )
    intro = fragment(element("p", HIDING, class_="pl-lead"), widget("noscript", element("p", NO_SCRIPT)))
    return element("section", element("h2", "Hide evidence"), intro, card, id="words")


def _by_hand(
    visit: Visit, key: str, first: Explanation, places: Sequence[WordPlace], hidden: Sequence[int]
) -> Markup | None:
    """Which words were hidden by hand; nothing where none is."""
    if not hidden:
        return None
    undo = link("Show all words again", _address(visit, key, hidden=None))
    return element("p", "Hidden by hand: ", words_by_name(first, places, hidden), ". ", undo, class_="st-hand")


def _links(visit: Visit, key: str, question: TextRequest, n_words: int) -> Markup:
    """What can be done with the text."""
    links = [fragment("A click hides a word or shows it again")] if n_words <= MOST_LINKS else []
    links += [link("Edit this text", visit.address("edit", key))]
    if "hidden_states" in visit.studio.model(question.model).capabilities:
        links.append(link("Layers", visit.address("layers", key)))
    if visit.studio.learnt and visit.studio.model(question.model).hash in visit.studio.learnt:
        links.append(link("Concepts", visit.address("concepts", key)))
    if len(visit.studio.models) > 1:
        links.append(link("Beside another model", visit.address("models", key)))
    return in_a_line(links)


def _prepared(
    visit: Visit, key: str, question: TextRequest, of_text: Sequence[Explanation], hidden: Sequence[int]
) -> tuple[Markup, Markup | None]:
    """The slider and what stands below the text; while its cuts are computed, or where they take long, a line."""
    model, request = visit.studio.model(question.model), (question.bare, visit.whole_number("answer"))
    words = len(clickable_words(of_text))
    seconds = visit.studio.paces.get(question.model, 0.0) * rows_of_cuts(len(of_text), words) * words
    if seconds > AT_ONCE and "slider" not in visit.query:
        prepare = link("Prepare the slider", _address(visit, key, slider="yes"))
        return element("p", prepare, f", {seconds_in_words(seconds)}.", class_="pl-note"), None
    try:
        cuts = visit.answer(
            question.model,
            ("cuts", request),
            lambda progress: hidden_words(model, of_text, progress),
            patience=min(SOON, visit.studio.paces.get(question.model, 0.0) * words),
        )
    except StillComputing:
        again = link("look again", _address(visit, key))
        return element("p", "The slider comes in a moment: ", again, ".", class_="pl-note st-coming"), None
    is_answer = of_text[0].target.label == of_text[0].prediction.label  # else no word that speaks for it can flip it
    below = [hiding_plot(cuts)]
    if cuts.has_classes and is_answer:
        alone = flips_alone(cuts, of_text[0].prediction, _named_words(visit, key, of_text))
        below.append(element("div", flips_table(cuts), alone))
    table = visit.studio.table(model)
    measured = by_lead(table) if table is not None else ()
    return slider_view(cuts, len(hidden), measured), element("div", *below, class_="st-beside")


def _named_words(visit: Visit, key: str, of_text: Sequence[Explanation]) -> Callable[[int], Markup]:
    """What draws a word's text as a link that hides it."""
    places, segments = clickable_words(of_text), of_text[0].example.segments

    def named(word: int) -> Markup:
        segment, start, end = places[word]
        text_of_word = name(shortened(segments[segment][start:end], LONGEST_WORD))
        return link(text_of_word, _address(visit, key, hidden=word))

    return named


def _address(visit: Visit, key: str, **query: object) -> str:
    """This address, with a part of its query changed."""
    shown = {name: visit.query.get(name) for name in ("answer", "hidden", "slider", "anyway")}
    return f"{visit.address('text', key, **shown | query)}#words"


# The methods, side by side.


def _shown(side_by_side: SideBySide, index: int) -> SideBySide:
    """The methods' explanations of one answer."""
    return SideBySide({title: results[index : index + 1] for title, results in side_by_side.items()})


def _rows(side_by_side: SideBySide, index: int) -> Markup:
    """The text in colour, a row a method."""
    seconds = f" They took {seconds_in_words(side_by_side.seconds)}." if side_by_side.seconds else ""
    intro = element("p", f"Each row is one method, on a scale of its own.{seconds}", class_="pl-note")
    heading = element("h2", "By several methods" if len(side_by_side) > 1 else "The words that mattered")
    return element("section", heading, intro, rows_view(_shown(side_by_side, index)))


def _agreement(visit: Visit, key: str, side_by_side: SideBySide, index: int) -> Iterator[Markup]:
    """How far the methods agree, what was left out, and what else can be done with the text."""
    if len(side_by_side) > 1:
        agreed = (element("h2", "Do the methods agree?"), element("p", AGREEMENT, class_="pl-lead"))
        yield element("section", *agreed, agreement_view(_shown(side_by_side, index)))
    if refused := refusals(visit.studio.requests[key], side_by_side):
        yield element("section", element("h2", "Left out"), left_out_view(refused))
