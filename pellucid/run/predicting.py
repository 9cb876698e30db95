"""A model's predictions for texts: the ones that explanations of these texts report."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.base.checks import quoted
from pellucid.base.errors import ModelCannot
from pellucid.base.processes import Progress
from pellucid.base.torch_state import check_computes
from pellucid.results.explanation import Prediction
from pellucid.run.explaining import predict
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.parity import Guard
from pellucid.run.windows import in_windows, pieces_in
from pellucid.text.example import Example, Texts, as_examples


def single_predictions(model: Model, examples: Sequence[Example]) -> list[Prediction]:
    """One prediction a text, in order: the answer of the model's own call with the single text, as `predictions` of it
    alone.
    """
    batch = model.encode(examples)
    answers: list[Prediction] = []
    for row, example in zip(batch.rows, examples, strict=True):
        windows = [pieces_in(row, window) for window in row.windows]
        logits = model.plain_window_logits(example, windows).mean(0) if windows else model.plain_logits(example)
        answers.append(predict(logits.cpu(), model, example))
    return answers


def predictions(model: Model, texts: Texts, progress: Progress | None = None) -> list[Prediction]:
    """One prediction a text, in order; that of a text which is read in windows is made from the mean over them.

    The answers are checked against the model's own calls with single texts, as explanations are. Raises `ParityBroken`
    where they differ, `BadInput` for a text that cannot be read.
    """
    check_computes()
    batch = model.encode(as_examples(texts))
    if not len(batch):
        return []
    windows, owners = in_windows(batch)
    scheduler = scheduler_for(model)
    packs = scheduler.packs_of(windows.rows)
    guard = Guard(model, windows, owners, packs, scheduler.tokens)
    by_text: dict[int, Prediction] = {}

    def run(indices: list[int]) -> None:
        with torch.inference_mode(False):
            logits = ForwardPass(model, windows.select(indices), scheduler, 0).logits
        checked = guard.check(indices, logits)
        by_text.update(
            {
                owners[row]: predict(answer, model, windows.examples[row])
                for row, answer in zip(indices, checked.texts, strict=True)
            }
        )

    for pack in packs:
        scheduler.halving(pack, run)
        if progress is not None:
            progress("predicting", len(by_text), len(batch))
    return [by_text[index] for index in range(len(batch))]


def refuse_infinite(logits: Tensor, owners: Sequence[Example], model: Model, which: str) -> None:
    """Raise `ModelCannot` where logits [row logit] leave no finite number. Classes that the model rules out, -inf, have
    probability 0.

    Such a text cannot be judged, and a mean without it would be the mean of other texts. owners: the example of each
    row. which: ends the message; it says of which texts the logits are.
    """
    finite = logits.isfinite()
    usable = (finite | logits.isneginf()).all(-1) & finite.any(-1)
    lacking = [owner.id for owner, fine in zip(owners, usable.tolist(), strict=True) if not fine]
    if lacking:
        raise ModelCannot(
            f"{model.name} gives no finite number for {len(set(lacking))} of the texts, first example "
            f"{quoted(lacking[0])}, {which}."
        )
