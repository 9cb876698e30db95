"""Every method that can explain a translator, held against true links of words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import pellucid
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.explaining.inputs.readings import supported_methods
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.writing.links import Links, link_counts, linked_words
from studies.shared.units import Numbers

SETTINGS: dict[str, dict[str, Any]] = {
    "span_attention": {},
    "occlusion": {},
    "gradient": {},
    "gradient_x_input": {},
}
SETTINGS |= {"integrated_gradients": {"n_steps": 16}, "relevance": {}}


def methods_of(model: Model) -> list[tuple[str, dict[str, Any]]]:
    """The methods of the table, and every one that reads attention, where the model has what they need."""
    able = [str(name) for name in supported_methods(model)]
    return [
        (name, SETTINGS.get(name, {}))
        for name in able
        if name in SETTINGS or "attention" in attributions.get(name).facts["needs"]
    ]


def judged(model: Model, pairs: Sequence[Example], links: Sequence[Links]) -> Numbers:
    """methods: title -> [pair 7], as `link_counts` has it. left_out: title -> why it explains no words of this model.

    carried: the median share of a word's lead that went through the spans, over words that lead.
    """
    counts: dict[str, list[list[float]]] = {}
    left_out: dict[str, str] = {}
    for name, settings in methods_of(model):
        try:  # a capability says that a method runs, and not that it has a score for each written word
            _explained(model, pairs[:1], name, settings)
        except (ModelCannot, BadInput) as error:
            left_out[name] = str(error)
            continue
        tables = _explained(model, pairs, name, settings)
        counts[name] = link_counts(tables, links).tolist()
    return {"methods": counts, "left_out": left_out, "carried": _carried(model, pairs)}


def _explained(model: Model, pairs: Sequence[Example], name: str, settings: dict[str, Any]) -> list[np.ndarray]:
    """For each pair [target word, source word]."""
    return [linked_words(one) for one in pellucid.explain(model, pairs, name, progress=False, **settings)]


def _carried(model: Model, pairs: Sequence[Example]) -> float | None:
    explanations = pellucid.explain(model, pairs, "span_attention", progress=False, random_spans=0)
    shares = [facts["carried"] for one in explanations for facts in one.row_diagnostics if "carried" in facts]
    return float(np.median(shares)) if shares else None
