"""The methods that order an attack's edits, and how much is done."""

from collections.abc import Mapping
from dataclasses import dataclass

from studies.s0_attacks.tasks import AttackedCorpus

RANDOM, BEST = (
    "random_order",
    "pwws",
)  # the floor, and the published order that asks the model about every synonym
METHODS = (
    "gradient",
    "gradient_x_input",
    "integrated_gradients",
    "smooth_gradient",
    "deep_lift_shap",
    "attention",
    "attention_gradient",
    "wu_ong_lrp",
    "occlusion",
    "leave_one_out",
    "lime",
    "shapley_sampling",
)


@dataclass(frozen=True)
class OrdersSize:
    """corpora: how much of each. seeds: trainings. methods: those that order the edits."""

    corpora: Mapping[str, AttackedCorpus]
    seeds: int = 3
    methods: tuple[str, ...] = METHODS


SIZES = {
    "tiny": OrdersSize({"pocket": AttackedCorpus(60, 12, 9, 3, 12)}, 1, ("gradient", "occlusion")),
    "small": OrdersSize({"sst2": AttackedCorpus(6_920, 872, 200, 3)}),
}
