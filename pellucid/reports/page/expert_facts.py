"""The facts an expert needs to judge and repeat explanations, folded away."""

from collections.abc import Mapping, Sequence

from pellucid.core.results.explanation import Explanation
from pellucid.reports.markup.html import Markup, element, name
from pellucid.reports.markup.tables import header_row, scroll_box, table
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import number, percent, signed

COLUMNS = ("method", "explained", "value", "seed", "settings", "diagnostics")


def pairs(values: Mapping[str, object]) -> str:
    """A mapping in one line: n_steps = 32, baselines = pad"""
    return ", ".join(f"{key} = {_value(value)}" for key, value in values.items()) or "–"


def expert_facts(explanations: Sequence[Explanation]) -> Markup:
    """Models with their digests and probabilities; each method's target, seed, settings and diagnostics."""
    models = {one.model_hash: one for one in explanations}
    return element(
        "details",
        element("summary", "Facts for the expert"),
        *(_model(one) for one in models.values()),
        scroll_box(table(header_row(COLUMNS), map(_row, explanations)), "Settings of each method"),
        class_="pl-expert",
    )


def _row(explanation: Explanation) -> Markup:
    target = explanation.target
    cells = (
        str(target),
        signed(target.value),
        str(explanation.seed),
        pairs(explanation.settings),
        pairs(explanation.diagnostics),
    )
    heading = element("th", name(readable(explanation.method)), scope="row")
    return element("tr", heading, *(element("td", name(text)) for text in cells))


def _model(explanation: Explanation) -> Markup:
    prediction, digest = explanation.prediction, explanation.model_hash
    probabilities = ", ".join(
        f"{label} {percent(probability)}"
        for label, probability in zip(prediction.labels, prediction.probabilities, strict=False)
    )
    code = element("span", digest, class_="pl-code")
    model = ("Model ", name(explanation.model), ", digest ", code, ". ", name(probabilities))
    return element("p", *model, class_="pl-note")


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else number(value)
    return str(value)
