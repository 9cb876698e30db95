"""The page of attacks, every fooled text before and after; and its view in a terminal, a line an attack."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pellucid.attacks.attack_case import Attempt, Ending, ExplanationShift
from pellucid.attacks.record import AttackSummary, Attempts
from pellucid.base.checks import in_syntax
from pellucid.base.kinds import renderers
from pellucid.drawing.card import text_heading
from pellucid.drawing.heat_map import NOT_READ
from pellucid.drawing.html import Markup, element, fragment, header_row, plain, scroll_box, table
from pellucid.drawing.long_text import Highlight, text_block
from pellucid.drawing.page import (
    IN_NOTEBOOK,
    Opening,
    Section,
    facts_section,
    notebook_sections,
    write_report,
    written_on,
)
from pellucid.drawing.reading_guide import attacks_guide
from pellucid.drawing.terminal import Line, indented, line, printed
from pellucid.drawing.wording import percent, unbroken
from pellucid.explaining.views.opening import texts_in_words
from pellucid.text.example import Example, data_of

IN_FULL, EXAMPLES = 200, 3  # texts on the page; texts at the top of it


@renderers.add(
    "page_of_attempts",
    draws="attempts",
    page_of=("pellucid.attacks.record.Attempts",),
    heading="How the model can be fooled",
)
def report(attempts: Attempts, path: str | Path, title: str, about: Mapping[str, object] | None = None) -> Path:
    """Write the attempts to one HTML file; about: facts that are shown last."""
    sections = attack_sections(attempts)
    if about:
        sections.append(facts_section("What was done", "", about))
    return write_report(
        path, title=title, sections=sections, guide=attacks_guide(), opening=_opening(attempts, about or {})
    )


def _opening(attempts: Attempts, about: Mapping[str, object]) -> Opening:
    """The model, where `about` names it, the texts, and the first that fooled it, as they were after the edits."""
    ids = list(dict.fromkeys(attempt.example.id for attempt in attempts))
    fooled = attempts.successes()
    model = [f"Model {about['model']}"] if "model" in about else []
    texts = texts_in_words(len(ids), data_of(ids))
    facts = (*model, texts, f"{len(fooled):,} attempts fooled the model", written_on())
    shown = (element("article", _named_side(attempt), class_="pl-example") for attempt in fooled[:EXAMPLES])
    return Opening(facts, "", element("div", *shown, class_="pl-examples") if fooled else None)


def _named_side(attempt: Attempt) -> Markup:
    after = replace(attempt.example, segments=attempt.segments, rationales=())
    title = element("p", f"{named(attempt.attack, attempt.goal)}: {outcome(attempt)}", class_="pl-example-title")
    return fragment(title, text_block(after, _after(attempt)))


def attack_sections(attempts: Attempts, in_full: int = IN_FULL) -> list[Section]:
    """The table, and the fooled texts; of each other ending, how many texts there are."""
    fooled = attempts.successes()
    rest = len(fooled) - in_full
    more = f" The first {in_full:,} are shown, {rest:,} are left out." if rest > 0 else ""
    return [
        Section(
            "How often the model was fooled",
            "",
            fragment(_summaries(attempts), element("p", key_of(attempts), class_="pl-note")),
        ),
        Section("The fooled texts", meaning_of(attempts) + more, _texts(fooled[:in_full])),
    ]


def _summaries(attempts: Attempts) -> Markup:
    rows = (
        element("tr", element("th", name, scope="row"), *(element("td", cell) for cell in cells))
        for name, *cells in map(row_of, attempts.table())
    )
    return scroll_box(table(header_row(COLUMNS), rows, "pl-table"), "Attacks")


def _texts(attempts: Sequence[Attempt]) -> Markup:
    if not attempts:
        return element("p", "No text was fooled.")
    return element("div", *map(attempt_card, attempts), class_="pl-cards")


def attempt_card(attempt: Attempt) -> Markup:
    """One text before and after; what was edited is underlined in both."""
    after = replace(attempt.example, segments=attempt.segments, rationales=())
    return element(
        "article",
        text_heading(attempt.example),
        element("p", f"{named(attempt.attack, attempt.goal)}: {outcome(attempt)}", class_="pl-note"),
        element(
            "div",
            _side("before", attempt.example, _before(attempt)),
            _side("after", after, _after(attempt)),
            class_="pl-versions",
        ),
        class_="pl-card",
    )


def _side(label: str, example: Example, highlights: Sequence[Highlight]) -> Markup:
    return element("div", element("small", label, class_="pl-which"), text_block(example, highlights))


def _before(attempt: Attempt) -> list[Highlight]:
    edits = [
        Highlight(edit.segment, edit.start, edit.end, "pl-edit-before", f"became: {edit.after}")
        for edit in attempt.edits
    ]
    return [*edits, *(Highlight(*place, "pl-unread", NOT_READ) for place in _untouched(attempt))]


def _after(attempt: Attempt) -> list[Highlight]:
    """Where the edits stand in the edited text, and the words there that the model could not read before either."""
    shifts: dict[int, int] = {}
    highlights = []
    for segment, start, end, edit in sorted(
        [(edit.segment, edit.start, edit.end, edit) for edit in attempt.edits]
        + [(*place, None) for place in _untouched(attempt)],
        key=lambda row: row[:3],
    ):
        shift = shifts.get(segment, 0)
        if edit is None:
            highlights.append(Highlight(segment, start + shift, end + shift, "pl-unread", NOT_READ))
            continue
        last = start + shift + len(edit.after)
        highlights.append(Highlight(segment, start + shift, last, "pl-edit-after", f"was: {edit.before}"))
        shifts[segment] = shift + len(edit.after) - (end - start)
    return [highlight for highlight in highlights if highlight.end > highlight.start]


def _untouched(attempt: Attempt) -> list[tuple[int, int, int]]:
    """The words that the model cannot read and that no edit changes."""
    edits = attempt.edits
    return [
        (segment, start, end)
        for segment, start, end in attempt.unread
        if not any(edit.segment == segment and start < edit.end and end > edit.start for edit in edits)
    ]


# What became of attacks, in words.

ENDINGS: dict[Ending, str] = {
    "success": "fooled",
    "exhausted": "not fooled: everything was tried",
    "budget": "not fooled: no query was left",
    "wrong before": "not attacked: the answer was wrong before",
    "reached before": "not attacked: the answer is already what the goal wants",
    "nothing to edit": "not fooled: no word could be edited",
    "not confirmed": "not fooled: alone, the edited text gets another answer than among others",
}
COLUMNS = ("attack", "fooled", "right before → after", "queries", "words edited", "similarity")
KEY = (
    "Fooled: the share of the attacked texts {reached}, of how many, with its 95 % interval. {right}Queries: edited "
    "texts that the model read, and passes of the order, a text on average. Words edited: the mean share, of texts "
    "that were fooled. Similarity: the mean cosine of MiniLM's vectors of both texts; 0.9 is the median of texts "
    "translated to Spanish and back, 0.22 that of texts that have nothing to do with each other; a changed word that "
    "turns the meaning around may cost little."
)
RIGHT = (
    "Texts answered wrong before are not attacked; right before → after counts the texts with a label that is a class. "
)
REACHED = {  # goal -> what became of a fooled text
    "flip": "whose answer changed",
    "class": "whose answer became the class that was asked for",
    "label": "in which the label was switched",
    "explanation": "whose answer stayed and whose top words did not",
}
REACHED_OF_VALUES = "Fooled: the share of the texts whose value moved as far as the goal wants"
MEANING = (
    "A changed answer is a fault of the model only where a reader would still give the old one: read the edited texts."
)
MOVED = (
    "Top words that moved are a fault of the method, or of the model, only where a reader finds both texts alike: the "
    "model may well read the edited text by other words. Places of the original are compared; where an edit runs "
    "across several words they are left out."
)


def key_of(attempts: Sequence[Attempt]) -> str:
    """What the columns mean, for the goals that there are."""
    goals = {attempt.goal.partition("(")[0] for attempt in attempts}
    goal = goals.pop() if len(goals) == 1 else ""
    right = "" if goal == "value" else RIGHT  # a value is neither right nor wrong
    key = KEY.format(reached=REACHED.get(goal, "for which the goal was reached"), right=right)
    if goal == "value":
        return REACHED_OF_VALUES + key[key.index(", with its 95 %") :]
    return key


def named(attack: str, goal: str) -> str:
    """An attack, with its goal where that is another than any other class."""
    return attack if goal == "flip" else f"{attack}, goal {goal}"


def meaning_of(attempts: Sequence[Attempt]) -> str:
    """How a fooled text should be read, for the goals that there are."""
    moved = [attempt.goal.startswith("explanation") for attempt in attempts]
    return " ".join(([MOVED] if any(moved) else []) + ([] if moved and all(moved) else [MEANING]))


def row_of(summary: AttackSummary) -> tuple[str, ...]:
    """The cells of an attack's line, as COLUMNS names them."""
    success = summary.success
    fooled = (
        f"{unbroken(percent(success.mean))} of {summary.n_attacked:,} "
        f"{unbroken(f'[{percent(success.low)}, {percent(success.high)}]')}"
        if summary.n_attacked
        else "–"
    )
    edited = percent(summary.edited.mean) if summary.edited.mean == summary.edited.mean else "–"
    similarity = f"{summary.similarity.mean:.2f}" if summary.similarity.mean == summary.similarity.mean else "–"
    queries = f"{summary.queries.mean:,.0f}" if summary.n_attacked else "–"
    shares = summary.accuracy_before, summary.accuracy_after
    accuracy = unbroken(" → ".join(map(percent, shares))) if shares[0] == shares[0] else "–"
    if shares[0] == shares[0] and summary.n_labelled < summary.n_texts:
        accuracy += f" ({summary.n_labelled:,} labelled)"
    return named(summary.attack, summary.goal), fooled, accuracy, queries, edited, similarity


def outcome(attempt: Attempt) -> str:
    """What became of one attempt: the ending, both answers and the cost."""
    if not attempt.is_attacked:
        return ENDINGS[attempt.ending]
    queries = f"{attempt.queries:,} quer{'y' if attempt.queries == 1 else 'ies'}"
    shift = [] if attempt.shift is None else [_shift_in_words(attempt.shift)]
    return "; ".join([ENDINGS[attempt.ending], _answers(attempt), *shift, queries])


def _answers(attempt: Attempt) -> str:
    """Both answers: classes with probabilities, values, or the probabilities of the label that the goal names."""
    before, after = attempt.before, attempt.after
    if not before.probabilities:
        return f"{before.logits[0]:.3g} → {after.logits[0]:.3g}"
    if attempt.goal.startswith("label("):
        label_index = before.labels.index(attempt.about)
        return f"{attempt.about} {before.probabilities[label_index]:.2f} → {after.probabilities[label_index]:.2f}"
    return f"{before.label} {before.probability:.2f} → {after.label} {after.probability:.2f}"


def _shift_in_words(shift: ExplanationShift) -> str:
    """Which words were on top before and after, and how far both rankings agree."""
    words = f"top words {', '.join(shift.before)} → {', '.join(shift.after)}"
    numbers = f"overlap {shift.overlap:.2f}, Kendall's tau {shift.tau:.2f}"
    return f"{words} ({numbers})" if shift.overlap == shift.overlap else words


@renderers.add(draws="attempts")
def notebook_html_of_attempts(attempts: Attempts) -> str:
    """What attacks did: the table and the first fooled texts, for `_repr_html_`."""
    sections = attack_sections(attempts, IN_NOTEBOOK)
    return notebook_sections(sections)


# Attempts of attacks in a terminal: a line an attack, then the first fooled texts with their edits.

FIRST_TEXTS = 5
NAME = 15  # characters, as wide as "span_paraphrase"


@renderers.add(draws="attempts")
def terminal_attempts(attempts: Attempts, *, colour: bool | None = None, width: int | None = None) -> str:
    """The summary of each attack, and the first fooled texts; one text alone is shown whatever became of it.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    shown = attempts if len(attempts) == 1 else attempts.successes()
    lines: list[Line | Grid] = [] if len(attempts) == 1 else [_table(attempts), line(key_of(attempts))]
    for attempt in shown[:FIRST_TEXTS]:
        lines += _text_lines(attempt)
    rest = len(shown) - FIRST_TEXTS
    if rest > 0:
        lines.append(line(f"{rest:,} more; {in_syntax('pellucid.report(attempts, path=…)', '--html')} shows them."))
    if attempts.successes():
        lines.append(line(meaning_of(attempts)))
    return printed(lines, colour, width or Console().width)


def _table(attempts: Attempts) -> Grid:
    grid = Grid(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for index, column in enumerate(COLUMNS):
        grid.add_column(Text(column), overflow="fold", min_width=None if index else NAME)
    for summary in attempts.table():
        grid.add_row(*(Text(plain(cell)) for cell in row_of(summary)))
    return grid


def _text_lines(attempt: Attempt) -> list[Line]:
    """The outcome, and both texts with the edits in brackets."""
    title = f"{attempt.example.id or 'Text'} · {named(attempt.attack, attempt.goal)}: {outcome(attempt)}"
    edits = [f"“{edit.before}” → “{edit.after}”" for edit in attempt.edits]
    texts = [" ⫽ ".join(attempt.example.segments), " ⫽ ".join(attempt.segments)]
    return [
        Text(""),
        line(title, style="bold"),
        *indented([*texts, "; ".join(edits)] if edits else texts[:1]),
    ]
