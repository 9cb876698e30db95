"""How a model is trained: every number that changes the result, in one frozen record."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from typing import Any, Literal, TypedDict

import torch

from pellucid.base.checks import at_least, between, mapping, of_kind, one_of
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import objectives, penalties, routes
from pellucid.models.routing.linear_product import has_bfloat16_units
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.diagnostics import EAGER

Precision = Literal["auto", "float32", "bfloat16"]
Measure = Literal["accuracy", "f1", "mcc", "loss"]
MEASURES: tuple[Measure, ...] = ("accuracy", "f1", "mcc", "loss")
LATER = (
    "beta2",
    "layer_decay",
    "dropout",
    "label_smoothing",
    "freeze_vectors",
    "l2",
    "balanced",
    "objectives",
    "objective_settings",
    "objectives_from",
    "spans",
    "route",
    "sharp_from",
    "keep_best_by",
)  # fields that runs of earlier versions lack
LOWEST_DECAY = 0.01
HIGHEST_SHARE = 0.99  # of what is dropped, or spread: with 1 nothing could be learnt
HIGHEST_BETA = 0.999999  # 1 would never forget the first gradient, and divide by 0


class RecipeChanges(TypedDict, total=False):
    """Fields of a `Recipe` that differ from their defaults."""

    epochs: int
    batch_size: int
    learning_rate: float
    new_parts_factor: float
    weight_decay: float
    warmup: float
    clip: float
    penalties: Mapping[str, float]
    precision: Precision
    seed: int
    checkpoint_every: int
    beta2: float
    layer_decay: float
    dropout: float | None
    label_smoothing: float
    freeze_vectors: bool
    l2: float
    balanced: bool
    objectives: Mapping[str, float]
    objective_settings: Mapping[str, Mapping[str, object]]
    objectives_from: float
    spans: float | None
    route: str
    sharp_from: float
    keep_best_by: Measure


@dataclass(frozen=True)
class Recipe:
    """Settings of one training run.

    epochs: passes over the train texts, 1 or more.
    batch_size: texts a step, 1 or more.
    learning_rate: the highest learning rate of the encoder.
    new_parts_factor: how many times higher the rate of the pooler and head is.
    weight_decay: AdamW's; biases and norms have none.
    warmup: the share of all steps in which the rate rises in a line, 0 to 1; then it falls to 0 in a line.
    clip: the largest norm of a step's gradient; 0 for no limit.
    penalties: name -> weight, 0 or more; the weighted penalties are added to the cross-entropy.
    precision: "float32", "bfloat16", or "auto" for bfloat16 where the processor has it.
    seed: of new parts, of the order of texts and of dropout.
    checkpoint_every: steps between checkpoints; there is one at the end of each epoch too.
    beta2: AdamW's decay of squared gradients, 0 to 0.999999.
    layer_decay: each block's learning rate as a share of that of the block above it, above 0 to 1; word vectors count
        as the lowest block. So lower layers, which know the language, change less.
    dropout: the rate of every dropout in the encoder, 0 to below 1; None for the encoder's own.
    label_smoothing: the share of each label that is spread over all classes, 0 to below 1; not for multi-label.
    freeze_vectors: whether the encoder's word vectors stay as they are.
    l2: how much the sum of all squared weights, biases and norms included, counts in the loss, 0 or more. Unlike
        weight_decay, whose pull is the same for all, it goes through AdamW's moments (Guan et al. 2019, Figure 4:
        alpha).
    balanced: whether all classes count equally in the loss, each text by how rare its class is among the train texts;
        not for multi-label.
    objectives: name -> weight, 0 or more; what is learnt besides the labels, or instead of them, with a pass or a model
        of its own. The weighted objectives are added to the loss.
    objective_settings: name -> settings of that objective.
    objectives_from: the share of all steps after which objectives are learnt, 0 to below 1; the labels are learnt from
        the first step.
    spans: how many spans shall share a text's weight, exp(entropy) in the mean over texts, 1 or more; a price on
        entropy finds the sharpness that this takes. None: only penalties make the weights sharp.
    sharp_from: the share of all steps after which weights become sharp, 0 to below 1: until then there are no
        penalties, and the answer uses all spans, also with n_heaviest.
    route: how the network's steps are computed, a name that `routes` lists; it rounds in a way of its own. In bfloat16
        all routes are "eager".
    keep_best_by: which measure on dev chooses the epoch whose weights are kept: "accuracy"; "f1", the mean F1 of the
        classes; "mcc", Matthews' correlation, not for multi-label; or "loss", the lowest cross-entropy. Of equal ones
        the lowest loss decides.

    Raises `BadSetting` for a value out of its range, `UnknownName` for a penalty or objective that does not exist.
    """

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 5e-5
    new_parts_factor: float = 10.0
    weight_decay: float = 0.01
    warmup: float = 0.1
    clip: float = 1.0
    penalties: Mapping[str, float] = field(default_factory=dict)
    precision: Precision = "auto"
    seed: int = 0
    checkpoint_every: int = 200
    beta2: float = 0.999
    layer_decay: float = 1.0
    dropout: float | None = None
    label_smoothing: float = 0.0
    freeze_vectors: bool = False
    l2: float = 0.0
    balanced: bool = False
    objectives: Mapping[str, float] = field(default_factory=dict)
    objective_settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    objectives_from: float = 0.0
    spans: float | None = None
    route: str = EAGER
    sharp_from: float = 0.0
    keep_best_by: Measure = "accuracy"

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "checkpoint_every"):
            at_least(name, of_kind(name, getattr(self, name), int), 1)
        for name in ("learning_rate", "new_parts_factor", "weight_decay", "clip", "l2"):
            at_least(name, getattr(self, name), 0)
        if self.spans is not None:
            at_least("spans", self.spans, 1)
        between("seed", of_kind("seed", self.seed, int), 0, HIGHEST_SEED)
        between("warmup", self.warmup, 0, 1)
        between("beta2", self.beta2, 0, HIGHEST_BETA)
        between("layer_decay", self.layer_decay, LOWEST_DECAY, 1)
        for name in ("dropout", "label_smoothing"):
            between(name, 0 if getattr(self, name) is None else getattr(self, name), 0, HIGHEST_SHARE)
        for name in ("objectives_from", "sharp_from"):
            between(name, getattr(self, name), 0, HIGHEST_SHARE)
        for name in ("freeze_vectors", "balanced"):
            of_kind(name, getattr(self, name), bool)
        one_of("precision", self.precision, ("auto", "float32", "bfloat16"))
        one_of("keep_best_by", self.keep_best_by, MEASURES)
        routes.get(self.route)
        for name, weight in self.penalties.items():
            penalties.get(name)
            at_least(f"weight of {name}", weight, 0)
        self._check_objectives()

    def _check_objectives(self) -> None:
        for name, weight in mapping("objectives", self.objectives).items():
            objectives.get(name)
            at_least(f"weight of {name}", weight, 0)
        for name, settings in mapping("objective_settings", self.objective_settings).items():
            if name not in self.objectives:
                raise BadSetting(
                    f"objective_settings has settings of {name}, which is not among the objectives; give its weight "
                    f"too: objectives={{{name!r}: 1}}, on the command line --objective {name}=1."
                )
            objectives.get(name).settings(mapping(f"objective_settings[{name!r}]", settings))

    def record(self) -> dict[str, object]:
        """Every field; later fields only where they differ from their default, so that older runs keep their
        fingerprints.
        """
        defaults = {field.name: _default(field) for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if name not in LATER or value != defaults[name]}

    def autocast(self, device: torch.device) -> torch.autocast:
        """The context that the forward pass of training runs in."""
        enabled = computes_in(self.precision, device) == "bfloat16"
        return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)


def _default(field: Field[Any]) -> object:  # Any: a field of every type
    return field.default if field.default_factory is MISSING else field.default_factory()


def computes_in(precision: Precision, device: torch.device) -> str:
    """The precision that a setting means on a device."""
    if precision == "auto":
        return "bfloat16" if has_bfloat16_units(device) else "float32"
    return precision
