"""Do methods agree? Spearman's rank correlation between their scores of words, for every two methods."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import Units
from pellucid.reports.markup.colours import shade
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import scroll_box, table
from pellucid.reports.page.heat_map import small_print
from pellucid.reports.wording.families import ordered
from pellucid.reports.wording.method_facts import facts_of, readable
from pellucid.reports.wording.numbers import MINUS
from pellucid.reports.wording.plain_words import shown_row

AGREEMENT = (
    "How similarly two methods rank the words of a text: 1 means the same order, 0 means no more agreement than luck "
    f"gives, {MINUS}1 means the reverse order (Spearman’s rank correlation). If one of the two methods has no negative "
    "scores, only the sizes of the scores are compared."
)
NO_EVIDENCE = (
    "Agreement is no evidence of truth: methods that work alike make the same mistakes. To find out whether to believe "
    "a method for this model, compare it with random scores (pellucid compare)."
)
Methods = Mapping[str, Sequence[Explanation]]  # method's title -> its explanations, one a text
Pair = tuple[str, str]


def agreement(methods: Methods) -> dict[Pair, float]:
    """For every two methods the mean correlation over texts; nan where there is none.

    In each pair the method that is lower on the page comes first.
    """
    words = {title: [_word_scores(one) for one in explanations] for title, explanations in methods.items()}
    signed = {title: facts_of(title, explanations).signed for title, explanations in methods.items()}
    return {
        (below, above): _mean(words[below], words[above], signed[below] and signed[above])
        for above, below in combinations(ordered(list(methods)), 2)
    }


def _mean(ones: Sequence[np.ndarray], others: Sequence[np.ndarray], signed: bool) -> float:
    form = (lambda scores: scores) if signed else np.abs
    correlations = [spearman(form(one), form(other)) for one, other in zip(ones, others, strict=True)]
    known = [value for value in correlations if value == value]
    return float(np.mean(known)) if known else float("nan")


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """[word], [word] -> the correlation of ranks, ties sharing theirs; nan where nothing can be ranked."""
    from scipy.stats import rankdata  # slow to import, and few callers need it

    if one.shape != other.shape or len(one) < 3 or not (np.ptp(one) and np.ptp(other)):
        return float("nan")
    return float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])


def _word_scores(explanation: Explanation) -> np.ndarray:
    """[word]: the scores of a text's words. Units longer than words cannot be cut into words and stay as they are."""
    row = shown_row(explanation)
    finer = not isinstance(row.units, Units) or row.units.kind == "piece"
    view = row.view("word") if finer else row
    return view.scores[~view.special].astype(float)


def by_luck(methods: Methods) -> str:
    """How far correlations of unrelated rankings stray from 0, in a sentence; about 1.96 / sqrt(words - 1) a text."""
    lengths = [len(_word_scores(one)) for one in next(iter(methods.values()))]
    long_enough = [length for length in lengths if length > 2]
    if not long_enough:
        return ""
    variance = sum(1 / (length - 1) for length in long_enough) / len(long_enough) ** 2
    stray = min(1.0, 1.96 * variance**0.5)
    texts = f"{sum(lengths)} words" if len(lengths) == 1 else f"{len(lengths)} texts of these lengths"
    return f"With {texts}, two unrelated rankings still reach ±{stray:.2f} or more in one case out of twenty."


def agreement_view(methods: Methods) -> Markup:
    """The lower triangle of the matrix, in a box that scrolls; the numbers of the columns are those of the rows."""
    titles = ordered(list(methods))
    matrix = table(_head(titles), _rows(titles, agreement(methods)), "pl-matrix")
    note = small_print([f"Column 1 is {readable(titles[0])}.", by_luck(methods)])
    return fragment(scroll_box(matrix, "Agreement"), note, element("p", NO_EVIDENCE, class_="pl-caution"))


def _head(titles: Sequence[str]) -> Markup:
    numbers = (
        element("th", str(number), scope="col", title=readable(title))
        for number, title in enumerate(titles[:-1], 1)
    )
    return element("tr", element("td"), *numbers)


def _rows(titles: Sequence[str], values: Mapping[Pair, float]) -> list[Markup]:
    return [
        element(
            "tr",
            element("th", f"{index + 1} ", name(readable(below)), scope="row"),
            *(_cell(values[below, above], below, above) for above in titles[:index]),
            *(element("td") for _ in titles[index:-1]),
        )
        for index, below in enumerate(titles)
        if index
    ]


def _cell(value: float, below: str, above: str) -> Markup:
    if value != value:
        return element("td", "–", title=f"{readable(below)} and {readable(above)}: nothing to rank")
    text = f"{value:.2f}".replace("-", MINUS).replace("0.", ".", 1)
    title = f"{readable(below)} and {readable(above)}: {text}"
    return element("td", text, class_=shade(value, 1.0) or None, title=title)
