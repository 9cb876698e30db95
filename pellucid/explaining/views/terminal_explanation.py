"""One explanation in a terminal: the answer, the text, its strongest units, and what to keep in mind."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.drawing.colours import LEVELS, level
from pellucid.drawing.emphasis import Scales, full_colour, plain_caution, scale_key
from pellucid.drawing.heat_map import drawable_view, is_of_written_words, units_in_order, unread_places
from pellucid.drawing.html import plain
from pellucid.drawing.method_facts import (
    MethodFacts,
    explains_state,
    explains_written,
    facts_of,
    in_words,
    readable,
)
from pellucid.drawing.span_view import clear_spans
from pellucid.drawing.terminal import caution_lines, line, printed, wants_colour
from pellucid.drawing.wording import (
    ALL_UNREAD,
    ALL_ZERO,
    answer_with_chances,
    diagnostics_in_words,
    listed,
    place_in_words,
    reading_cautions,
    removal_in_words,
    row_in_words,
    shown_row,
    signed,
    strongest_in_words,
    target_name,
)
from pellucid.results.explanation import Explanation
from pellucid.run.diagnostics import brief_of
from pellucid.text.reading import is_about_reading
from pellucid.text.units import Kind, Spans

PLUS, MINUS = (200, 90, 0), (20, 90, 180)
MOST = 5
UNREAD_SIGN = "[?]"
UNREAD = f"{UNREAD_SIGN} stands before words that the model cannot read."
SIGNS = "one sign from a tenth, two from a third, three from two thirds of the strongest score shown"
WRITTEN = (
    "Beside each written word stand the words that it depends on most, with their scores; words after it have none."
)
WRITTEN_SPANS = (
    "Beside each written word stand the spans of the source that the decoder gave the largest weights before it; a "
    "word's weights sum to 1. Then how much of the word's lead over the next likeliest went through the spans: what "
    "did not, they cannot explain. Above 100 % the decoder by itself preferred the other word, below 0 the spans did."
)
SIGNS_FROM = (0.1, 1 / 3, 2 / 3)  # shares of the largest score from which one, two and three signs stand


@renderers.add(draws="explanation")
def terminal_text(
    explanation: Explanation, *, colour: bool | None = None, width: int | None = None, scales: Scales | None = None
) -> str:
    """One explanation as text: the answer, the text (shaded, or with signs), the strongest units, the caveats.

    colour: whether to shade; None: where the standard output is a terminal that shows colours. width: None takes the
    terminal's. scales: the scores of the full colour, where texts share them; None: the text's own.
    """
    colour = wants_colour(colour)
    if is_of_written_words(explanation):
        return printed([*_heading(explanation), *_written(explanation), *_caveats(explanation)], colour, width)
    text, strongest = _text_and_strongest(explanation, colour, scales or {})
    notes = [
        _how_to_read(facts_of(explanation.method, [explanation]), colour),
        *row_in_words(explanation),
        *removal_in_words(explanation),
        *diagnostics_in_words(explanation),
        *([UNREAD] if unread_places(explanation) else []),
    ]
    lines = [
        *_heading(explanation),
        text,
        Text(""),
        line(f"Strongest: {strongest}"),
        *map(line, notes),
        *_caveats(explanation),
    ]
    return printed(lines, colour, width)


def _heading(explanation: Explanation) -> list[Text]:
    subject = f"{readable(explanation.method)}, {_subject(explanation)}"
    cautions = caution_lines(reading_cautions([explanation]))  # before the first colour
    return [line(answer_in_words(explanation)), line(subject), *cautions, Text("")]


def _caveats(explanation: Explanation) -> list[Text]:
    cautions = [caveat for caveat in explanation.caveats if not is_about_reading(caveat)]
    if not (is_of_written_words(explanation) or isinstance(shown_row(explanation).units, Spans)):
        cautions = [*plain_caution(drawable_view(explanation, _unit(explanation))), *cautions]
    return list(caution_lines(cautions))


def _written(explanation: Explanation) -> list[Text]:
    """A line for each word that the model writes, and how to read them."""
    of_spans = isinstance(explanation.units, Spans)
    notes = [WRITTEN_SPANS if of_spans else WRITTEN, *removal_in_words(explanation)]
    return [*written_words(explanation), Text(""), *map(line, notes)]


def written_words(explanation: Explanation) -> list[Text]:
    """A line for each word that the model writes: what it depends on most, of the text that was read and the words
    before it.
    """
    ((_, labels),) = explanation.rows
    widest = max(map(len, labels))
    return [line(f"{label.ljust(widest)}  {_strongest_of(explanation.row(label))}") for label in labels]


def _strongest_of(row: Explanation) -> str:
    """The words, or spans with their share of the weight, that a written word depends on most."""
    if not isinstance(row.units, Spans):
        return strongest_in_words(drawable_view(row), 3)
    through = brief_of("carried", row.diagnostics["carried"]) if "carried" in row.diagnostics else ""
    return "; ".join(part for part in (listed(clear_spans(row, 2)) or ALL_ZERO, through) if part)


def _text_and_strongest(explanation: Explanation, colour: bool, scales: Scales) -> tuple[Text, str]:
    row = shown_row(explanation)
    if isinstance(row.units, Spans):
        nothing = ALL_UNREAD if row.is_unread else ALL_ZERO
        return marked(row), listed(clear_spans(row, MOST)) or nothing
    view = drawable_view(explanation, _unit(explanation))
    scale = scales.get(scale_key(view), full_colour(view))
    text = shaded(view, scale) if colour else with_signs(view, scale)
    return text, strongest_in_words(view, MOST)


def _unit(explanation: Explanation) -> Kind:
    return "word" if explanation.units.kind == "piece" else explanation.units.kind  # type: ignore[return-value]


def answer_in_words(explanation: Explanation) -> str:
    """The model's answer to the text, and whether the label agrees."""
    prediction, label = explanation.prediction, explanation.example.label
    verdict = {None: "", True: ", as labelled", False: f", wrong: the label is {label}"}[explanation.is_correct]
    if explains_written(explanation):  # the text may be the user's own
        return f"{explanation.model} writing {prediction.label}"
    return f"{explanation.model} says {answer_with_chances(explanation)}{place_in_words(explanation)}{verdict}"


def _subject(explanation: Explanation) -> str:
    of_class = facts_of(explanation.method).of_class
    if of_class:
        return target_in_words(explanation)
    if not explains_written(explanation):
        return "the same for every class"
    word, against = explanation.target.label, explanation.target.against
    before = "" if word in ("each word", "the text") else f" before {word}"
    return f"its own weights{before}{'' if against is None else f', where {against} could stand'}"


def target_in_words(explanation: Explanation) -> str:
    """The number that the scores explain, and its value; of hidden states, which are vectors, no value."""
    target = target_name(explanation)
    if explains_state(explanation):
        return f"explaining {target}"
    return f"explaining {target} ({signed(explanation.target.value)})"


def _how_to_read(facts: MethodFacts, colour: bool) -> str:
    """How to read the colours, or the signs in their place."""
    if colour or facts.floor or facts.spans:
        return in_words(facts)
    if facts.of_state:
        for_state = (
            "the explained hidden state depends on" if not facts.signed else "strengthen the explained hidden state"
        )
        meaning = f"[+] stands before words that {for_state}" + (
            ", [-] before words that weaken it" if facts.signed else ""
        )
        return f"{meaning}: {SIGNS}."
    meaning = (
        "[+] stands before words that speak for the explained answer, [-] before words against it"
        if facts.signed
        else "[+] stands before words that count, whether they speak for the answer or against it"
    )
    return f"{meaning}: {SIGNS}."


def shaded(view: Explanation, scale: float) -> Text:
    """The text on a background that shows each unit's score; scale: the score of the full colour."""
    return _drawn(view, lambda words, score: Text(words, style=_style(level(score, scale))))


def marked(explanation: Explanation) -> Text:
    """The text as it is, with signs before the words alone that the model cannot read."""
    view = drawable_view(explanation)
    if isinstance(view.units, Spans) or not unread_places(view):
        return line(explanation.example.text)
    return with_signs(replace(view, scores=np.zeros_like(view.scores)), 0.0)


def with_signs(view: Explanation, scale: float) -> Text:
    """The text with signs before the units that count, for terminals without colour: `[++]good`."""
    return _drawn(view, lambda words, score: Text(_signs(score, scale) + words))


def _drawn(view: Explanation, draw: Callable[[str, float], Text]) -> Text:
    """The text with each unit as `draw` writes it, from the unit's words and score; a sign stands before what the model
    cannot read.
    """
    text, unread = Text(), unread_places(view)
    for index, segment in enumerate(view.example.segments):
        cursor = 0
        text.append(" ⫽ " if index else "")
        for unit in (unit for unit in units_in_order(view) if unit.segment == index):
            text.append(plain(segment[cursor : unit.start]))
            text.append(UNREAD_SIGN if (index, unit.start) in unread else "")
            text.append(draw(plain(segment[unit.start : unit.end]), unit.score))
            cursor = unit.end
        text.append(plain(segment[cursor:]))
    return text


def _signs(score: float, scale: float) -> str:
    """ "[+]" to "[+++]" or "[-]" to "[---]" by the score's share of the largest one; "" below a tenth of it."""
    count = sum(abs(score) >= share * scale for share in SIGNS_FROM) if scale > 0 else 0
    return f"[{('+' if score > 0 else '-') * count}]" if count else ""


def _style(step: int) -> str:
    if step == 0:
        return ""
    share = abs(step) / LEVELS
    red, green, blue = (round(part * share) for part in (PLUS if step > 0 else MINUS))
    return f"rgb(255,255,255) on rgb({red},{green},{blue})"
