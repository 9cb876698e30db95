"""The line on top of every view: whether a model's explanations can be believed, or how long it takes to measure it."""

import math
from collections.abc import Sequence

from pellucid.base.checks import listed
from pellucid.base.kinds import attributions
from pellucid.comparison.leads import FEWEST_TEXTS
from pellucid.drawing.method_facts import readable
from pellucid.explaining.views.opening import advice_in_words, leads_in_words, most_texts
from pellucid.results.table import CHANCE, Cell, Table
from pellucid.studio.explained import passes_of, seconds_in_words
from pellucid.studio.measurement import Measurement, Wish, estimating, sources, usual_wish
from pellucid.studio.record import Studio

UNKNOWN = "Not measured yet: whether these colours can be believed for this model."
ROWS = 1.5  # edited texts that the usual metrics read of a method, a word of the text
SEEN = 20  # texts whose length an estimate goes by


def trust_line(studio: Studio, model: str, methods: Sequence[str]) -> tuple[str, str]:
    """What was measured of a model's methods, or that nothing was; and what the link to the view `trust` is called.

    model: its name. methods: those of the view; empty: all.
    """
    table, measurement = studio.table(studio.model(model)), studio.measurements.get(model)
    if isinstance(measurement, Measurement) and measurement.is_running:
        return f"Being measured: {measurement.in_words}.", "How far it is"
    if table is not None:
        return measured_in_words(table, methods), "All that was measured"
    if not sources(studio, model):
        return UNKNOWN, "How to measure it"
    seconds = measuring_time(studio, usual_wish(studio, model))
    return UNKNOWN, "Measure it" if seconds is None else f"Measure it ({seconds_in_words(seconds)})"


def measured_in_words(table: Table, methods: Sequence[str]) -> str:
    """The best of these methods beside random scores, and those of them that should not be believed."""
    measured = by_lead(table)
    titles = [title for title in measured if _is_among(title, methods)]
    if not measured:
        return advice_in_words(table)
    if not titles:
        return f"Not measured for this model: {listed(map(readable, methods))}. {_best_in_words(table, measured)}"
    advised = table.card.points("avoid") if table.card else ()
    avoid = [title for title in titles[1:] if any(title in advice.methods for advice in advised)]
    beside = f" Not to be believed here: {listed(map(readable, avoid))}." if avoid else ""
    return f"{_best_in_words(table, titles)}{beside}"


def _best_in_words(table: Table, titles: Sequence[str]) -> str:
    """The first of some methods beside random scores: believed, not to be believed, or without a verdict."""
    best, advice = titles[0], table.card.advice if table.card else ()
    if any(best in point.methods for point in advice if point.kind in ("use", "second", "avoid")):
        return advice_in_words(table, [best])
    why = f"that takes {FEWEST_TEXTS} texts or more" if most_texts(table) < FEWEST_TEXTS else "luck is not ruled out"
    which = "the best measured method" if len(titles) > 1 else "the measured method"
    return f"No verdict, {why}. {readable(best).capitalize()}, {which}, is {leads_in_words(table, best)}."


def by_lead(table: Table) -> list[str]:
    """The methods of a comparison without random scores, the best first: those that its card recommends, then by the
    mean lead over random scores, in parts of the largest lead under each measure.
    """
    recommended = table.card.recommended if table.card else ()
    leads: dict[str, list[float]] = {}
    for metric in table.metrics:
        signed = {cell.method: _lead(cell) for cell in table.cells if cell.metric == metric and cell.over_chance}
        largest = max(map(abs, signed.values()), default=0.0) or 1.0
        for method, lead in signed.items():
            leads.setdefault(method, []).append(lead / largest)
    order = sorted(leads, key=lambda method: -sum(leads[method]) / len(leads[method]))
    return sorted(order, key=lambda method: recommended.index(method) if method in recommended else len(recommended))


def _lead(cell: Cell) -> float:
    """How far a method is better than random scores under a measure; 0 where that is not known."""
    mean = cell.over_chance.mean if cell.over_chance else 0.0
    return 0.0 if math.isnan(mean) else mean if cell.better == "higher" else -mean


def is_believed(table: Table | None, methods: Sequence[str]) -> bool:
    """Whether a comparison advises one of these methods."""
    recommended = table.card.recommended if table is not None and table.card else ()
    return any(_is_among(title, methods) for title in recommended)


def _is_among(title: str, methods: Sequence[str]) -> bool:
    return not methods or title in methods or title.partition("(")[0] in methods


def measuring_time(studio: Studio, wish: Wish) -> float | None:
    """Seconds that a measurement takes, without computing anything: from a few texts where a reader asked for it, else
    by the pace of the texts that readers explained; None where neither is known.
    """
    sampled = studio.desks[wish.model].known(estimating(studio, wish)[0])
    if isinstance(sampled, float):
        return sampled
    pace, seen = studio.paces.get(wish.model), studio.data[:SEEN]
    if pace is None or not seen:
        return None
    words = sum(len(text.split()) for example in seen for text in example.segments) / len(seen)
    draws = float(str(attributions.get(CHANCE).defaults["n_draws"]))
    rows = ROWS * words * (len(wish.methods) + draws) + sum(passes_of(method, int(words)) for method in wish.methods)
    return pace * words * rows * wish.n_texts
