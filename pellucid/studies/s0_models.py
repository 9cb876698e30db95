"""The models whose spans the studies judge: plain, self-explaining, and one that chooses words before it decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pellucid.core.text.example import Example
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.plan import Plan
from pellucid.studies.s0_accuracy import SCORE_START
from pellucid.studies.units import Share
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model

# kind -> pooler, its settings, and what differs in the recipe: the models of table 1; lambda is added to the span model's
MODELS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "plain": ("first_token", {}, {}),
    "span": ("span", {"score_start": SCORE_START}, {}),
    "rationale": ("rationale", {"coverage": 0.2}, {}),
}
CONCENTRATION = 1.5  # the paper's lambda
CONCENTRATION_HELP = f"lambda of the self-explaining model; {CONCENTRATION} is the paper's, and at 1 the weights of MiniLM do not gather"
LONGEST = 4096  # pieces of a document


@dataclass(frozen=True)
class Training:
    """How the models of a study are trained.

    recipe: what all kinds share. concentration: lambda of the self-explaining one. documents: texts of many sentences,
    read in joined windows, with spans inside sentences. Of the self-explaining one alone: penalties, instead of lambda
    (None: lambda); pooler_settings, besides its own; strip_final_full_stop, see `Plan`.
    """

    encoder: str
    labels: tuple[str, ...]
    recipe: Recipe
    concentration: float
    device: str
    documents: bool = False
    penalties: Mapping[str, float] | None = None
    pooler_settings: Mapping[str, Any] = field(default_factory=dict)
    strip_final_full_stop: bool = False


def train_kind(
    kind: str, training: Training, parts: Mapping[str, Sequence[Example]], folder: Path, share: Share
) -> Classifier:
    """A model of a kind, trained on parts["train"] and parts["dev"]; a finished one is loaded from its folder."""
    changes = dict(MODELS[kind][2])
    if kind == "span":
        own = {"concentration": training.concentration}
        changes["penalties"] = own if training.penalties is None else dict(training.penalties)
    return train_model(
        parts,
        _plan(kind, training),
        replace(training.recipe, **changes),
        folder,
        training.device,
        progress=lambda _, done, total: share(0.9 * done / total),  # the rest is for judging it
    )


def _plan(kind: str, training: Training) -> Plan:
    pooler, built, _ = MODELS[kind]
    if training.documents and pooler == "span":
        built = {**built, "within": "sentence"}
    stripped = False
    if pooler == "span":
        built, stripped = {**built, **training.pooler_settings}, training.strip_final_full_stop
    longest = LONGEST if training.documents else None
    return Plan(
        training.encoder,
        pooler,
        built,
        training.labels,
        max_length=longest,
        strip_final_full_stop=stripped,
    )
