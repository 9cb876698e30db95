"""The summary of many texts: answers, accuracy, confusion, labels that fit no class, words of classes, cautions."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from pellucid.drawing.card import probability_bar
from pellucid.drawing.colours import shade
from pellucid.drawing.heat_map import caution_lines, small_print
from pellucid.drawing.html import Markup, definition_list, element, fragment, name, scroll_box, table
from pellucid.drawing.method_facts import facts_of, ordered, readable
from pellucid.drawing.page import Section
from pellucid.drawing.wording import MINUS, first_names, percent, readable_number, shown_row, unbroken
from pellucid.explaining.views.class_words import class_words_view, words_intro
from pellucid.results.explanation import Explanation
from pellucid.results.summary import Summary
from pellucid.text.units import IN_WORDS, Units

MOST_CLASSES, MOST_LABELS = 20, 8
BESIDE = 4  # classes, of which the table of labels and answers fits beside the answers


def summary_sections(summary: Summary) -> list[Section]:
    """What was read and how it went; then the words of each class, where one method explained all texts."""
    sections = [Section("Summary", in_one_sentence(summary), summary_view(summary))]
    if summary.words is not None:
        words = summary.words
        sections.append(Section("Words that speak for and against", words_intro(words), class_words_view(words)))
    return sections


def in_one_sentence(summary: Summary) -> str:
    """How many texts, which model and methods, and how long it took."""
    texts = f"{summary.n_texts:,} texts"
    if summary.n_distinct < summary.n_texts:
        texts += f" ({summary.n_distinct:,} different ones)"
    methods = ", ".join(map(readable, summary.methods))
    took = "" if summary.seconds is None else f" in {duration(summary.seconds)}"
    return f"{texts}, read by {summary.model} and explained by {methods}{took}."


def duration(seconds: float) -> str:
    """A time as people say it: 8 seconds, 3 minutes 20 seconds"""
    minutes, rest = divmod(max(round(seconds), 1), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "hour"), (minutes, "minute"), (rest, "second"))
    words = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return " ".join(words[:2])


def summary_view(summary: Summary) -> Markup:
    """The counts as bars and tables; cautions with the number of texts that each is about."""
    return element(
        "div",
        element(
            "div",
            element("div", element("h3", "Answers", class_="pl-heading"), _answers(summary)),
            _accuracy(summary),
            class_="pl-columns",
        ),
        *caution_lines(unmatched_caution(summary)),
        _cautions(summary.cautions, summary.n_texts * max(len(summary.methods), 1)),
        class_="pl-card pl-summary",
    )


def _answers(summary: Summary) -> Markup:
    if summary.values is None:
        return predicted_bars(summary)
    lowest, middle, highest = map(readable_number, summary.values)
    return element("p", f"Values from {lowest} to {highest}, {middle} in the mean.")


def predicted_bars(summary: Summary) -> Markup:
    """A bar a class: how many texts the model gave it to."""
    largest_first = sorted(summary.predicted.items(), key=lambda item: -item[1])
    rows = (
        element(
            "li",
            element("span", name(label), class_="pl-word"),
            probability_bar(count / summary.n_texts),
            element("span", f"{count:,} ({percent(count / summary.n_texts)})", class_="pl-sure"),
        )
        for label, count in largest_first[:MOST_CLASSES]
    )
    more = len(largest_first) - MOST_CLASSES
    note = element("p", f"and {more} more classes", class_="pl-note") if more > 0 else None
    return fragment(element("ol", *rows, class_="pl-words pl-answers"), note)


def _accuracy(summary: Summary) -> Markup:
    heading = element("h3", "Right and wrong", class_="pl-heading")
    if summary.accuracy is None:
        unknown = "The texts have no labels of the model’s classes, so right and wrong are not known."
        if summary.gives_several:
            unknown = "A text can have several classes, so an answer is not simply right or wrong."
        elif summary.values is not None:
            unknown = "The model gives a value, which is not simply right or wrong."
        return element("div", heading, element("p", unknown, class_="pl-note"))
    share = summary.accuracy
    right = sum(count for (label, answer), count in summary.confusion.items() if label == answer)
    sentence = (
        f"{right:,} of {summary.n_labelled:,} labelled texts are right (95 % interval "
        f"{unbroken(percent(share.low))} to {unbroken(percent(share.high))})."
    )
    big = element("strong", percent(share.mean), class_="pl-big")
    wide = "pl-wide" if len(summary.predicted) > BESIDE else None
    return element("div", heading, element("p", big, " ", sentence), confusion_table(summary), class_=wide)


def confusion_table(summary: Summary) -> Markup | None:
    """Labels are rows, answers are columns; right answers on the diagonal are grey, mistakes coloured by number."""
    labels = [label for label in summary.predicted if any(label in pair for pair in summary.confusion)]
    if len(labels) > MOST_CLASSES:
        return None
    most = max(summary.confusion.values())
    corner = element("td", element("small", "label ↓ answer →"))
    head = element("tr", corner, *(element("th", name(label), scope="col") for label in labels))
    rows = (
        element(
            "tr",
            element("th", name(label), scope="row"),
            *(_count(summary.confusion.get((label, answer), 0), label == answer, most) for answer in labels),
        )
        for label in labels
    )
    return scroll_box(table(head, rows, "pl-matrix pl-confusion"), "Labels and answers")


def _count(count: int, is_right: bool, most: int) -> Markup:
    css_class = "pl-on-diagonal" if is_right else shade(count, most) or None
    return element("td", f"{count:,}" if count else "·", class_=css_class)


def unmatched_caution(summary: Summary) -> list[str]:
    """A sentence where texts have labels that are no class of the model."""
    labels = summary.unmatched_labels
    if not labels:
        return []
    named = ", ".join(f"“{label}” ({count:,})" for label, count in list(labels.items())[:MOST_LABELS])
    more = f" and {len(labels) - MOST_LABELS} more" if len(labels) > MOST_LABELS else ""
    return [
        f"These labels are no class of the model: {named}{more}. Their texts count neither as right nor as wrong. The "
        f"model’s classes are: {', '.join(summary.predicted)}."
    ]


def _cautions(cautions: Mapping[str, Sequence[str]], n_texts: int) -> Markup | None:
    if not cautions:
        return None
    ordered = sorted(cautions.items(), key=lambda item: -len(item[1]))
    lines = definition_list(
        (
            (
                f"{len(ids):,} of {n_texts:,}",
                fragment(name(caution), element("small", " ", name(first_names(ids)))),
            )
            for caution, ids in ordered
        ),
        "pl-facts",
    )
    heading = element("h3", "Cautions, and how many explanations each is about", class_="pl-heading")
    return fragment(heading, lines)


# Do methods agree? Spearman's rank correlation between their scores of words, for every two methods.

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
    words = {
        title: [_word_scores(explanation) for explanation in explanations] for title, explanations in methods.items()
    }
    signed = {title: facts_of(title, explanations).signed for title, explanations in methods.items()}
    return {
        (below, above): _mean(words[below], words[above], signed[below] and signed[above])
        for above, below in combinations(ordered(list(methods)), 2)
    }


def _mean(ones: Sequence[np.ndarray], others: Sequence[np.ndarray], signed: bool) -> float:
    form = (lambda scores: scores) if signed else np.abs
    correlations = [spearman(form(first), form(second)) for first, second in zip(ones, others, strict=True)]
    known = [value for value in correlations if value == value]
    return float(np.mean(known)) if known else float("nan")


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """[word], [word] -> the correlation of ranks, ties sharing theirs; nan where nothing can be ranked."""
    from scipy.stats import rankdata  # slow to import, and few callers need it

    if first.shape != second.shape or len(first) < 3 or not (np.ptp(first) and np.ptp(second)):
        return float("nan")
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def _word_scores(explanation: Explanation) -> np.ndarray:
    """[word]: the scores of a text's words. Units longer than words cannot be cut into words and stay as they are."""
    row = shown_row(explanation)
    finer = not isinstance(row.units, Units) or row.units.kind in IN_WORDS
    view = row.view("word") if finer else row
    return view.scores[~view.special].astype(float)


def by_luck(methods: Methods) -> str:
    """How far correlations of unrelated rankings stray from 0, in a sentence; about 1.96 / sqrt(words - 1) a text."""
    lengths = [len(_word_scores(explanation)) for explanation in next(iter(methods.values()))]
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
        element("th", str(position), scope="col", title=readable(title))
        for position, title in enumerate(titles[:-1], 1)
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
