"""Concepts in a terminal: a block each, and the concepts of one text as lines."""

from rich.table import Table as Grid

from pellucid.base.checks import percent
from pellucid.base.kinds import renderers
from pellucid.discovery.concept import LearntConcept
from pellucid.discovery.page import (
    classes_in_words,
    decoded_in_words,
    matters_in_words,
    names_in_words,
    near_in_words,
    part_in_words,
    removal_in_words,
    text_in_words,
    trust_in_words,
    words_in_words,
)
from pellucid.discovery.record import LearntConcepts
from pellucid.discovery.text_record import TextConcepts
from pellucid.drawing.terminal import Line, block, caution_lines, line, printed
from pellucid.drawing.wording import three


@renderers.add(draws="learnt concepts")
def terminal_learnt_concepts(learnt: LearntConcepts, *, colour: bool | None = None, width: int | None = None) -> str:
    """What all concepts hold and do, then each: its words, its classes and what taking it out does.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    title = f"Layer {learnt.layer} of {learnt.model}, by {learnt.method}: {names_in_words(learnt)}"
    lines: list[Line] = [line(title, style="bold"), line(trust_in_words(learnt)), *caution_lines(learnt.caveats)]
    for concept in learnt.concepts:
        lines += block(f"{concept.id} {concept.name}", _facts(concept))
    return printed(lines, colour, width)


def _facts(concept: LearntConcept) -> list[str]:
    symbol, words, _ = matters_in_words(concept.removal)
    text = concept.texts[0].example.text if concept.texts else ""
    return [
        f"words: {words_in_words(concept.words)}",
        f"phrases: {words_in_words(concept.phrases[:4])}",
        *(f"near to {words}" for words in [near_in_words(concept)] if words),
        *(f"decodes to {words}" for words in [decoded_in_words(concept)] if words),
        f"speaks for: {classes_in_words(concept)}; in {percent(concept.active)} of states",
        f"{symbol} {words}: {removal_in_words(concept.removal)}",
        *([f"most in: {text}"] if text else []),
    ]


@renderers.add(draws="concepts of a text")
def terminal_text_concepts(result: TextConcepts, *, colour: bool | None = None, width: int | None = None) -> str:
    """A line a concept of the text: what it adds, and what taking it out does; then the sum."""
    grid = Grid("concept", "most in", "adds", "gradient", "taken out", "random", box=None, pad_edge=False)
    for column in grid.columns[2:]:
        column.justify = "right"
    for concept in result.concepts:
        if concept.activation:
            strongest = max(dict(concept.where).items(), key=lambda pair: pair[1])[0]
            values = (concept.by_path, concept.by_gradient, concept.removal)
            random = f"{three(concept.random)} {'▲' if concept.is_ahead else '○'}"
            name = line(f"{concept.id} {concept.name}")
            grid.add_row(name, line(strongest), *(part_in_words(result, value) for value in values), random)
    total = sum(concept.by_path for concept in result.concepts)
    parts = (result.answer, result.rest, total, result.gap, result.error)
    answer, rest, by_concepts, gap, error = (part_in_words(result, part) for part in parts)
    terms = (
        f"{answer} for {result.label} = {rest} without concepts, {by_concepts} by concepts, {gap} gap of the path, "
        f"{error} error of the reconstruction"
    )
    title, cautions = line(text_in_words(result), style="bold"), caution_lines(result.caveats)
    lines: list[Line | Grid] = [title, grid, line(terms), *cautions]
    return printed(lines, colour, width)
