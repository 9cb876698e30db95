"""Which words pairs of classes share among their first: a table with a row a pair."""

from pellucid.core.corpus.word_lists import MOST, WordLists
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import header_row, scroll_box, table

MOST_PAIRS = 45  # rows; ten classes have so many pairs


def shared_words_table(lists: WordLists, k: int = MOST) -> Markup:
    """The pairs that share most first; for each list of the first k words by raw and by normalised sums."""
    counted = sorted(
        ((a, b, lists.shared(a, b, k), lists.shared(a, b, k, "normalised")) for a, b in lists.pairs()),
        key=lambda row: -len(row[2]),
    )
    rows = (_row(a, b, *words) for a, b, *words in counted[:MOST_PAIRS])
    head = header_row(("classes", "shared by added scores", "shared by added shares"))
    more = len(counted) - MOST_PAIRS
    note = element("p", f"{more:,} more pairs share fewer words.", class_="pl-note") if more > 0 else None
    return fragment(
        scroll_box(table(head, rows, "pl-table pl-shared-words"), "Words that classes share"), note
    )


def _row(first: str, second: str, raw: tuple[str, ...], normalised: tuple[str, ...]) -> Markup:
    pair = element("th", name(first), " and ", name(second), scope="row")
    return element("tr", pair, _words(raw), _words(normalised))


def _words(words: tuple[str, ...]) -> Markup:
    listed = (part for word in words for part in (name(word), " · "))
    return element(
        "td", element("span", f"{len(words)}", class_="pl-value"), element("small", *list(listed)[:-1])
    )
