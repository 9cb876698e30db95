"""The attack, and how much is done."""

from collections.abc import Mapping
from dataclasses import dataclass

from studies.s0_attacks.tasks import AttackedCorpus

ATTACK, MOST_QUERIES = "pwws", 200


@dataclass(frozen=True)
class LessonsSize:
    """corpora: how much of each. seeds: trainings. attacked: texts to learn from that are attacked."""

    corpora: Mapping[str, AttackedCorpus]
    seeds: int = 3
    attacked: int = 800


SIZES = {
    "tiny": LessonsSize({"pocket": AttackedCorpus(60, 12, 9, 3, 12)}, 1, 4),
    "small": LessonsSize({"sst2": AttackedCorpus(3_000, 400, 200, 3)}, attacked=500),
}
