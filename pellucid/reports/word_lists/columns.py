"""The words of one class: by raw and by normalised sums, each times idf, with counts, and a cloud."""

import math
from collections.abc import Iterable, Sequence

from pellucid.core.corpus.word_lists import MOST, SUMS, Sums, WordLists, WordSum
from pellucid.reports.markup.html import Markup, element, name
from pellucid.reports.word_lists.cloud import word_cloud

SHOWN = 15  # words of a list
HEADINGS: dict[Sums, str] = {
    "raw": "scores added up × idf",
    "normalised": "each text’s shares added up × idf",
}
BAR_WIDTH, BAR_HEIGHT = 100, 12


def class_columns(lists: WordLists, label: str, most: int = SHOWN) -> Markup:
    """A card a class; most: words of a list. The cloud has up to 50."""
    columns = [_column(lists, label, sums, most) for sums in SUMS]
    cloud = word_cloud(lists.top(label, MOST), label)
    figure = (
        element("figure", element("figcaption", CAPTION), cloud, class_="pl-cloud-box") if cloud else None
    )
    texts = lists.n_texts[label]
    return element(
        "div",
        element(
            "h3",
            name(label),
            " ",
            element("small", f"{texts:,} text" + ("" if texts == 1 else "s")),
            class_="pl-heading",
        ),
        element("div", *columns, figure, class_="pl-columns pl-three"),
        class_="pl-class",
    )


CAPTION = f"up to {MOST} words; larger: higher scores added up × idf"


def _column(lists: WordLists, label: str, sums: Sums, most: int) -> Markup:
    words = lists.top(label, most, sums)
    heading = element("h4", HEADINGS[sums])
    if not words:
        return element("div", heading, element("p", "none above 0", class_="pl-note"))
    lines = (element("li", *_line(word, words, sums, lists.n_idf_texts)) for word in words)
    return element("div", heading, element("ol", *lines, class_="pl-words pl-sums"))


def _line(word: WordSum, words: Sequence[WordSum], sums: Sums, n_idf_texts: int) -> Iterable[Markup]:
    highest, score = words[0].score(sums), word.score(sums)
    decimals = max(0, 2 - math.floor(math.log10(highest)))
    counts = f"{word.count:,}× in {word.n_texts:,}"
    yield element(
        "span", element("em", name(word.word)) if word.is_stop_word else name(word.word), class_="pl-word"
    )
    yield _bar(score / highest)
    yield element("span", f"{score:,.{decimals}f}", class_="pl-sure")
    yield element(
        "small",
        f"{counts}; idf {word.idf:.1f}",
        title=f"in {word.idf_texts:,} of {n_idf_texts:,} other texts",
    )


def _bar(share: float) -> Markup:
    return element(
        "svg",
        element(
            "rect", x=0, y=2, width=round(BAR_WIDTH * share, 1), height=BAR_HEIGHT - 4, class_="pl-bar-for"
        ),
        viewBox=f"0 0 {BAR_WIDTH} {BAR_HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="pl-word-bar",
    )
