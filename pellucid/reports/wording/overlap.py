"""What the overlap of the classes' lists says at their longest, in sentences."""

from pellucid.core.corpus.list_overlap import OverlapCurve
from pellucid.core.corpus.word_lists import MOST, WordLists

FEW_TEXTS = 1000  # below, a word's frequency is counted too coarsely to say how rare it is


def overlap_in_words(lists: WordLists, curve: OverlapCurve) -> list[str]:
    """How many words are shared, how many random and rare lists share; empty where there is no curve."""
    if not curve.k:
        return []
    k, ours = curve.k[-1], curve.lists[-1]
    low, high = curve.random_low[-1], curve.random_high[-1]
    verdict = (
        "fewer words than" if ours < low else "more words than" if ours > high else "about as many words as"
    )
    cautions = []
    if ours < low and curve.rarest[-1] < low:
        cautions.append(
            "The rarest words share as little as that, so few shared words are no evidence here: see whether the words occur in "
            "many texts."
        )
    if lists.n_idf_texts < FEW_TEXTS:
        cautions.append(
            f"The idf is of {lists.n_idf_texts:,} texts only; below about {FEW_TEXTS:,} it depends on which texts they are."
        )
    short = [f"Longer lists are not compared: a class has only {k} words above 0."] if k < MOST else []
    return [
        f"Pairs of the {len(lists.labels)} classes share {_percent(ours)} of their {k} first words.",
        f"Random words of the same classes: {_percent(curve.random_mean[-1])} (95 % of {curve.n_draws} draws: {_percent(low)} to "
        f"{_percent(high)}), so these lists share {verdict} random ones. The rarest words of each class: "
        f"{_percent(curve.rarest[-1])}.",
        *cautions,
        *short,
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
