"""The models of the study: a plain one, span models with one lever more or less, and rivals on the same encoder."""

from dataclasses import dataclass, field
from typing import Any

SHARE = 0.5  # of the texts that an objective reads in a step
WITHIN_SHARE: dict[str, Any] = {"n_spans": 2, "share": SHARE}
# Written out, so that finished runs stay valid when the recipe of `pellucid train` changes.
TWO_SHORT: dict[str, Any] = {"n_heaviest": 2, "max_width": 4}
BELIEVABLE: dict[str, Any] = {
    "penalties": {"entropy": 0.1},
    "sharp_from": 0.33,
    "objectives": {"read_alone": 1.0},
    "objectives_from": 0.5,
    "objective_settings": {"read_alone": WITHIN_SHARE},
}
ENTROPY: dict[str, Any] = {"penalties": {"entropy": 0.1}}


@dataclass(frozen=True)
class JudgedModel:
    """title: for tables. pooler, pooler_settings, layer_form: of the plan. recipe: what differs from the corpus's recipe.

    cut_by: the extractor that cuts all texts by the plain model of the same seed before this one reads them; "": it reads whole texts.
    """

    title: str
    pooler: str = "span"
    pooler_settings: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    layer_form: str = ""
    cut_by: str = ""

    @property
    def has_spans(self) -> bool:
        """Whether it has weights of spans, whose heaviest are judged."""
        return self.pooler == "span"

    @property
    def method(self) -> str | None:
        """The method by which it explains itself; None of a plain one."""
        return (
            {"span": "span_attention", "rationale": "rationale"}.get(self.pooler) or self.layer_form or None
        )


def _spans(title: str, pooler_settings: dict[str, Any], **changes: Any) -> JudgedModel:
    """A believable model with other pooler settings besides its own, or other fields of its recipe."""
    return JudgedModel(title, "span", TWO_SHORT | pooler_settings, BELIEVABLE | changes)


def _taught(title: str, objectives: dict[str, float], settings: dict[str, Any]) -> JudgedModel:
    """A believable model with other objectives. settings: of those whose settings are not the recipe's."""
    of_objectives = {**BELIEVABLE["objective_settings"], **settings}
    own = {name: of_objectives[name] for name in objectives if name in of_objectives}
    return _spans(title, {}, objectives=objectives, objective_settings=own)


READ_ALONE: dict[str, float] = BELIEVABLE["objectives"]
MARGINS = {"comprehensiveness_margin": 0.5, "sufficiency_margin": 0.5}
OF_MARGINS = {name: {"share": 0.25} for name in MARGINS}  # up to five passes a text
MODELS: dict[str, JudgedModel] = {
    "plain": JudgedModel("plain", "first_token"),
    "entropy": JudgedModel("entropy × 0.1, the default", recipe=ENTROPY),
    "sun2020": JudgedModel("the paper's, λ = 1", recipe={"penalties": {"concentration": 1.0}}),
    "believable": _spans("believable", {}),
    "no_read_alone": _taught("believable without read_alone", {}, {}),
    "leave_out": _taught(
        "believable with leave_out × 0.5", {**READ_ALONE, "leave_out": 0.5}, {"leave_out": WITHIN_SHARE}
    ),
    "leave_out_alone": _taught(
        "believable, leave_out × 0.5 for read_alone", {"leave_out": 0.5}, {"leave_out": WITHIN_SHARE}
    ),
    "not_late": _spans("believable, all from the first step", {}, sharp_from=0.0, objectives_from=0.0),
    "all_spans": _spans("believable, answer by all spans", {"n_heaviest": None}),
    "any_width": _spans("believable, spans of any width", {"max_width": None}),
    "number": _spans(
        "believable, two spans held by their number",
        {"n_heaviest": None},
        penalties={},
        spans=2.0,
        sharp_from=0.0,
    ),
    "with_content": _spans("believable, spans with content", {"spans": "with_content"}),
    "layer_3": _spans("believable, states of layer 3", {"layer": 3}),
    "same_spans": _taught(
        "believable with same_spans × 0.5",
        {**READ_ALONE, "same_spans": 0.5},
        {"same_spans": {"share": SHARE}},
    ),
    "quarter": _taught(
        "believable, a quarter of the texts read again",
        READ_ALONE,
        {"read_alone": {"n_spans": 2, "share": 0.25}},
    ),
    "soft": _taught(
        "believable, soft_sufficiency for read_alone",
        {"soft_sufficiency": 1.0},
        {"soft_sufficiency": {"share": SHARE}},
    ),
    # Of the two heaviest spans alone, marks would teach nothing where neither lies in them.
    "marked": _spans(
        "believable, answer by all spans, with marked × 1",
        {"n_heaviest": None},
        objectives={**READ_ALONE, "marked": 1.0},
    ),
    "unirex": JudgedModel(
        "UNIREX's margins", recipe=ENTROPY | {"objectives": MARGINS, "objective_settings": OF_MARGINS}
    ),
    "unirex_marked": JudgedModel(
        "UNIREX's margins and marks",
        recipe=ENTROPY | {"objectives": {**MARGINS, "marked": 0.5}, "objective_settings": OF_MARGINS},
    ),
    "rationale": JudgedModel("rationale model", "rationale", {"coverage": 0.2}),
    # Jain et al. (2020), FRESH: attention of one model cuts the texts, another learns and answers from the cuts alone.
    "fresh": JudgedModel("FRESH, a fifth of the words", "first_token", cut_by="average_attention"),
    "b_cos": JudgedModel("B-cos layers", "first_token", layer_form="b_cos"),
}
LEVERS = tuple(name for name in MODELS if name not in ("marked", "unirex_marked"))
