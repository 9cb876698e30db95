"""What a composed model is made of: encoder, pooler, classes and their settings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

from pellucid.base.checks import of_kind, one_of
from pellucid.base.errors import BadSetting
from pellucid.base.wording import quoted
from pellucid.models.classifiers.output import check_labels
from pellucid.run.target import Problem

# Keyword arguments of a registered encoder or pooler: plain values by name.
Settings: TypeAlias = dict[str, object]
# Fields that folders of earlier versions do not have.
LATER = ("encoder_settings", "strip_final_full_stop", "started_from", "max_length", "layer_form")


@dataclass(frozen=True)
class Plan:
    """What a composed model is made of: enough to build it again.

    encoder: a registered name, or the folder or hub name of a pretrained encoder.
    pooler, pooler_settings: a registered name and its settings.
    labels, problem: the classes and what their logits mean.
    trained: what training writes about itself.
    encoder_settings: settings of a registered encoder.
    max_length: the most pieces that are read as one text; where the encoder reads fewer, windows are joined. None: what the
    encoder reads.
    strip_final_full_stop: a full stop at the end of a text is not read.
    started_from: the digest of the classifier whose encoder it is; "" where there was none.
    layer_form: "b_cos", linear layers without constants that weigh by alignment; "", layers as they are.
    """

    encoder: str
    pooler: str
    pooler_settings: Settings
    labels: tuple[str, ...]
    problem: Problem = "single_label"
    trained: dict[str, object] = field(default_factory=dict)
    encoder_settings: Settings = field(default_factory=dict)
    max_length: int | None = None
    strip_final_full_stop: bool = False
    started_from: str = ""
    layer_form: str = ""

    @property
    def above_the_encoder(self) -> Settings:
        """What a model's hash depends on besides weights: its pooler, its form, and how it reads long texts."""
        joined = {} if self.max_length is None else {"max_length": self.max_length}
        form = {"layer_form": self.layer_form} if self.layer_form else {}
        return {"pooler": self.pooler, **self.pooler_settings, **joined, **form}

    def record(self) -> dict[str, object]:
        """Every field as JSON, without those of later versions that are empty: so plans of older versions stay the same."""
        return {name: value for name, value in asdict(self).items() if value or name not in LATER}


def read_plan(config: Mapping[str, Any]) -> Plan:  # Any: values of every kind, checked here
    """The plan in a saved configuration, every field of its kind; raises `KeyError` for a missing one, else `BadSetting`."""
    names = [name for name in Plan.__dataclass_fields__ if name in config or name not in LATER]
    plan = Plan(**{name: config[name] for name in names})
    for name in ("encoder", "pooler"):
        of_kind(name, getattr(plan, name), str)
    one_of("problem", of_kind("problem", plan.problem, str), ("single_label", "multi_label"))
    if not isinstance(plan.labels, list):
        raise BadSetting(f"labels={quoted(plan.labels)} is not possible; give a list of names.")
    check_labels(plan.labels)
    return replace(
        plan,
        labels=tuple(plan.labels),
        pooler_settings=dict(plan.pooler_settings),
        trained=dict(plan.trained),
        encoder_settings=dict(plan.encoder_settings),
        strip_final_full_stop=of_kind("strip_final_full_stop", plan.strip_final_full_stop, bool),
        started_from=of_kind("started_from", plan.started_from, str),
        layer_form=of_kind("layer_form", plan.layer_form, str),
    )
