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
            number = published.get(variant)
            below = "" if number is None else f"<br>{number:.3f}"
            of_ways = [cell for way in WAYS for cell in _of_way(one.get(way), below)]
            rows.append([vocabulary, PAPER_NAMES[variant], *of_ways, f"{one['separate']['states']:,.0f}"])
    head = ["vocabulary", "model"]
    head += [cell for way in WAYS.values() for cell in (way, f"share, {way}", f"shuffled, {way}")]
    return markdown_table([*head, "states"], rows)


def _of_way(one: Numbers | None, below: str) -> list[str]:
    """The information of one grouping, its share of the entropy, and that of shuffled pairs under the same grouping."""
    if one is None:
        return ["–"] * 3
    return [f"{_interval(one['information'])}{below}", f"{one['share']:.0%}", f"{one['shuffled']:.3f}"]


def _vocabularies(information: Numbers, paper: str) -> dict[str, Mapping[str, float]]:
    """Vocabulary -> variant -> the paper's number."""
    first = next(iter(information["models"].values()))
    return {vocabulary: TABLE_2.get(paper, {}).get(vocabulary, {}) for vocabulary in first}


def _interval(interval: Mapping[str, float | None]) -> str:
    mean, low, high = ("–" if interval[end] is None else f"{interval[end]:.2f}" for end in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"
