"""The models of the study: a plain one, span models with one lever more or less, and rivals on the same encoder."""

from dataclasses import dataclass, field
from typing import Any

SHARE = 0.25  # of the texts that an objective reads in a step
WITHIN_SHARE: dict[str, Any] = {"n_spans": 2, "share": SHARE}
# Written out, so that finished runs stay valid when the recipe of `pellucid train` changes.
BELIEVABLE: dict[str, Any] = {
    "penalties": {},
    "spans": 2.0,
    "objectives": {"read_alone": 1.0, "leave_out": 0.5},
    "objective_settings": {"read_alone": WITHIN_SHARE, "leave_out": WITHIN_SHARE},
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


def _with(title: str, objectives: dict[str, float], settings: dict[str, Any], **own: Any) -> JudgedModel:
    """A believable model with other objectives. settings: of those whose settings are not the recipe's."""
    of_objectives = {**BELIEVABLE["objective_settings"], **settings}
    recipe = BELIEVABLE | {
        "objectives": objectives,
        "objective_settings": {name: of_objectives[name] for name in objectives if name in of_objectives},
    }
    return JudgedModel(title, recipe=recipe | own)


BOTH: dict[str, float] = BELIEVABLE["objectives"]
MARGINS = {"comprehensiveness_margin": 0.5, "sufficiency_margin": 0.5}
OF_MARGINS = {name: {"share": SHARE} for name in MARGINS}
MODELS: dict[str, JudgedModel] = {
    "plain": JudgedModel("plain", "first_token"),
    "entropy": JudgedModel("entropy × 0.1, the default", recipe=ENTROPY),
    "sun2020": JudgedModel("the paper's, λ = 1", recipe={"penalties": {"concentration": 1.0}}),
    "believable": JudgedModel("believable", recipe=BELIEVABLE),
    "no_read_alone": _with("believable without read_alone", {"leave_out": BOTH["leave_out"]}, {}),
    "no_leave_out": _with("believable without leave_out", {"read_alone": BOTH["read_alone"]}, {}),
    "no_number": _with(
        "believable, entropy × 0.1 for the number of spans", BOTH, {}, spans=None, penalties={"entropy": 0.1}
    ),
    "number_alone": _with("the number of spans alone", {}, {}),
    "with_content": JudgedModel(
        "believable, spans with content", "span", {"spans": "with_content"}, BELIEVABLE
    ),
    "layer_3": JudgedModel("believable, states of layer 3", "span", {"layer": 3}, BELIEVABLE),
    "n_heaviest": JudgedModel(
        "believable, answer by the two heaviest", "span", {"n_heaviest": 2}, BELIEVABLE
    ),
    "same_spans": _with(
        "believable with same_spans × 0.5", {**BOTH, "same_spans": 0.5}, {"same_spans": {"share": SHARE}}
    ),
    "eighth": _with(
        "believable, an eighth of the texts read again",
        BOTH,
        {name: {"n_spans": 2, "share": 0.125} for name in BOTH},
    ),
    "soft": _with(
        "believable, soft_sufficiency for read_alone",
        {"soft_sufficiency": 1.0, "leave_out": BOTH["leave_out"]},
        {"soft_sufficiency": {"share": SHARE}},
    ),
    "marked": _with("believable with marked × 1", {**BOTH, "marked": 1.0}, {}),
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
