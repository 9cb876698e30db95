"""The models of the study: a plain one, span models with one lever more or less, and rivals on the same encoder."""

from dataclasses import dataclass, field
from typing import Any

SHARE = 0.5  # of the texts that an objective reads in a step
WITHIN_SHARE: dict[str, Any] = {"n_spans": 2, "share": SHARE}
# Written out, so that finished runs stay valid when the recipe of `pellucid train` changes.
TWO_SHORT: dict[str, Any] = {"n_heaviest": 2, "max_width": 4, "spans": "with_content"}
BELIEVABLE: dict[str, Any] = {
    "penalties": {},
    "sharp_from": 0.33,
    "objectives": {"answer_by_all_spans": 1.0, "read_alone": 1.0},
    "objectives_from": 0.33,
    "objective_settings": {"read_alone": WITHIN_SHARE},
}
ENTROPY: dict[str, Any] = {"penalties": {"entropy": 0.1}}


@dataclass(frozen=True)
class JudgedModel:
    """title: for tables. pooler, pooler_settings, layer_form: of the plan. recipe: what differs from the corpus's
    recipe.

    cut_by: the extractor that cuts all texts by the plain model of the same seed before this one reads them; "": it
    reads whole texts.
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
        return {"span": "span_attention", "rationale": "rationale"}.get(self.pooler) or self.layer_form or None


def _spans(title: str, pooler_settings: dict[str, Any], **changes: Any) -> JudgedModel:
    """A believable model with other pooler settings besides its own, or other fields of its recipe."""
    return JudgedModel(title, "span", TWO_SHORT | pooler_settings, BELIEVABLE | changes)


def _by_all_spans(title: str, objectives: dict[str, float], **changes: Any) -> JudgedModel:
    """A believable model that answers by all its spans, with another way to sharpen their weights."""
    return _spans(title, {"n_heaviest": None}, objectives=objectives, **changes)


def _taught(title: str, objectives: dict[str, float], settings: dict[str, Any]) -> JudgedModel:
    """A believable model with other objectives. settings: of those whose settings are not the recipe's."""
    of_objectives = {**BELIEVABLE["objective_settings"], **settings}
    own = {name: of_objectives[name] for name in objectives if name in of_objectives}
    return _spans(title, {}, objectives=objectives, objective_settings=own)


READ_ALONE = {"read_alone": 1.0}
BOTH: dict[str, float] = BELIEVABLE["objectives"]
DOSES = (50, 200, 1_000)  # how many marked texts are learnt from


def _marked(title: str, settings: dict[str, Any]) -> JudgedModel:
    """A believable model that also learns from marks. settings: of that objective."""
    marked = {"marked": settings} if settings else {}
    return _taught(f"believable with marked × 1, {title}", {**BOTH, "marked": 1.0}, marked)


MARGINS = {"comprehensiveness_margin": 0.5, "sufficiency_margin": 0.5}
OF_MARGINS = {name: {"share": 0.25} for name in MARGINS}  # up to five passes a text
MODELS: dict[str, JudgedModel] = {
    "plain": JudgedModel("plain", "first_token"),
    "entropy": JudgedModel("entropy × 0.1", recipe=ENTROPY),
    "sun2020": JudgedModel("the paper's, λ = 1", recipe={"penalties": {"concentration": 1.0}}),
    "believable": _spans("believable", {}),
    "no_read_alone": _taught("believable without read_alone", {"answer_by_all_spans": 1.0}, {}),
    "no_second_answer": _taught("believable without answer_by_all_spans", READ_ALONE, {}),
    "leave_out": _taught("believable with leave_out × 0.5", {**BOTH, "leave_out": 0.5}, {"leave_out": WITHIN_SHARE}),
    "read_alone_3": _taught(
        "believable with read_alone × 3, all texts",
        {**BOTH, "read_alone": 3.0},
        {"read_alone": {"n_spans": 2, "share": 1.0}},
    ),
    "attributed": _taught("believable with attributed × 1", {**BOTH, "attributed": 1.0}, {"attributed": WITHIN_SHARE}),
    "attributed_3": _taught(
        "believable with attributed × 3, all texts",
        {**BOTH, "attributed": 3.0},
        {"attributed": {"n_spans": 2, "share": 1.0}},
    ),
    "not_late": _spans("believable, all from the first step", {}, sharp_from=0.0, objectives_from=0.0),
    "all_spans": _by_all_spans("believable, answer by all spans, entropy × 0.1", READ_ALONE, **ENTROPY),
    "number": _by_all_spans("believable, two spans held by their number", READ_ALONE, spans=2.0, sharp_from=0.0),
    "one_span": _spans("believable, answer by one span", {"n_heaviest": 1}),
    "any_width": _spans("believable, spans of any width", {"max_width": None}),
    "any_words": _spans("believable, also spans without content", {"spans": "all"}),
    "layer_3": _spans("believable, states of layer 3", {"layer": 3}),
    "same_spans": _taught(
        "believable with same_spans × 0.5", {**BOTH, "same_spans": 0.5}, {"same_spans": {"share": SHARE}}
    ),
    "soft": _taught(
        "believable, soft_sufficiency for read_alone",
        {"answer_by_all_spans": 1.0, "soft_sufficiency": 1.0},
        {"soft_sufficiency": {"share": SHARE}},
    ),
    "marked": _marked("all marked texts", {}),
    **{f"marked_{count}": _marked(f"{count:,} marked texts", {"n_marked": count}) for count in DOSES},
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
LEVERS = tuple(name for name in MODELS if "marked" not in name)
