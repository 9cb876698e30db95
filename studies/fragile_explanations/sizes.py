"""The methods that are judged, the edits that are tried, and how much is done."""

from collections.abc import Mapping
from dataclasses import dataclass

from studies.s0_attacks.tasks import AttackedCorpus

WORDS = 8  # of a text at most, each with all its synonyms
TOP = 3  # words with the highest scores
MOST_OVERLAP = 0.5  # of these: one of three may be left
CHANCE = "chance"
METHODS = (
    CHANCE,
    "gradient",
    "gradient_x_input",
    "integrated_gradients",
    "attention",
    "attention_gradient",
    "wu_ong_lrp",
    "occlusion",
    "leave_one_out",
)  # without those that take hundreds of passes: every edited text is explained anew


@dataclass(frozen=True)
class MovesSize:
    """corpora: how much of each. seeds: trainings. methods: that are judged."""

    corpora: Mapping[str, AttackedCorpus]
    seeds: int = 3
    methods: tuple[str, ...] = METHODS


SIZES = {
    "tiny": MovesSize({"pocket": AttackedCorpus(60, 12, 9, 3, 12)}, 1, (CHANCE, "gradient")),
    "small": MovesSize({"sst2": AttackedCorpus(6_920, 872, 100, 3)}),
}
