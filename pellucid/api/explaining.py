"""The doors `explain` and `explain_all`: one method or several, on texts."""

from collections.abc import Iterable
from typing import Any

from pellucid.api.choosing import methods_to_run
from pellucid.core.explaining.explaining import Request, explain_batch, left_out, method_calls
from pellucid.core.foundation.catalogue import Call, Choice
from pellucid.core.foundation.errors import BadSetting, ModelCannot, ParityBroken
from pellucid.core.passes.hidden_target import HiddenState
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import Output, Target, TargetName
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.side_by_side import SideBySide
from pellucid.core.text.example import Texts, as_examples
from pellucid.reports.terminal.progress_bar import progress_bar


def explain(
    model: Model,
    texts: Texts,
    method: str = "integrated_gradients",
    *,
    target: TargetName | HiddenState = "predicted",
    output: Output = "logit",
    seed: int = 0,
    progress: bool | None = None,
    **settings: Any,
) -> list[Explanation]:
    """One explanation a text, in order; settings are the method's own (see `methods`).

    texts: strings, pairs, or examples. target: "predicted", "gold", a class name or number, or a pair "why A, not
    B"; or `HiddenState(layer, positions)`. output: "logit", "probability" or "loss". progress: draw a bar (None: when a terminal is watching).
    Raises `ParityBroken` when the explained pass is not the model's own answer.
    """
    found = explain_all(
        model,
        texts,
        [(method, settings) if settings else method],
        target=target,
        output=output,
        seed=seed,
        progress=progress,
    )
    return next(iter(found.values()))


def explain_all(
    model: Model,
    texts: Texts,
    methods: Iterable[Choice] | None = None,
    *,
    target: TargetName | HiddenState = "predicted",
    output: Output = "logit",
    seed: int = 0,
    progress: bool | None = None,
) -> SideBySide:
    """Several methods on the same texts, sharing their passes: a mapping, method's title -> one explanation a text.

    methods: names, or (name, settings) pairs. "all", which is also meant by None, stands for every method that the model
    supports and that is not named besides, without those that run only when they are named; one of these that finds at
    work that it cannot explain the model is left out, while a named one raises `ModelCannot`. The answer draws itself,
    methods side by side; its left_out says which methods are missing, and why.
    """
    chosen, by_all = methods_to_run(model, methods)
    request = Request(model, method_calls(chosen, model), _what(target, output), seed)
    batch = model.encode(as_examples(texts))
    failed: dict[str, str] = {}

    def refused(call: Call, error: ModelCannot | ParityBroken) -> None:
        if call.entry.name not in by_all:
            raise error
        failed[call.entry.name] = f"does not work here: {error}"

    with progress_bar(progress) as told:
        found = explain_batch(request, batch, scheduler_for(model), told, refused)
    return SideBySide(found, left_out(model, request.calls) | failed)


def _what(target: TargetName | HiddenState, output: Output) -> Target | HiddenState:
    if not isinstance(target, HiddenState):
        return Target(target, output)
    if output != "logit":
        raise BadSetting(
            f"output={output!r} belongs to classes; a hidden state has no probability and no loss."
        )
    return target
