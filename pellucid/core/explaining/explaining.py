"""From texts to explanations: group the texts, check parity, run the methods, keep everything with the result."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from pellucid.core.explaining.stitching import stitched
from pellucid.core.foundation.catalogue import Call, Choice, Entry
from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import ModelCannot, ParityBroken
from pellucid.core.foundation.kinds import attributions
from pellucid.core.foundation.lazy_properties import cached_property
from pellucid.core.foundation.progress import Progress
from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.hidden_target import HiddenState
from pellucid.core.passes.model import Model, Scores
from pellucid.core.passes.parity import Guard, Said
from pellucid.core.passes.readout import LOGITS
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.passes.seeds import HIGHEST_SEED
from pellucid.core.passes.target import Explainable, Target, class_logits, class_probabilities
from pellucid.core.passes.window_answers import WindowAnswers
from pellucid.core.passes.windows import in_windows
from pellucid.core.results.explanation import Explanation, Prediction

HELD_FIXED = (
    "The words that the model chose to read are held fixed: the choice is a step, and has no gradient. Words that it did "
    "not read have none either."
)


def method_calls(choices: Iterable[Choice], model: Model) -> list[Call]:
    """Look methods up; raises `UnknownName`, or `ModelCannot` with the methods that would work."""
    calls = attributions.calls(choices)
    for call in calls:
        lacking = _lacking(call.entry, model)
        if lacking:
            possible = [name for name in attributions.names() if not _lacking(attributions.get(name), model)]
            raise ModelCannot(
                f"{call.entry.name} {lacking}. Methods that work with it: {', '.join(possible)}."
            )
    return calls


def left_out(model: Model, calls: Iterable[Call]) -> dict[str, str]:
    """Every method that is not among the calls -> why: the model lacks something, or nobody named the method."""
    run = {call.entry.name for call in calls}
    entries = [attributions.get(name) for name in attributions.names() if name not in run]
    return {entry.name: _lacking(entry, model) or _unasked(entry) for entry in entries}


def _lacking(entry: Entry, model: Model) -> str:
    """What the method needs and the model does not have, in words; empty where it has everything."""
    lacking = sorted(entry.facts["needs"] - model.capabilities)
    return f"needs {', '.join(lacking)}, which {model.name} does not have" if lacking else ""


def _unasked(entry: Entry) -> str:
    return "was not asked for" if entry.facts["usual"] else "runs only when it is named"


@dataclass(frozen=True)
class Request:
    """What is asked of one model for a set of examples."""

    model: Model
    calls: Sequence[Call]
    target: Target | HiddenState
    seed: int

    @cached_property
    def model_hash(self) -> str:
        """The model's digest at the time of the request."""
        return self.model.hash

    @property
    def reads_gradients(self) -> bool:
        """Whether a pass with a graph serves somebody."""
        return any("gradient" in call.entry.facts["needs"] for call in self.calls)

    @property
    def opens_attention(self) -> bool:
        """Whether attention weights are to be part of that graph."""
        return any({"gradient", "attention"} <= call.entry.facts["needs"] for call in self.calls)


Refused = Callable[[Call, ModelCannot | ParityBroken], None]


def _raised(call: Call, error: ModelCannot | ParityBroken) -> None:
    raise error


def explain_batch(
    request: Request, batch: Batch, scheduler: Scheduler, progress: Progress, refused: Refused = _raised
) -> dict[str, list[Explanation]]:
    """For each method's title, one explanation an example, in order; several methods share their passes.

    Texts longer than the model reads are explained window by window and stitched. refused: told of a method that
    finds, at work, that it cannot explain the model; a method that it does not raise for is left out.
    """
    between("seed", request.seed, 0, HIGHEST_SEED)
    if isinstance(request.target, HiddenState):
        request.target.check(request.model, batch)
    if not len(batch):
        return {call.title: [] for call in request.calls}
    windows, owners = in_windows(batch)
    rows, explained = _rows(request, windows)
    packs = [[rows[n] for n in pack] for pack in scheduler.packs_of([windows.rows[row] for row in rows])]
    guard = Guard(request.model, windows, owners, packs, scheduler.tokens)
    found: dict[str, dict[int, Explanation]] = {call.title: {} for call in request.calls}
    done = 0

    def run(indices: list[int]) -> None:
        with torch.inference_mode(False):  # gradients work whatever mode the caller is in
            for title, explanations in _explain_group(request, guard, indices, scheduler, refused):
                found[title] |= zip(indices, explanations, strict=True)

    for pack in packs:
        scheduler.halving(pack, run)
        done += len(pack)
        progress("explaining", done, len(rows))
    return {
        call.title: _stitched(
            call,
            {row: parts[row] for row in (explained if call.entry.facts["of_class"] else rows)},
            owners,
            batch,
            guard.worst,
        )
        for call in request.calls
        if len(parts := found[call.title]) == len(rows)
    }


def _rows(request: Request, windows: Batch) -> tuple[Sequence[int], Sequence[int]]:
    """The rows that run, and those among them that hold what is explained.

    They differ where a method reads no target, and so scores the whole text, beside one that does.
    """
    everything = range(len(windows))
    if not isinstance(request.target, HiddenState):
        return everything, everything
    explained = request.target.rows_read(windows)
    return (
        explained if all(call.entry.facts["of_class"] for call in request.calls) else everything
    ), explained


def _stitched(
    call: Call, parts: Mapping[int, Explanation], owners: Sequence[int], batch: Batch, worst: float
) -> list[Explanation]:
    """One explanation a text; worst: the largest residual of the guard's sample, for texts that were not in it."""
    of: list[list[Explanation]] = [[] for _ in range(len(batch))]
    for row, part in parts.items():
        own: dict[str, float] = {} if "parity" in part.diagnostics else {"parity_of_sample": worst}
        of[owners[row]].append(replace(part, diagnostics=own | dict(part.diagnostics)))
    shares = call.entry.facts["shares"]
    return [
        stitched(windows, units, shares, len(row.windows) or 1)
        for windows, units, row in zip(of, batch.units, batch.rows, strict=True)
    ]


def _explain_group(
    request: Request, guard: Guard, indices: list[int], scheduler: Scheduler, refused: Refused
) -> Iterator[tuple[str, list[Explanation]]]:
    model, group = request.model, guard.windows.select(indices)
    forward = ForwardPass(model, group, scheduler, request.seed, open_attention=request.opens_attention)
    if request.reads_gradients:
        _ = forward.trace  # one pass with a graph serves everybody; the guard then checks that very pass
    said = guard.said(indices, forward.logits)
    target = _resolved(request, forward, said)
    scheduler.remember(group.rows, forward.answers(target.readout).cpu(), target.readout.key)
    for call in request.calls:
        try:
            scores = call(forward, target)
            explanations = [
                _explanation(request, call, group, n, said, target, forward, scores)
                for n in range(len(group))
            ]
        except (ModelCannot, ParityBroken) as error:  # a pass of its own may differ from the model's answer
            refused(call, error)
        else:
            yield call.title, explanations


def _resolved(request: Request, forward: ForwardPass, said: Said) -> Explainable:
    """What is explained, fixed for each example by the model's own answer."""
    target, model = request.target, request.model
    if isinstance(target, HiddenState):
        return target.resolve(forward.answers(target.readout))
    resolved = target.resolve(forward.batch.examples, said.wholes, model.labels, model.problem)
    counts = [len(row.windows) or 1 for row in forward.batch.whole_rows]
    if max(counts) == 1:
        return resolved
    return replace(resolved, windows=WindowAnswers(said.wholes, said.rows, torch.tensor(counts)))


def _explanation(
    request: Request,
    call: Call,
    group: Batch,
    number: int,
    said: Said,
    target: Explainable,
    forward: ForwardPass,
    scores: Scores,
) -> Explanation:
    model, values = request.model, scores.values[number].detach().float().cpu().numpy()
    diagnostics = dict(scores.diagnostics[number]) if scores.diagnostics else {}
    parity = said.parity[number]
    if parity is not None:
        diagnostics = {"parity": parity, **diagnostics}
    caveats = list(scores.caveats[number]) if scores.caveats else []
    if not np.isfinite(values).all():
        raise ModelCannot(
            f"{call.title} gave scores that are not finite numbers for example {quoted(group.examples[number].id)}."
        )
    if {"rationale"} <= model.capabilities and "gradient" in call.entry.facts["needs"]:
        caveats.append(HELD_FIXED)
    if not values.any():
        caveats.append("All scores are 0: the method found nothing that the target depends on.")
    answers = said.rows if target.readout is LOGITS else forward.answers(target.readout)
    return Explanation(
        example=group.examples[number],
        units=group.units[number] if scores.units is None else scores.units[number],
        scores=values,
        rows=scores.rows,
        target=target.explained(number, answers[number], model.labels),
        prediction=predict(said.wholes[number], model),
        method=call.title,
        settings=json.loads(json.dumps(dict(call.settings))),
        seed=request.seed,
        model=model.name,
        model_hash=request.model_hash,
        diagnostics=diagnostics,
        caveats=tuple(caveats),
    )


def predict(logits: Tensor, model: Model) -> Prediction:
    """What logits [logit] say: the highest class, and one probability a class."""
    logits = logits.double()
    best = int(class_logits(logits, model.problem).argmax())
    chances = (
        () if model.problem == "regression" else tuple(class_probabilities(logits, model.problem).tolist())
    )
    return Prediction(model.labels[best], model.labels, tuple(logits.tolist()), chances)
