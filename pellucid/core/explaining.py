"""From texts to explanations: group the texts, check parity, run the methods, keep everything with the result."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from pellucid.core.batch import Batch
from pellucid.core.catalogue import Call, Choice
from pellucid.core.checks import between
from pellucid.core.errors import ModelCannot
from pellucid.core.explanation import Explained, Explanation, Prediction
from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Model, Scores
from pellucid.core.parity import check_parity
from pellucid.core.progress import Progress
from pellucid.core.scheduler import Scheduler
from pellucid.core.seeds import HIGHEST_SEED
from pellucid.core.target import ResolvedTarget, Target, class_logits, class_probabilities


def method_calls(choices: Iterable[Choice], model: Model) -> list[Call]:
    """Look methods up; raises `UnknownName`, or `ModelCannot` with the methods that would work."""
    calls = attributions.calls(choices)
    for call in calls:
        lacking = call.entry.facts["needs"] - model.capabilities
        if lacking:
            possible = [
                name
                for name in attributions.names()
                if not attributions.get(name).facts["needs"] - model.capabilities
            ]
            raise ModelCannot(
                f"{call.entry.name} needs {', '.join(sorted(lacking))}, which {model.name} does not have. "
                f"Methods that work with it: {', '.join(possible)}."
            )
    return calls


@dataclass(frozen=True)
class Request:
    """What is asked of one model for a set of examples."""

    model: Model
    calls: Sequence[Call]
    target: Target
    seed: int

    @cached_property
    def model_hash(self) -> str:
        """The model's digest at the time of the request."""
        return self.model.hash


def explain_batch(
    request: Request, batch: Batch, scheduler: Scheduler, progress: Progress
) -> dict[str, list[Explanation]]:
    """For each method's title, one explanation an example, in order; several methods share their passes."""
    between("seed", request.seed, 0, HIGHEST_SEED)
    found: dict[str, list[Explanation | None]] = {call.title: [None] * len(batch) for call in request.calls}
    done = 0

    def run(indices: list[int]) -> None:
        group = batch.select(indices)
        with torch.inference_mode(False):  # gradients work whatever mode the caller is in
            for call, explanations in _explain_group(request, group, scheduler):
                for index, explanation in zip(indices, explanations, strict=True):
                    found[call.title][index] = explanation

    for pack in scheduler.packs(batch.lengths):
        scheduler.halving(pack, run)
        done += len(pack)
        progress("explaining", done, len(batch))
    return found  # type: ignore[return-value]


def _explain_group(
    request: Request, group: Batch, scheduler: Scheduler
) -> Iterator[tuple[Call, list[Explanation]]]:
    model = request.model
    forward = ForwardPass(model, group, scheduler, request.seed)
    if any("gradient" in call.entry.facts["needs"] for call in request.calls):
        _ = (
            forward.trace
        )  # one pass with a graph serves everybody; the parity guard then checks that very pass
    plain = torch.stack([model.plain_logits(example) for example in group.examples]).cpu()
    residuals = check_parity(model, group.examples, forward.logits.cpu(), plain)
    target = request.target.resolve(group.examples, plain, model.labels, model.problem)
    for call in request.calls:
        scores = call(forward, target)
        yield (
            call,
            [
                _explanation(request, call, group, number, target, plain[number], residuals[number], scores)
                for number in range(len(group))
            ],
        )


def _explanation(
    request: Request,
    call: Call,
    group: Batch,
    number: int,
    target: ResolvedTarget,
    logits: Tensor,
    parity: float,
    scores: Scores,
) -> Explanation:
    model, values = request.model, scores.values[number].detach().float().cpu().numpy()
    diagnostics = {"parity": parity, **(scores.diagnostics[number] if scores.diagnostics else {})}
    caveats = list(scores.caveats[number]) if scores.caveats else []
    if not np.isfinite(values).all():
        raise ModelCannot(
            f"{call.title} gave scores that are not finite numbers for example {group.examples[number].id!r}."
        )
    if not values.any():
        caveats.append("All scores are 0: the method found nothing that the target depends on.")
    return Explanation(
        example=group.examples[number],
        units=group.units[number] if scores.units is None else scores.units[number],
        scores=values,
        rows=scores.rows,
        target=_explained(target, number, logits, model.labels),
        prediction=predict(logits, model),
        method=call.title,
        settings=json.loads(json.dumps(dict(call.settings))),
        seed=request.seed,
        model=model.name,
        model_hash=request.model_hash,
        diagnostics=diagnostics,
        caveats=tuple(caveats),
    )


def _explained(target: ResolvedTarget, number: int, logits: Tensor, labels: Sequence[str]) -> Explained:
    against = None if target.against is None else labels[target.against[number]]
    value = float(target.values_of(number, logits[None].double()))
    return Explained(labels[target.classes[number]], against, target.output, value)


def predict(logits: Tensor, model: Model) -> Prediction:
    """What logits [logit] say: the highest class, and one probability a class."""
    logits = logits.double()
    best = int(class_logits(logits, model.problem).argmax())
    chances = (
        () if model.problem == "regression" else tuple(class_probabilities(logits, model.problem).tolist())
    )
    return Prediction(model.labels[best], model.labels, tuple(logits.tolist()), chances)
