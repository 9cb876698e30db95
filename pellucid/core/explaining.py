"""From texts to explanations: group the texts, check parity, run the methods, keep everything with the result."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

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
from pellucid.core.stitching import stitched
from pellucid.core.target import ResolvedTarget, Target, class_logits, class_probabilities
from pellucid.core.windows import in_windows
from pellucid.core.wording import quoted


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
    """For each method's title, one explanation an example, in order; several methods share their passes.

    Texts longer than the model reads are explained window by window and stitched.
    """
    between("seed", request.seed, 0, HIGHEST_SEED)
    if not len(batch):
        return {call.title: [] for call in request.calls}
    windows, owners = in_windows(batch)
    told = _ask(request, windows, owners)
    found: dict[str, list[Explanation | None]] = {call.title: [None] * len(windows) for call in request.calls}
    done = 0

    def run(indices: list[int]) -> None:
        with torch.inference_mode(False):  # gradients work whatever mode the caller is in
            for call, explanations in _explain_group(
                request, windows.select(indices), told.select(indices), scheduler
            ):
                for index, explanation in zip(indices, explanations, strict=True):
                    found[call.title][index] = explanation

    for pack in scheduler.packs(windows.lengths):
        scheduler.halving(pack, run)
        done += len(pack)
        progress("explaining", done, len(windows))
    return {title: _stitched(parts, owners, batch) for title, parts in found.items()}  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Told:
    """What the model itself says: plain logits of each row, those of the row's whole text, and the target."""

    plain: Tensor
    whole: Tensor
    target: ResolvedTarget

    def select(self, indices: Sequence[int]) -> "_Told":
        """What it says of these rows."""
        return _Told(self.plain[list(indices)], self.whole[list(indices)], self.target.select(indices))


def _ask(request: Request, windows: Batch, owners: Sequence[int]) -> _Told:
    """Ask the model about every row, and fix each text's class by the mean of its rows."""
    model = request.model
    said = [
        _plain_logits(model, windows.select(list(rows)))
        for _, rows in groupby(range(len(owners)), owners.__getitem__)
    ]
    plain = torch.cat(said).cpu()
    whole = torch.cat([logits.mean(0, keepdim=True).expand_as(logits) for logits in said]).cpu()
    return _Told(plain, whole, request.target.resolve(windows.examples, whole, model.labels, model.problem))


def _plain_logits(model: Model, windows: Batch) -> Tensor:
    """[row logit]: what the model says of one text's windows, or of the text itself."""
    parts = [part for part in windows.parts if part is not None]
    if parts:
        return model.plain_window_logits(windows.examples[0], parts)
    return model.plain_logits(windows.examples[0])[None]


def _stitched(parts: Sequence[Explanation], owners: Sequence[int], batch: Batch) -> list[Explanation]:
    of: list[list[Explanation]] = [[] for _ in range(len(batch))]
    for owner, part in zip(owners, parts, strict=True):
        of[owner].append(part)
    return [stitched(windows, units) for windows, units in zip(of, batch.units, strict=True)]


def _explain_group(
    request: Request, group: Batch, told: _Told, scheduler: Scheduler
) -> Iterator[tuple[Call, list[Explanation]]]:
    model = request.model
    forward = ForwardPass(model, group, scheduler, request.seed)
    if any("gradient" in call.entry.facts["needs"] for call in request.calls):
        _ = forward.trace  # one pass with a graph serves everybody; the guard then checks that very pass
    residuals = check_parity(model, group.examples, forward.logits.cpu(), told.plain)
    for call in request.calls:
        scores = call(forward, told.target)
        yield (
            call,
            [_explanation(request, call, group, n, told, residuals[n], scores) for n in range(len(group))],
        )


def _explanation(
    request: Request,
    call: Call,
    group: Batch,
    number: int,
    told: _Told,
    parity: float,
    scores: Scores,
) -> Explanation:
    model, values = request.model, scores.values[number].detach().float().cpu().numpy()
    diagnostics = {"parity": parity, **(scores.diagnostics[number] if scores.diagnostics else {})}
    caveats = list(scores.caveats[number]) if scores.caveats else []
    if not np.isfinite(values).all():
        raise ModelCannot(
            f"{call.title} gave scores that are not finite numbers for example {quoted(group.examples[number].id)}."
        )
    if not values.any():
        caveats.append("All scores are 0: the method found nothing that the target depends on.")
    return Explanation(
        example=group.examples[number],
        units=group.units[number] if scores.units is None else scores.units[number],
        scores=values,
        rows=scores.rows,
        target=_explained(told.target, number, told.plain[number], model.labels),
        prediction=predict(told.whole[number], model),
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
