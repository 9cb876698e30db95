"""How to read the page: the opening paragraph and the legend, in plain words."""

from collections.abc import Collection, Sequence

from pellucid.drawing.heat_map import colour_steps
from pellucid.drawing.html import Markup, element, fragment
from pellucid.drawing.method_facts import MethodFacts, in_words

KINDS = ("words", "spans", "marks", "unread")  # what a page may show
STEPS = (-16, -12, -8, -4, 0, 4, 8, 12, 16)

NUMBERS = "Point at a word to see its score; “numbers” above a picture writes all scores into the text."
GUIDE = "A text classifier gave each text a label. The colours show which words the label depended on."
VALUES = "A model gave each text a value. The colours show which words the value depended on."
LIMITS = (
    "Each method estimates in its own way which words {answer} depended on. You can compare colours between texts, but "
    "only for the same method: every method has its own unit. A picture shows what a method found out about the model. "
    "It does not show that the model is right. Methods can disagree; if the page has a comparison table, the table "
    "says which methods to believe."
)

STATES = (
    "A text classifier turns each text into hidden states, layer by layer, before it gives a label. The colours show "
    "which words the explained state depends on."
)
STATES_LIMITS = (
    "Each method estimates in its own way which words a state depends on. You can compare colours between texts, but "
    "only for the same method: every method has its own unit. A state that depends on a word need not use it for the "
    "label; no colour says for which class a word speaks."
)

WRITTEN = (
    "A model read the first text and wrote the second one, a word at a time. The colours show which words a written "
    "word depended on: those of the first text, and those that were written before it."
)
WRITTEN_LIMITS = (
    "Explained is how likely the word was in its place, as a logarithm, or how far it led over another word. Each "
    "method estimates in its own way what the word depended on, and every written word has a scale of its own. A word "
    "that was likely whatever stood before it has small scores. A picture does not show that the text is right."
)

SPANS = (
    "A text classifier that explains itself gave each text a label. The spans of words that weighed most are "
    "underlined."
)
SPANS_LIMITS = (
    "The model gives every span of words a weight, and the weighted sum over all spans decides the label. The heaviest "
    "spans that do not overlap are underlined, and listed with their weights. A weight says that a span counted, not "
    "which answer it speaks for. The model computes a span’s vector from the whole text, so the vector can carry more "
    "than the span’s own words."
)

COMPARED = (
    "Methods that explain a text classifier were compared on the same texts. The table says how well each method does, "
    "and whether it does better than random scores. No text is shown on this page; pellucid explain --html shows texts."
)

WORDS = (
    "A text classifier gave many texts their labels. Orange bars are words that speak for a class, blue bars words "
    "that speak against it, averaged over all texts that were given to the class."
)

ERRORS = (
    "A text classifier gave some of the texts a wrong label. The colours show the words that its wrong answers "
    "depended on, according to {method}."
)
ERRORS_LIMITS = (
    "{reading} The answer is the label that the model gave, which is not the label of the text. Every text has its own "
    "scale of colours. A method estimates which words an answer depended on; another method may name other words. That "
    "a word counted for a wrong answer does not show that it alone caused the mistake."
)

SIDE_BY_SIDE = (
    "A text classifier gave a text a label. Each row shows one method’s estimate of the words it depended on."
)
SIDE_BY_SIDE_LIMITS = (
    "Every row shows the same text, so that you can compare a word from row to row. The rows often disagree, because "
    "the methods ask different questions, and some of the methods are poor. This page does not say which of them is "
    "right. To find out, compare each method with random scores on many texts (pellucid compare)."
)

VERSIONS = (
    "Two versions of a text classifier read the same texts. The colours show which words the answer of each "
    "version depended on."
)
VERSIONS_LIMITS = (
    "The page shows where the versions answer differently, and where they give the same answer for other words. It "
    "does not show which version is right to do so. Two trainings of one version differ as well: only what exceeds the "
    "difference of twins is due to the change."
)


PLACES = (
    "A model answered for a part of each text, which has a box around it. The colours show which words that answer "
    "depended on."
)


def reading_guide(kinds: Collection[str] = KINDS, of_values: bool = False) -> Markup:
    """What the colours, lines and marks mean, and what they do not.

    kinds: what the page shows of these, "places" among them where answers are about parts of texts. of_values: the
    model gave values, as in a regression, and no labels.
    """
    if "places" in kinds:
        return _guide(PLACES, kinds, LIMITS.format(answer="an answer"))
    if of_values:
        return _guide(VALUES, kinds, LIMITS.format(answer="a value"), ("lowers it", "raises it"))
    return _guide(GUIDE, kinds, LIMITS.format(answer="a label"))


def states_guide(marked: bool) -> Markup:
    """What the colours of explained hidden states mean, and what they do not; marked: whether authors' marks are
    shown.
    """
    items = [element("li", *_sample("strong", "pl-u pl-p9 pl-for", "one of the three strongest"))]
    items += [element("li", *item) for kind, item in legend_items() if marked and kind == "marks"]
    key = element(
        "span",
        "not at all",
        colour_steps([step for step in STEPS if step >= 0], "pl-steps"),
        "strongly",
        class_="pl-bar",
    )
    return _folded(element("p", STATES, " ", key, class_="pl-lead"), items, f"{NUMBERS} {STATES_LIMITS}")


def written_guide(kinds: Collection[str]) -> Markup:
    """What the colours of words that a model writes mean, and what they do not; kinds: what the page shows."""
    return _guide(WRITTEN, kinds, WRITTEN_LIMITS)


def span_guide(marked: bool) -> Markup:
    """What underlined spans mean, and what they do not; marked: whether the page shows authors' marks."""
    return _guide(SPANS, ("spans", "marks") if marked else ("spans",), SPANS_LIMITS)


def errors_guide(facts: MethodFacts, marked: bool) -> Markup:
    """What the colours of misclassified texts mean by this method; marked: whether the page shows authors' marks."""
    kinds = ("words", "marks") if marked else ("words",)
    return _guide(ERRORS.format(method=facts.title), kinds, ERRORS_LIMITS.format(reading=in_words(facts)))


def side_by_side_guide(kinds: Collection[str] = ("words",)) -> Markup:
    """What rows of methods mean, and what they do not; kinds: what the page shows."""
    return _guide(SIDE_BY_SIDE, kinds, SIDE_BY_SIDE_LIMITS)


def versions_guide() -> Markup:
    """What the words of two versions mean, and what they do not."""
    return _guide(VERSIONS, ("words",), VERSIONS_LIMITS)


def attacks_guide() -> Markup:
    """How to read a page of edited texts."""
    return element("p", ATTACKED, class_="pl-lead")


def words_guide() -> Markup:
    """How to read a page of the words of classes."""
    return element("p", WORDS, class_="pl-lead")


def comparison_guide() -> Markup:
    """How to read a page that has a comparison and no picture."""
    return element("p", COMPARED, class_="pl-lead")


ATTACKED = (
    "A program edited each text, a few words or a span, until the model gave another answer, or whatever else was the "
    "goal. What was edited is underlined: with dashes in the text before, and with a line in the text after. "
    "Everything else is as it was."
)


def _guide(
    lead: str,
    kinds: Collection[str],
    limits: str,
    ends: tuple[str, str] = ("against the answer", "for the answer"),
) -> Markup:
    """One sentence and the colours, always seen; all else folded, so that the first picture is on the first screen.

    ends: what the two ends of the scale mean.
    """
    numbers = NUMBERS if "words" in kinds else ""
    first = element("p", lead, " ", colour_key(*ends) if "words" in kinds else None, class_="pl-lead")
    items = [element("li", *item) for kind, item in legend_items() if kind in kinds]
    return _folded(first, items, " ".join(filter(None, (numbers, limits))))


def _folded(first: Markup, items: Sequence[Markup], limits: str) -> Markup:
    """The first line, and below it in a fold the legend and what the page does not say."""
    return fragment(
        first,
        element(
            "details",
            element("summary", "How to read this page"),
            element("ul", *items, class_="pl-legend"),
            element("p", limits, class_="pl-note"),
            class_="pl-guide",
        ),
    )


def colour_key(low: str, high: str) -> Markup:
    """The scale of colours between its two meanings, in one line."""
    return element("span", low, colour_steps(STEPS, "pl-steps"), high, class_="pl-bar")


def legend_items() -> tuple[tuple[str, tuple[Markup | str, ...]], ...]:
    """Each sample and its meaning, by the kind that it belongs to."""
    return (
        ("words", _sample("strong", "pl-u pl-p9 pl-for", "one of the three strongest, for the answer")),
        (
            "words",
            _sample("strong", "pl-u pl-n9 pl-against", "one of the three strongest, against the answer"),
        ),
        (
            "spans",
            _sample("heavy", "pl-span pl-s1", "a span the model weighed; thicker means heavier"),
        ),
        ("marks", _sample("reason", "pl-marked", "what the text’s author marked as the reason")),
        ("unread", _sample("hatched", "pl-u pl-unread", "a word that the model cannot read")),
    )


def _sample(word: str, css_classes: str, meaning: str) -> tuple[Markup | str, ...]:
    return element("span", word, class_=f"pl-sample {css_classes}", aria_hidden="true"), meaning
