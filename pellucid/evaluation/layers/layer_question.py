"""Which explanations a layer analysis needs of one training of one model: texts, method, target and rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pellucid.core.explaining.diagnostics import route_record
from pellucid.core.explaining.explaining import Request, explain_batch
from pellucid.core.foundation.errors import BadSetting, ModelCannot
from pellucid.core.foundation.kinds import STATE_VECTOR, attributions
from pellucid.core.foundation.packages import __version__
from pellucid.core.foundation.progress import silent
from pellucid.core.foundation.wording import listed, quoted
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.results.explanation import Explanation
from pellucid.core.states.hidden_target import HiddenState
from pellucid.core.text.example import Example
from pellucid.core.text.ranges import is_each
from pellucid.evaluation.layers.step_rows import in_step_rows

PART = 4  # texts that are explained and written together: less than a minute of work


@dataclass(frozen=True)
class LayerQuestion:
    """request: one model, one method, the target. row: what the only row of a single layer is called, or None.

    each_step: a row for the state at each step of a text, in place of the target's positions.
    """

    request: Request
    examples: tuple[Example, ...]
    row: str | None = None
    each_step: bool = False

    @property
    def n_parts(self) -> int:
        """How many parts the texts are cut into."""
        return -(-len(self.examples) // PART)

    def part(self, number: int) -> tuple[Example, ...]:
        """The texts of one part."""
        return self.examples[number * PART : (number + 1) * PART]

    def explained(self, number: int) -> list[Explanation]:
        """The explanations of one part's texts, each with rows; they do not depend on other parts."""
        if self.each_step:
            return in_step_rows(self.request, self.part(number))
        model = self.request.model
        batch = model.encode(self.part(number))
        (explanations,) = explain_batch(self.request, batch, scheduler_for(model), silent).values()
        return [self._with_rows(one) for one in explanations]

    def facts(self) -> dict[str, object]:
        """Everything that the explanations depend on but the texts, in JSON's terms."""
        (call,) = self.request.calls
        rows: dict[str, object] = {"rows": "steps"} if self.each_step else {}
        return rows | {
            "version": __version__,
            "model": self.request.model_hash,
            **route_record(self.request.model),
            "method": call.entry.name,
            "settings": {name: repr(value) for name, value in call.settings.items()},
            "target": repr(self.request.target),
            "row": self.row,
            "seed": self.request.seed,
        }

    def _with_rows(self, explanation: Explanation) -> Explanation:
        """The explanation with a row of its own where one layer alone was explained."""
        if explanation.rows and explanation.rows[0][0] == "layer":
            return explanation
        if explanation.rows or self.row is None:
            raise BadSetting(_no_layers(explanation.method))
        return replace(explanation, rows=(("layer", (self.row,)),), scores=explanation.scores[None])


def layer_settings(method: str, layers: int | str) -> tuple[bool, dict[str, object]]:
    """Whether the method reads states as vectors, and else the setting that names its layers.

    Raises `BadSetting` for a method that explains no layer, with those that do.
    """
    entry = attributions.get(method)
    if entry.facts["reads"] == STATE_VECTOR:
        return True, {}
    if not _names_layers(method):
        raise BadSetting(_no_layers(entry.name))
    return False, {"layer": layers}


def check_layers(request: Request, layers: int | str) -> None:
    """Raise `ModelCannot` for a model whose windows are joined, `BadSetting` where there is no such layer."""
    model = request.model
    if "hidden_states" not in model.capabilities:
        raise ModelCannot(
            f"{model.name} shows no hidden states of layers; a model that joins windows or a function has none. Give a "
            "classifier whose texts fit one window."
        )
    if isinstance(layers, int) and not 0 <= layers <= model.n_layers:
        raise BadSetting(
            f"layers={layers} is no layer of {model.name}; give a number from 0 to {model.n_layers}, or all."
        )


def checked_target(positions: str | Sequence[int], layers: int | str) -> HiddenState:
    """The hidden states as a target; raises `BadSetting` for other layers or positions.

    positions "each" stands for the state at each step: they are put in later, and one layer must be named.
    """
    if is_each(positions) and (isinstance(layers, bool) or not isinstance(layers, int)):
        raise BadSetting(
            f"positions='each' makes a row for each step of one layer, and layers={quoted(layers)} names several or none; give "
            "the number of one."
        )
    return HiddenState(layers, "last" if is_each(positions) else positions)  # type: ignore[arg-type]  # it checks them itself


def check_steps(method: str, positions: str | Sequence[int], reads_states: bool) -> bool:
    """Whether rows are steps; raises `BadSetting` for a method that reads no states, which cannot explain that of a step."""
    if is_each(positions) and not reads_states:
        names = [
            name for name in attributions.names() if attributions.get(name).facts["reads"] == STATE_VECTOR
        ]
        raise BadSetting(
            f"{method} explains no state of a step; with positions='each' give one of: {listed(names)}."
        )
    return is_each(positions)


def _names_layers(method: str) -> bool:
    return "layer" in attributions.get(method).defaults and attributions.get(method).facts["units"] != "span"


def _no_layers(method: str) -> str:
    names = attributions.names()
    fitting = [
        name for name in names if attributions.get(name).facts["reads"] == STATE_VECTOR or _names_layers(name)
    ]
    return f"{method} gives no scores a layer. Methods that do: {', '.join(fitting)}."
