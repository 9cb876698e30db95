"""A heat map: the original text, each unit shaded by its score."""

from collections.abc import Iterable, Iterator

from pellucid.core.results.explanation import Explanation, Scored
from pellucid.core.text.units import KINDS, Kind
from pellucid.reports.markup.colours import largest, shade
from pellucid.reports.markup.html import Markup, element, name
from pellucid.reports.page.long_text import shown_text
from pellucid.reports.page.text_block import Stretch
from pellucid.reports.wording.method_facts import MethodFacts, facts_of
from pellucid.reports.wording.numbers import number, signed
from pellucid.reports.wording.plain_words import (
    clear,
    diagnostics_in_words,
    first_row,
    hidden_in_words,
    listed,
    row_in_words,
    strongest,
)

STEPS = (-16, -10, -5, -2, 0, 2, 5, 10, 16)


def drawn(explanation: Explanation, unit: Kind = "word") -> Explanation:
    """What a heat map shows of an explanation: its first row, a unit at least as coarse as asked."""
    shown = first_row(explanation)
    kind = shown.units.kind
    coarser = kind in KINDS and KINDS.index(kind) >= KINDS.index(unit)  # type: ignore[arg-type]
    return shown if coarser else shown.view(unit)


def heat_map(
    explanation: Explanation,
    *,
    unit: Kind = "word",
    scale: float | None = None,
    hide: frozenset[str] = frozenset(),
) -> Markup:
    """One explanation over its text.

    scale: the score that gets the full colour (None: this text's largest). hide: caveats told elsewhere.
    """
    view = drawn(explanation, unit)
    scale = largest(view) if scale is None else scale
    facts = facts_of(explanation.method, [explanation])
    notes = [*row_in_words(explanation), *diagnostics_in_words(explanation), *hidden_in_words(view, facts)]
    return element(
        "figure",
        element("figcaption", name(facts.title), colour_bar(scale, facts.signed), class_="pl-method"),
        shown_text(view.example, _stretches(view, scale)),
        small_print(notes),
        *warnings(caveat for caveat in explanation.caveats if caveat not in hide),
        class_="pl-map",
        role="group",
        aria_label=_spoken(view, facts),
    )


def small_print(notes: list[str]) -> Markup | None:
    """Sentences under a picture, or nothing."""
    return element("p", " ".join(notes), class_="pl-note", dir="auto") if notes else None


def warnings(caveats: Iterable[str]) -> Iterator[Markup]:
    """Each caveat on its own line with a mark that is a word."""
    for caveat in caveats:
        yield element("p", element("strong", "Caution: "), name(caveat), class_="pl-caution")


def colour_bar(scale: float, is_signed: bool) -> Markup:
    """A small legend: the scores at the ends of the colours."""
    steps = [step for step in STEPS if is_signed or step >= 0]
    boxes = [
        element("span", class_=f"pl-p{step}" if step > 0 else f"pl-n{-step}" if step else None)
        for step in steps
    ]
    left, right = (signed(-scale), signed(scale)) if is_signed else ("0", number(scale))
    return element(
        "span", left, element("span", *boxes, class_="pl-steps", aria_hidden="true"), right, class_="pl-bar"
    )


def _stretches(view: Explanation, scale: float) -> list[Stretch]:
    top = {(unit.segment, unit.start) for unit in clear(view)}
    return [
        _stretch(unit, scale, (unit.segment, unit.start) in top, view.units.kind)
        for unit in units_in_order(view)
    ]


def _stretch(unit: Scored, scale: float, is_top: bool, kind: str) -> Stretch:
    emphasis = ("pl-for" if unit.score > 0 else "pl-against") if is_top else ""
    classes = " ".join(part for part in ("pl-u", shade(unit.score, scale), emphasis) if part)
    title = f"“{unit.text}” {signed(unit.score)} · {kind} at characters {unit.start + 1} to {unit.end}"
    return Stretch(unit.segment, unit.start, unit.end, classes, title, abs(unit.score))


def units_in_order(view: Explanation) -> list[Scored]:
    """The text's units in reading order; units that share characters (bytes of one emoji) become one."""
    found: list[Scored] = []
    units = [view.scored(index) for index in range(len(view.units)) if not view.special[index]]
    for unit in sorted(units, key=lambda unit: (unit.segment, unit.start, unit.end)):
        last = found[-1] if found else None
        if last and last.segment == unit.segment and unit.start < last.end:
            end = max(last.end, unit.end)
            text = view.example.segments[unit.segment][last.start : end]
            found[-1] = Scored(text, last.score + unit.score, last.segment, last.start, end)
        elif unit.end > unit.start:
            found.append(unit)
    return found


def _spoken(view: Explanation, facts: MethodFacts) -> str:
    words = listed(strongest(view)) or "nothing, all scores are 0"
    return f"{facts.title}, explaining {view.target}. Strongest: {words}.."
