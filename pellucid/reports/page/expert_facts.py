"""The facts an expert needs to judge and repeat explanations, folded away."""

from collections.abc import Mapping, Sequence
from typing import Any

from pellucid.core.results.explanation import Explanation
from pellucid.reports.markup.html import Markup, element, name
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import number, percent, signed

HASH_SHOWN = 12


def pairs(held: Mapping[str, Any]) -> str:
    """A mapping in one line: n_steps = 32, baselines = pad"""
    return ", ".join(f"{key} = {_value(value)}" for key, value in held.items()) or "–"


def expert_facts(explanations: Sequence[Explanation]) -> Markup:
    """Models with their digests and probabilities; each method's target, seed, settings and diagnostics."""
    head = element("tr", *(element("th", title, scope="col") for title in _COLUMNS))
    rows = [_row(found) for found in explanations]
    table = element("table", element("thead", head), element("tbody", *rows))
    models = {found.model_hash: found for found in explanations}
    return element(
        "details",
        element("summary", "Facts for the expert"),
        *(_model(found) for found in models.values()),
        element(
            "div", table, class_="pl-scroll", tabindex=0, role="region", aria_label="Settings of each method"
        ),
        class_="pl-expert",
    )


_COLUMNS = ("method", "explained", "value", "seed", "settings", "diagnostics")


def _row(found: Explanation) -> Markup:
    target = found.target
    held = (
        str(target),
        signed(target.value),
        str(found.seed),
        pairs(found.settings),
        pairs(found.diagnostics),
    )
    heading = element("th", name(readable(found.method)), scope="row")
    return element("tr", heading, *(element("td", name(text)) for text in held))


def _model(found: Explanation) -> Markup:
    prediction = found.prediction
    chances = zip(prediction.labels, prediction.probabilities, strict=False)
    said = ", ".join(f"{label} {percent(chance)}" for label, chance in chances)
    digest = element("span", found.model_hash[:HASH_SHOWN], title=found.model_hash, class_="pl-code")
    return element("p", "Model ", name(found.model), ", digest ", digest, ". ", name(said), class_="pl-note")


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else number(value)
    return str(value)
