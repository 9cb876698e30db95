"""The view of a text: why this answer, by several methods; and what happens while words are hidden."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pellucid.base.errors import BadInput, PellucidError
from pellucid.base.kinds import views
from pellucid.drawing.html import Markup, element, fragment, name, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.widgets import button, form, hidden_field, labelled, link, widget
from pellucid.explaining.views.side_by_side import left_out_view, rows_view
from pellucid.explaining.views.summary import AGREEMENT, agreement_view
from pellucid.results.explanation import Explanation
from pellucid.results.side_by_side import SideBySide
from pellucid.studio.bars import answer_bars, hiding_plot
from pellucid.studio.explained import expected_seconds, explained, refusals, seconds_in_words
from pellucid.studio.hidden_words import (
    CUTS,
    HiddenWords,
    explained_class,
    hidden_words,
    rows_of_cuts,
    without_words,
)
from pellucid.studio.question_form import question_form, question_of
from pellucid.studio.record import TextRequest, checked
from pellucid.studio.visit import Elsewhere, Page, Visit
from pellucid.studio.work import StillComputing
from pellucid.text.example import Example
from pellucid.text.units import Spans, Units

EXAMPLES, LONGEST = 6, 400  # texts of the data that the first page offers; characters of each
LONG = 45.0  # seconds of an explanation that is asked about first
AT_ONCE = 10.0  # seconds: a slider that takes longer is prepared when a reader asks for it
SOON = 0.2  # seconds that a page waits for its slider
MOST_LINKS = 600  # words of a text that can be clicked: a longer one is edited as a whole
HIDING = (
    "The slider hides words one after the other; the bars show what the model then answers. A method that found what "
    "the model relies on makes the answer fall early, and earlier than random words do."
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
    if seconds > LONG and "anyway" not in visit.query:
        return _before_long_work(visit, key, question, seconds)
    side_by_side = explained(visit, question)
    places = side_by_side.by_text
    index = min(visit.whole_number("answer"), len(places) - 1)
    body = [
        question_form(visit, question),
        _choice_of_answers(visit, key, places, index),
        _rows(side_by_side, index),
        _words(visit, key, question, places[index]),
        *_agreement(visit, key, side_by_side, index),
    ]
    return Page("Why this answer?", body, question.model, list(side_by_side))


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
    return Page("Why this answer?", [question_form(visit, None), begin if texts else None], model)


def _example(visit: Visit, model: str, example: Example) -> Markup:
    """A text of the data as a button."""
    fields = [hidden_field("model", model), hidden_field("chat", "yes")]
    fields += [hidden_field(name, text) for name, text in zip(("text", "second"), example.segments, strict=False)]
    shown = " – ".join(example.segments)
    return form(visit.address("text"), *fields, button(shown, class_="st-example"))


def _before_long_work(visit: Visit, key: str, question: TextRequest, seconds: float) -> Page:
    """How long it takes, and what takes less: others wait for the same model."""
    note = element("p", f"This text takes {seconds_in_words(seconds)}, and other readers wait meanwhile.")
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
    places, clicked = clickable_words(of_text), visit.numbers("hidden")
    if clicked and max(clicked) >= len(places):
        raise BadInput(f"hidden= names word {max(clicked)}, and the text has {len(places)}; follow a link of the page.")
    first = of_text[0]
    try:
        edited = _without(visit, question, first, clicked)
        slider, below = _prepared(visit, key, question, of_text)
    except PellucidError as error:
        note = element("p", f"Words cannot be hidden here: {error}", class_="pl-note")
        return element("section", element("h2", "The text"), *_plain_text(first), note)
    is_short = len(places) <= MOST_LINKS
    undo = link("Show all words again", _address(visit, key, hidden=None)) if clicked else None
    free = fragment(link("Edit this text", visit.address("edit", key)), _layers(visit, key, question))
    card = element(
        "article",
        slider,
        answer_bars(first.prediction, edited[0], edited[1] if clicked else None, explained_class(first)),
        *(_clickable(visit, key, places, clicked, first) if is_short else _plain_text(first)),
        element("p", "A click hides a word or shows it again. ", undo, " " if undo else None, free, class_="pl-note"),
        below,
        class_="pl-card st-hiding",
    )
    intro = fragment(element("p", HIDING, class_="pl-lead"), widget("noscript", element("p", NO_SCRIPT)))
    return element("section", element("h2", "Hide evidence"), intro, card, id="words")


def _without(visit: Visit, question: TextRequest, first: Explanation, clicked: Sequence[int]) -> np.ndarray:
    """[text class]: the answers to the whole text and to the text without the clicked words."""
    model, request = visit.studio.model(question.model), (replace(question, before=""), visit.whole_number("answer"))
    work = lambda progress: without_words(model, first, clicked)  # noqa: E731
    answers: np.ndarray = visit.answer(question.model, ("without", request, tuple(clicked)), work)
    return answers


def _prepared(
    visit: Visit, key: str, question: TextRequest, of_text: Sequence[Explanation]
) -> tuple[Markup, Markup | None]:
    """The slider and what stands below the text; while its cuts are computed, or where they take long, a line."""
    model, request = visit.studio.model(question.model), (replace(question, before=""), visit.whole_number("answer"))
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
    below = fragment(
        hiding_plot(cuts),
        _flips(cuts) if cuts.has_classes and is_answer else None,
    )
    return _slider(cuts), element("div", below, class_="st-beside")


def _address(visit: Visit, key: str, **query: object) -> str:
    """This address, with a part of its query changed."""
    shown = {name: visit.query.get(name) for name in ("answer", "hidden", "slider", "anyway")}
    return f"{visit.address('text', key, **shown | query)}#words"


def clickable_words(of_text: Sequence[Explanation]) -> list[tuple[int, int, int]]:
    """[word]: where it stands, (segment, first character, the one after the last), by the number that edits know it
    by.
    """
    for explanation in of_text:
        if isinstance(explanation.units, Spans) or explanation.units.kind in ("piece", "word"):
            units = explanation.view("word").units
            assert isinstance(units, Units)
            return [(units.segment[unit], units.start[unit], units.end[unit]) for unit in units.content]
    return []


def _layers(visit: Visit, key: str, question: TextRequest) -> Markup | None:
    """A link to the layers of a text; nothing where the model shows none."""
    model = visit.studio.model(question.model)
    return (
        fragment(" · ", link("Layers", visit.address("layers", key))) if "hidden_states" in model.capabilities else None
    )


def _plain_text(explanation: Explanation) -> list[Markup]:
    return [element("div", segment, class_="pl-text", dir="auto") for segment in explanation.example.segments]


def _clickable(
    visit: Visit,
    key: str,
    places: Sequence[tuple[int, int, int]],
    clicked: Sequence[int],
    explanation: Explanation,
) -> Iterator[Markup]:
    """Each text with its words as links; a hidden one is struck out."""
    for segment, text_of_segment in enumerate(explanation.example.segments):
        parts: list[Markup | str] = []
        cursor = 0
        for word, (of_segment, start, end) in enumerate(places):
            if of_segment != segment or start < cursor:
                continue
            hidden = ",".join(map(str, sorted(set(clicked) ^ {word}))) or None
            address = _address(visit, key, hidden=hidden)
            css_class = "st-word st-out" if word in clicked else "st-word"
            title = "show this word again" if word in clicked else "hide this word"
            shown = link(text_of_segment[start:end], address, class_=css_class, title=title, data_words=word)
            parts += [text_of_segment[cursor:start], shown]
            cursor = end
        yield element("div", *parts, text_of_segment[cursor:], class_="pl-text st-words", dir="auto")


def _slider(cuts: HiddenWords) -> Markup:
    """What the script moves, with all that it needs; without a script the words are clicked instead."""
    data = {
        "counts": cuts.counts,
        "explained": cuts.explained,
        "most": {title: _hiding_data(hiding.order, hiding.values) for title, hiding in cuts.most.items()},
        "least": {title: _values(hiding.values) for title, hiding in cuts.least.items()},
        "random": _hiding_data(cuts.random[0].order, cuts.random[0].values),
    }
    titles = [(title, readable(title)) for title in cuts.most]
    which = [("most", "the most important words"), ("least", "the least important words"), ("random", "random words")]
    return element(
        "div",
        labelled("Hide ", widget("select", *_options(which), class_="st-which")),
        labelled("by ", widget("select", *_options(titles), class_="st-method")),
        labelled(
            "hidden: ",
            widget(
                "input", type="range", min=0, max=CUTS, value=0, step=1, class_="st-range", aria_label="Words hidden"
            ),
        ),
        widget("output", "0 words", class_="st-count", aria_live="polite"),
        widget("i", class_="st-data", data_cuts=json.dumps(data, separators=(",", ":"))),
        class_="st-slider",
    )


def _options(pairs: Sequence[tuple[str, str]]) -> list[Markup]:
    return [widget("option", title, value=value) for value, title in pairs]


def _values(values: np.ndarray) -> list[list[float]]:
    return [[round(float(value), 4) for value in row] for row in values]


def _hiding_data(order: Sequence[int], values: np.ndarray) -> dict[str, object]:
    return {"order": list(order), "values": _values(values)}


def _flips(cuts: HiddenWords) -> Markup:
    """The fewest words of each method that change the answer, beside random words."""
    total = cuts.counts[-1]
    draws = [draw.flips_at(cuts.counts) for draw in cuts.random]
    known = sorted(total + 1 if count is None else count for count in draws)
    middle = known[len(known) // 2]
    chance = f"{middle} of {total}" if middle <= total else "the answer stays"
    rows = [
        *(_flip_row(readable(title), hiding.flips_at(cuts.counts), total) for title, hiding in cuts.most.items()),
        element("tr", element("th", "random words, the middle of ten draws", scope="row"), element("td", chance)),
    ]
    head = element(
        "tr", element("th", "Words hidden by", scope="col"), element("th", "Fewest that flip it", scope="col")
    )
    step = max(after - before for before, after in zip(cuts.counts, cuts.counts[1:], strict=False))
    coarse = f" Looked at every {step} words." if step > 1 else ""
    title = f"How many words must be hidden, the most important first, until the answer is another one?{coarse}"
    return element("div", element("p", title, class_="pl-note"), table(head, rows, "pl-table pl-small"))


def _flip_row(title: str, count: int | None, total: int) -> Markup:
    shown = "the answer stays" if count is None else f"{count} of {total}"
    return element("tr", element("th", name(title), scope="row"), element("td", shown))


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
    save = element("p", link("Save this page as a report", visit.address("report", key)))
    yield element("section", element("h2", "More"), save)
