"""Table 2 as Markdown: how much a state says of its word, with the paper's numbers below ours."""

from collections.abc import Mapping

from studies.s4_fragility.paper import TABLE_2
from studies.shared.attention_models import PAPER_NAMES
from studies.shared.claims import claim_of, claims_table
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers

WAYS = {"separate": "apart", "joint": "together"}
NOTE = (
    "Nats, additive attention, t-intervals over training seeds; below each number the paper's, whose logarithm has no "
    "stated base. Apart: word\nvectors and states are grouped apart, a word to a group; together: in one grouping, "
    "which needs equal widths. Share: of the words'\nentropy, which differs between vocabularies. Shuffled: with "
    "states of other words, the estimate's bias. Compare only at equal numbers\nof states and groups."
)


def information_text(information: Numbers, paper: str, about: Numbers) -> str:
    """Table 2 and its claims; a sentence where nothing of it is measured. paper: the corpus there, "" for none."""
    if not information["models"]:
        return "Not run yet.\n"
    size = about["information"]
    counts = (
        f"At most {size['n_words']:,} words, {size['n_states']:,} states of texts that are learnt from, and "
        f"{size['n_groups']:,} groups."
    )
    claims = [claim_of(one) for one in information["claims"]]
    tested = claims_table(claims, "nats") if claims else "Nothing of it could be tested.\n"
    return f"{information_table(information, paper)}\n\n{counts}\n{NOTE}\n\n{tested}"


def information_table(information: Numbers, paper: str) -> str:
    """A row for each vocabulary and variant."""
    rows = []
    for vocabulary, published in _vocabularies(information, paper).items():
        for variant, cells in information["models"].items():
            one = cells[vocabulary]
            separate = one["separate"]
            joint = _interval(one["joint"]["information"]) if "joint" in one else "–"
            number = published.get(variant)
            below = "" if number is None else f"<br>{number:.3f}"
            rows.append(
                [
                    vocabulary,
                    PAPER_NAMES[variant],
                    f"{_interval(separate['information'])}{below}",
                    f"{joint}{below if 'joint' in one else ''}",
                    f"{separate['share']:.0%}",
                    f"{separate['shuffled']:.3f}",
                    f"{separate['states']:,.0f}",
                ]
            )
    head = ["vocabulary", "model", *WAYS.values(), "share", "shuffled", "states"]
    return markdown_table(head, rows)


def _vocabularies(information: Numbers, paper: str) -> dict[str, Mapping[str, float]]:
    """Vocabulary -> variant -> the paper's number."""
    first = next(iter(information["models"].values()))
    return {vocabulary: TABLE_2.get(paper, {}).get(vocabulary, {}) for vocabulary in first}


def _interval(interval: Mapping[str, float | None]) -> str:
    mean, low, high = ("–" if interval[end] is None else f"{interval[end]:.2f}" for end in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"
