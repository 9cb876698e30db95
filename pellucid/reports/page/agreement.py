"""Do methods agree? Spearman's rank correlation between their scores of words, for every two methods."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import Units
from pellucid.reports.markup.colours import shade
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.heat_map import small_print
from pellucid.reports.wording.families import ordered
from pellucid.reports.wording.method_facts import facts_of, readable
from pellucid.reports.wording.numbers import MINUS
from pellucid.reports.wording.plain_words import first_row

AGREEMENT = (
    "How alike two methods rank the words of a text: 1 is the same order, 0 is no more than luck, "
    f"{MINUS}1 is the reverse (Spearman’s rank correlation). Where one of the two has no sign, sizes are compared."
)
NO_EVIDENCE = (
    "Agreement is no evidence of truth: methods that are made alike go wrong alike. Whether a method should be "
    "believed for this model is what the comparison with random scores measures (pellucid compare)."
)
Pair = tuple[str, str]


def agreement(found: Mapping[str, Sequence[Explanation]]) -> dict[Pair, float]:
    """For every two methods, the later on the page first, the mean correlation over texts; nan where there is none."""
    words = {title: [_word_scores(one) for one in explanations] for title, explanations in found.items()}
    signed = {title: facts_of(title, explanations).signed for title, explanations in found.items()}
    return {
        (below, above): _mean(words[below], words[above], signed[below] and signed[above])
        for above, below in combinations(ordered(list(found)), 2)
    }


def _mean(ones: Sequence[np.ndarray], others: Sequence[np.ndarray], signed: bool) -> float:
    form = (lambda scores: scores) if signed else np.abs
    known = [spearman(form(one), form(other)) for one, other in zip(ones, others, strict=True)]
    known = [value for value in known if value == value]
    return float(np.mean(known)) if known else float("nan")


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """[word], [word] -> the correlation of ranks, ties sharing theirs; nan where nothing can be ranked."""
    from scipy.stats import rankdata  # slow to import, as in evaluation/shared/proportions.py

    if one.shape != other.shape or len(one) < 3 or not (np.ptp(one) and np.ptp(other)):
        return float("nan")
    return float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])


def _word_scores(explanation: Explanation) -> np.ndarray:
    """[word]: the scores of a text's words; longer units, which cannot be cut into words, stay what they are."""
    row = first_row(explanation)
    finer = not isinstance(row.units, Units) or row.units.kind == "piece"
    view = row.view("word") if finer else row
    return view.scores[~view.special].astype(float)


def by_luck(found: Mapping[str, Sequence[Explanation]]) -> str:
    """How far correlations of unrelated rankings stray from 0, in a sentence; about 1.96 / sqrt(words - 1) a text."""
    lengths = [len(_word_scores(one)) for one in next(iter(found.values()))]
    long_enough = [length for length in lengths if length > 2]
    if not long_enough:
        return ""
    variance = sum(1 / (length - 1) for length in long_enough) / len(long_enough) ** 2
    stray = min(1.0, 1.96 * variance**0.5)
    texts = f"{sum(lengths)} words" if len(lengths) == 1 else f"{len(lengths)} texts of such lengths"
    return (
        f"With {texts}, rankings that have nothing in common still reach ±{stray:.2f} in one case of twenty."
    )


def agreement_view(found: Mapping[str, Sequence[Explanation]]) -> Markup:
    """The lower triangle of the matrix in a box of its own that scrolls; numbers stand for the page's rows."""
    titles = ordered(list(found))
    values = agreement(found)
    numbers = {title: str(number) for number, title in enumerate(titles, 1)}
    head = element(
        "tr",
        element("td"),
        *(element("th", numbers[title], scope="col", title=readable(title)) for title in titles[:-1]),
    )
    rows = (
        element(
            "tr",
            element("th", f"{numbers[below]} ", name(readable(below)), scope="row"),
            *(_cell(values[below, above], below, above) for above in titles[:place]),
            *(element("td") for _ in titles[place:-1]),
        )
        for place, below in enumerate(titles)
        if place
    )
    first = f"1 is {readable(titles[0])}."
    table = element("table", element("thead", head), element("tbody", *rows), class_="pl-matrix")
    box = element("div", table, class_="pl-scroll", tabindex=0, role="region", aria_label="Agreement")
    return fragment(box, small_print([first, by_luck(found)]), element("p", NO_EVIDENCE, class_="pl-caution"))


def _cell(value: float, below: str, above: str) -> Markup:
    if value != value:
        return element("td", "–", title=f"{readable(below)} and {readable(above)}: nothing to rank")
    shown = f"{value:.2f}".replace("-", MINUS).replace("0.", ".", 1)
    title = f"{readable(below)} and {readable(above)}: {shown}"
    return element("td", shown, class_=shade(value, 1.0) or None, title=title)
