"""What the difference between two versions says, in sentences."""

from collections.abc import Sequence

from pellucid.reports.wording.numbers import MINUS, percent
from pellucid.reports.wording.plain_words import answer_name, first_names
from pellucid.results.difference import Difference, DifferenceSummary, TextDifference
from pellucid.results.table import Interval

NAMES = {"changed": "answers", "tau": "order of words", "overlap": "strongest words"}
MEASURES = (
    "Rank correlation is Kendall’s tau-b of the words’ scores: 1 is the same order, 0 no relation, "
    f"{MINUS}1 the reverse order. Overlap is the share of a text’s highest-scored words that both versions have."
)
DIFFERENT_CLASS = "the versions explain different classes"


def answers_in_words(totals: DifferenceSummary) -> str:
    """How many answers changed, and what that did to right and wrong ones."""
    texts = f"{totals.n_texts:,} text{'' if totals.n_texts == 1 else 's'}"
    if totals.means.changed.mean != totals.means.changed.mean:  # of values it is not known
        return f"{texts} in common; the versions give values, which nearly always differ a little."
    changed = f"{totals.n_changed:,} of {texts} in common got another answer."
    if not totals.n_labelled:
        return changed
    right, wrong = totals.became_right, totals.became_wrong
    return (
        f"{changed} Of {totals.n_labelled:,} with a label, {wrong:,} became wrong and {right:,} became right."
    )


def missing_in_words(difference: Difference) -> list[str]:
    """How many texts only one version has, and the ids of the first of them."""
    sides = (("first", difference.only_before), ("second", difference.only_after))
    return [
        f"{len(ids):,} text{'' if len(ids) == 1 else 's'} only in the {side} results: "
        f"{first_names([one or '(no id)' for one in ids])}."
        for side, ids in sides
        if ids
    ]


def floor_in_words(totals: DifferenceSummary) -> str:
    """Whether the second version differs more than every twin; empty without twins."""
    beyond = totals.is_beyond_twins
    if not beyond:
        return ""
    twins = "its twin" if len(totals.twins) == 1 else f"each of its {len(totals.twins)} twins"
    more = [NAMES[name] for name, exceeded in beyond.items() if exceeded]
    if not more:
        return f"The second version does not clearly differ more from the first than {twins} does."
    return f"The second version differs clearly more from the first than {twins} does, in: {', '.join(more)}."


def luck_in_words(totals: DifferenceSummary) -> str:
    """What overlap random rankings would have."""
    if totals.by_luck != totals.by_luck:
        return ""
    return f"Random rankings of these texts would share {two(totals.by_luck)} of the {totals.k} highest-scored words."


def two(value: float) -> str:
    """Two decimals with a true minus sign; – where there is no number."""
    return format(value, "z.2f").replace("-", MINUS) if value == value else "–"


def interval_in_words(interval: Interval, as_percent: bool = False) -> str:
    """The interval's ends: 0.71 to 0.79; empty where they are not known."""
    if interval.low != interval.low:
        return ""
    if as_percent:
        return f"{percent(interval.low).removesuffix('%').rstrip()} to {percent(interval.high)}"
    return f"{two(interval.low)} to {two(interval.high)}"


def change_in_words(row: TextDifference) -> str:
    """positive → negative, became wrong; or the answer that stayed."""
    before, after = answer_name(row.before), answer_name(row.after)
    return f"{before} → {after}" if before != after else after


def outcome_in_words(row: TextDifference) -> str:
    """became wrong, became right, or nothing."""
    return "became wrong" if row.became_wrong else "became right" if row.became_right else ""


def agreement_in_words(row: TextDifference, k: int) -> str:
    """Both numbers of a text, or why it has none."""
    if row.before.target.label != row.after.target.label:
        return f"Not compared word by word: {DIFFERENT_CLASS}."
    return f"Rank correlation {two(row.tau)}, overlap of the {k} highest-scored words {two(row.overlap)}."


def quoted_words(words: Sequence[str]) -> str:
    """The words in one line, or that nothing speaks for the class."""
    return ", ".join(words) or "–"
