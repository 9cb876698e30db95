"""Numbers, diagnostics and facts of an explanation as sentences for people who never heard of attribution."""

import re
from collections.abc import Iterable, Mapping, Sequence
from os.path import commonprefix
from types import MappingProxyType

from pellucid.base.checks import MINUS as MINUS
from pellucid.base.checks import percent as percent
from pellucid.base.checks import readable_number as readable_number
from pellucid.base.checks import shortened
from pellucid.drawing.emphasis import strongest
from pellucid.drawing.method_facts import MethodFacts, explains_written
from pellucid.results.explanation import NO_CLASS, Explanation, Scored
from pellucid.results.table import Interval
from pellucid.results.word_lists import MOST, OverlapCurve, WordLists
from pellucid.run.diagnostics import brief_of, sentence_of, worst_of
from pellucid.text.passages import place_of
from pellucid.text.reading import is_about_reading

MOST_NAMED = 5  # texts of a caution

# Checks of the method rather than news of a text: a page of several texts says once how the worst of them did.
CHECKS = frozenset({"completeness_gap", "conservation_gap", "fit_r2", "standard_error", "overlap_disagreement"})
NOTABLE = 0.1  # a smaller part of the scores than this is not mentioned


def diagnostics_in_words(explanation: Explanation, checks: bool = True) -> list[str]:
    """A sentence for each diagnostic that has one, of the row that is drawn; the others stand among the expert's facts.

    checks: whether to include what tests the method.
    """
    named = shown_row(explanation).diagnostics.items()
    sentences = (sentence_of(name, value) for name, value in named if checks or name not in CHECKS)
    return [sentence for sentence in sentences if sentence]


def worst_checks_in_words(explanations: Sequence[Explanation]) -> list[str]:
    """How the worst of several texts did in each check of their method, in a sentence a check."""
    values: dict[str, list[float]] = {}
    for explanation in explanations:
        for name, value in explanation.diagnostics.items():
            if name in CHECKS and value == value:
                values.setdefault(name, []).append(value)
    sentences = [sentence_of(name, worst_of(name, of_texts)) for name, of_texts in values.items()]
    lead = f"In the worst of {len(explanations)} texts: "
    return [f"{lead}{sentence[0].lower()}{sentence[1:]}" for sentence in sentences if sentence]


def in_brief(explanation: Explanation) -> list[str]:
    """A few words for each diagnostic that has them, and for rows not shown: for methods side by side."""
    rows = (f"{'last' if kind == 'layer' else 'first'} {kind} of {len(labels)}" for kind, labels in explanation.rows)
    return [*rows, *diagnostics_in_brief(explanation)]


def diagnostics_in_brief(explanation: Explanation) -> list[str]:
    """A few words for each diagnostic that has them, and how words were taken out of what a model reads and writes."""
    operator = [f"operator {explanation.settings['operator']}"] if removal_in_words(explanation) else []
    return operator + list(filter(None, (brief_of(name, value) for name, value in explanation.diagnostics.items())))


def removal_in_words(explanation: Explanation) -> list[str]:
    """Of a model that writes, what stands in the place of a word that the method takes out."""
    if not explains_written(explanation):
        return []
    from pellucid.run.batch import (
        OPERATORS_IN_WORDS,
    )  # imports torch, and few pages need it

    operator = explanation.settings.get("operator")
    if operator not in OPERATORS_IN_WORDS:
        return []
    after = "" if operator in ("mask", "pad") else "; the next word is written after the last one that is left"
    return [f"A word that is taken out is {OPERATORS_IN_WORDS[operator]} (operator “{operator}”){after}."]


def parity_in_words(explanations: Sequence[Explanation]) -> str:
    """How close the explained answer is to the model's own, if it was measured."""
    gaps = [explanation.diagnostics["parity"] for explanation in explanations if "parity" in explanation.diagnostics]
    if not gaps:
        return ""
    if not max(gaps):
        return "The answer that is explained is exactly the model’s own."
    return f"The answer that is explained differs from the model’s own by at most {readable_number(max(gaps))}."


def hidden_in_words(explanation: Explanation, facts: MethodFacts) -> list[str]:
    """For methods whose scores add up: what special tokens, which are not drawn, have of the sum; silent where
    little.
    """
    if not (facts.signed and facts.complete) or explanation.rows or not explanation.special.any():
        return []
    sizes, hidden = abs(explanation.scores).sum(dtype="float64"), explanation.hidden_sum
    if abs(hidden) < NOTABLE * sizes:
        return []
    total = float(explanation.scores.sum(dtype="float64"))
    return [
        f"{signed(hidden)} of the scores’ sum of {signed(total)} belongs to no word but to the marks of beginning and "
        "end that the model puts around a text."
    ]


def reading_cautions(explanations: Sequence[Explanation]) -> list[str]:
    """What the model cannot read of a text, which holds whatever the method: each sentence once."""
    every = (caveat for explanation in explanations for caveat in explanation.caveats)
    return list(dict.fromkeys(filter(is_about_reading, every)))


def bytes_in_words(explanations: Sequence[Explanation]) -> list[str]:
    """How many words of a text the model reads only as bytes, which holds whatever the method."""
    counts = (explanation.diagnostics.get("words_as_bytes", 0.0) for explanation in explanations)
    return [sentence_of("words_as_bytes", count) for count in dict.fromkeys(counts) if count]


def row_in_words(explanation: Explanation) -> list[str]:
    """Which row of an explanation is shown, where it has several or is one of several."""
    if not explanation.rows and not explanation.of_row:
        return []
    parts = [f"{kind} {label}" for kind, label in explanation.of_row] + [
        f"{kind} {labels[-1]} (the last of {len(labels)})"
        if kind == "layer"
        else f"{kind} {labels[0]} (the first of {len(labels)})"
        for kind, labels in explanation.rows
    ]
    return [f"Shown: {', '.join(parts)}."]


def short_ids(ids: Sequence[str], longest: int) -> dict[str, str]:
    """Each id -> at most so many characters of it that keep the part that differs from the others.

    The end where that tells all apart, as in "…reviews-1974", else what stands after the beginning that all share.
    """
    different = [id_ for id_ in dict.fromkeys(ids) if len(id_) > longest]
    shared = len(commonprefix(different)) if len(different) > 1 else 0  # noqa: RUF071  # characters are meant
    ends = {id_: f"…{id_[1 - longest :]}" for id_ in different}
    if len(set(ends.values())) == len(different):
        return {id_: ends.get(id_, id_) for id_ in ids}
    after = {id_: f"…{id_[shared : shared + longest - 2]}…" for id_ in different}
    return {id_: after.get(id_, id_) for id_ in ids}


def shown_row(explanation: Explanation) -> Explanation:
    """The explanation, or the first of its rows; of layers the last."""
    return explanation.shown_row()


def first_names(ids: Sequence[str]) -> str:
    """The first texts by name, and how many more there are: "reviews-7, reviews-31 and 4 more"."""
    names = list(dict.fromkeys(filter(None, ids)))
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


ALL_ZERO = "nothing, all scores are 0"
ALL_UNREAD = "nothing, the model can read no word"
ALL_ROUNDING = "nothing, no score is larger than rounding"


def strongest_in_words(explanation: Explanation, k: int = 3) -> str:
    """The k strongest units with their scores, in one line; what reads alike, but for case, with one score stands
    once.
    """
    if explanation.is_unread:
        return ALL_UNREAD
    different: dict[tuple[str, float], Scored] = {}
    for unit in strongest(explanation, len(explanation.units)):
        different.setdefault((unit.text.casefold(), unit.score), unit)
    is_rounded = any("rounding" in caveat for caveat in explanation.caveats)
    return listed(list(different.values())[:k]) or (ALL_ROUNDING if is_rounded else ALL_ZERO)


def listed(units: Sequence[Scored]) -> str:
    """“loved” +0.81, “every” +0.30"""
    return ", ".join(f"“{unit.text}” {signed(unit.score)}" for unit in units)


def sureness(explanation: Explanation) -> float:
    """The probability of the answer; 0 where the model gives none, so that sorted texts stay in order."""
    probability = explanation.prediction.probability
    return probability if probability == probability else 0.0


def target_name(explanation: Explanation) -> str:
    """What is explained, such as "logit of positive"; of a model that gives values: the value."""
    return str(explanation.target) if explanation.predicted_value is None else "the value"


# A model's answer in words: its class, all its classes where a text can have several, or its value.


def answer_name(explanation: Explanation) -> str:
    """The class; several with commas between them; or the value of a model that gives one."""
    answer = explanation.answer
    return readable_number(answer) if isinstance(answer, float) else answer or NO_CLASS


def place_in_words(explanation: Explanation) -> str:
    """Which part of the text the answer is about, with a blank before it; empty where it is the whole, or that part."""
    place = place_of(explanation.example)
    if place is None or place.text == explanation.prediction.label:
        return ""
    return f" for “{shortened(place.text)}”"


def answer_with_chances(explanation: Explanation) -> str:
    """The same with probabilities in brackets: positive (93 %)."""
    prediction = explanation.prediction
    if explanation.predicted_value is not None or not prediction.probabilities:
        return answer_name(explanation)
    chances = dict(zip(prediction.labels, prediction.probabilities, strict=True))
    return ", ".join(f"{name} ({percent(chances[name])})" for name in prediction.names) or NO_CLASS


# What the overlap of the classes' lists says at their longest, in sentences.

FEW_TEXTS = 1000  # below, a word's frequency is counted too coarsely to say how rare it is


def overlap_in_words(lists: WordLists, curve: OverlapCurve) -> list[str]:
    """How many words are shared, how many random and rare lists share; empty where there is no curve."""
    if not curve.k:
        return []
    k, ours = curve.k[-1], curve.lists[-1]
    low, high = curve.random_low[-1], curve.random_high[-1]
    verdict = "fewer words than" if ours < low else "more words than" if ours > high else "about as many words as"
    cautions = []
    if ours < low and curve.rarest[-1] < low:
        cautions.append(
            "The rarest words share as little as that, so few shared words are no evidence here: see whether the words "
            "occur in many texts."
        )
    if lists.n_idf_texts < FEW_TEXTS:
        cautions.append(
            f"The idf is of {lists.n_idf_texts:,} texts only; below about {FEW_TEXTS:,} it depends on which texts they "
            f"are."
        )
    short = [f"Longer lists are not compared: a class has only {k} words above 0."] if k < MOST else []
    return [
        f"Pairs of the {len(lists.labels)} classes share {_percent(ours)} of their {k} first words.",
        f"Random words of the same classes: {_percent(curve.random_mean[-1])} (95 % of {curve.n_draws} draws: "
        f"{_percent(low)} to {_percent(high)}), so these lists share {verdict} random ones. The rarest words of each "
        f"class: {_percent(curve.rarest[-1])}.",
        *cautions,
        *short,
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# The terms that a reader of a page may not know, each with what it means; docs/how-to/read-a-report.md lists them
# too.

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {
        "piece": "What the model’s tokenizer cuts words into: a short word is one piece, a rare one several.",
        "span": "Neighbouring words of a text, from one word to the whole text.",
        "logit": "The model’s score for a class before it is turned into a probability.",
        "parity": (
            "How far the answer that is explained is from the model’s own answer to the text. It should be as good as "
            "0."
        ),
        "digest": "A fingerprint of the model’s weights: two models with the same digest are the same model.",
        "seed": "The number that random draws start from. The same seed gives the same draws.",
        "operator": ("How words are taken out of a text: absent (the others keep their places), mask, pad or delete."),
        "reference": "What counts as a right answer: gold, the label of the text, or the model’s own prediction.",
        "pooler": "The part of a model that makes one vector of a whole text from those of its words.",
        "twin": "A model with the same encoder, recipe and seed that differs in one part, for comparison.",
        "decoy": "A planted word that often goes with a label without deciding it.",
    }
)


def terms_in(texts: Iterable[str]) -> dict[str, str]:
    """The terms that some texts use, also in the plural or as a part of a name, with what they mean."""
    words = {word for text in texts for word in re.findall(r"[a-z]+", text.lower())}
    return {term: meaning for term, meaning in GLOSSARY.items() if words & {term, f"{term}s"}}


# Numbers as a reader wants them: few digits, a true minus sign, never a rounded-away value.


def signed(value: float) -> str:
    """The number with its sign; 0 has none."""
    return f"+{readable_number(value)}" if value > 0 else readable_number(value)


def weight(value: float) -> str:
    """A weight between 0 and 1 without its leading 0: .42"""
    return f"{value:.2f}".removeprefix("0") if value >= 0.005 else "less than .01"


def unbroken(words: str) -> str:
    """Words that stay on one line."""
    return words.replace(" ", "\u00a0")


def bounds(interval: Interval) -> str:
    """The interval's ends with equal decimals: .281 to .341"""
    return f"{three(interval.low)} to {three(interval.high)}"


def three(value: float) -> str:
    """Three decimals: what a table aligns."""
    return format(value, ".3f").replace("-", MINUS) if value == value else "–"
