"""The summary of many texts: answers, accuracy, confusion, labels that fit no class, words of classes, cautions."""

from collections.abc import Mapping, Sequence

from pellucid.core.corpus.summary import Summary
from pellucid.reports.markup.colours import shade
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import definition_list, scroll_box, table
from pellucid.reports.page.card import probability_bar
from pellucid.reports.page.class_words_view import class_words_view, words_intro
from pellucid.reports.page.heat_map import caution_lines
from pellucid.reports.page.section import Section
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import number, percent, unbroken
from pellucid.reports.wording.plain_words import first_names

MOST_CLASSES, MOST_LABELS = 20, 8


def summary_sections(summary: Summary) -> list[Section]:
    """What was read and how it went; then the words of each class, where one method explained all texts."""
    sections = [Section("Summary", in_one_sentence(summary), summary_view(summary))]
    if summary.words is not None:
        words = summary.words
        sections.append(
            Section("Words that speak for and against", words_intro(words), class_words_view(words))
        )
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
    lowest, middle, highest = map(number, summary.values)
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
    return element("div", heading, element("p", big, " ", sentence), confusion_table(summary))


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


def _cautions(cautions: Mapping[str, Sequence[str]], of: int) -> Markup | None:
    if not cautions:
        return None
    ordered = sorted(cautions.items(), key=lambda item: -len(item[1]))
    lines = definition_list(
        (
            (
                f"{len(ids):,} of {of:,}",
                fragment(name(caution), element("small", " ", name(first_names(ids)))),
            )
            for caution, ids in ordered
        ),
        "pl-facts",
    )
    heading = element("h3", "Cautions, and how many explanations each is about", class_="pl-heading")
    return fragment(heading, lines)
