"""A layer analysis in words: what was measured, in which unit, and what the numbers do not say."""

from collections.abc import Iterator

from pellucid.core.corpus.layer_analysis import LayerAnalysis, RowSum
from pellucid.core.corpus.layer_words import LayerWord, WordChange, WordChanges, default_min_texts
from pellucid.core.results.table import Interval
from pellucid.core.text.example import Example
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import number

OWN_SCALES = "This method gives each {row} of each model a scale of its own: compare words within a {row}, not {row}s or models."
ONE_SCALE = "All {row}s and models share one scale, in {measure}: 0 means that nothing of a word is used."
INDEPENDENCE = (
    "A sum over words is what is kept of a sentence or a text only as far as its words vary independently of each other; this is "
    "assumed, not measured."
)
ONE_TRAINING = (
    "Each model is one training. The interval is over texts, and the difference must also exceed the spread of the "
    "explanations' seeds; a second training of the same model may differ by more."
)
TRAININGS = "Each model was trained with several seeds; the intervals are over trainings."
EACH_ALONE = (
    "Each word is judged alone: of a hundred words without any change, about two or three will seem dropped."
)
LEFT_OUT = "Words of fewer than {bar} texts are in no list of words; the maps show them."
FEW = "With so few texts every word is listed, also where it occurs once: a mean of one text says nothing about others."
MOST_CAVEATS = 12


def summary_in_words(analysis: LayerAnalysis) -> str:
    """What the analysis is of."""
    texts, row = len(analysis.texts), analysis.row_kind
    models = "; ".join(
        f"{model.name}: {_counted(len(model.rows), row)}"
        + (f", {len(model.seeds)} trainings" if len(model.seeds) > 1 else "")
        for model in analysis.models
    )
    return f"{_counted(texts, 'text')} by {readable(analysis.method)}. {models}."


def name_of_text(example: Example, number: int) -> str:
    """The id of a text; where that is only a number, or none, the word Text stands before it; number: from 0."""
    return f"Text {example.id}" if example.id.isdecimal() else example.id or f"Text {number}"


def few_texts_in_words(analysis: LayerAnalysis) -> str:
    """Which words no mean is shown of: those of too few texts; "" where rows are no layers."""
    bar = default_min_texts(analysis)
    if analysis.row_kind != "layer":
        return ""
    return FEW if bar == 1 else LEFT_OUT.format(bar=bar)


def scale_in_words(analysis: LayerAnalysis) -> str:
    """Which scores can be compared."""
    if not analysis.measure:
        return OWN_SCALES.format(row=analysis.row_kind)
    return f"{ONE_SCALE.format(row=analysis.row_kind, measure=analysis.measure)} {INDEPENDENCE}"


def cautions(analysis: LayerAnalysis) -> Iterator[str]:
    """The caveats, a bounded number of them."""
    yield from analysis.caveats[:MOST_CAVEATS]
    left = len(analysis.caveats) - MOST_CAVEATS
    if left > 0:
        yield f"{left:,} more caveats are in the analysis."


def trainings_in_words(analysis: LayerAnalysis) -> str:
    """Over what the intervals of changed words are."""
    several = max(len(model.seeds) for model in analysis.models) > 1
    return f"{TRAININGS if several else ONE_TRAINING} {EACH_ALONE}"


def interval_in_words(interval: Interval) -> str:
    """1.2 (0.9 to 1.5); without bounds the mean alone."""
    if interval.low != interval.low:
        return number(interval.mean)
    return f"{number(interval.mean)} ({number(interval.low)} to {number(interval.high)})"


def sum_in_words(row: RowSum) -> str:
    """A row's sum with its interval."""
    return interval_in_words(row.total)


def word_in_words(word: LayerWord) -> str:
    """“film” 1.2"""
    return f"“{word.word}” {number(word.score.mean)}"


def change_mark(change: WordChange) -> tuple[str, str, str]:
    """The symbol, words and CSS class of a change."""
    symbols = {
        "stopped using": ("▼", "pl-worse"),
        "uses more": ("▲", "pl-better"),
        "unclear": ("○", "pl-unclear"),
    }
    symbol, css_class = symbols[change.verdict]
    return symbol, change.verdict, css_class


def changes_in_words(changes: WordChanges, first: str) -> str:
    """How many words a model stopped using against the first one."""
    if changes.why_not:
        return changes.why_not
    stopped = len(changes.stopped)
    return (
        f"Against {first}, {changes.model} clearly uses less of {_counted(stopped, 'word')} of "
        f"{len(changes.words):,} that both read in enough texts."
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
