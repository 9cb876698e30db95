"""The model's answers to edited rows, each distinct row computed once."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from pellucid.base.tensor_checksum import sums_remembered
from pellucid.run.batch import Row
from pellucid.run.model import Model
from pellucid.run.parity import check_edited
from pellucid.run.readout import LOGITS, Readout
from pellucid.run.scheduler import Scheduler
from pellucid.run.windows import rows_of


def evaluate_rows(
    model: Model,
    scheduler: Scheduler,
    rows: Sequence[Row],
    readout: Readout = LOGITS,
    *,
    wide_head: bool = False,
) -> Tensor:
    """[row answer]: the model's answers, without gradients; every distinct row is computed once.

    The answer to a row with windows is the mean of the answers to its windows. wide_head: what follows the last block is computed in
    float32 at least, for answers that are subtracted.
    """
    dtype = torch.float32
    want = replace(readout.want, wide_head=wide_head)

    def run(pack: list[Row]) -> Tensor:
        nonlocal dtype
        with torch.no_grad():
            answers = readout.answers(model.trace(pack, want), pack)
        dtype = answers.dtype
        return answers if dtype == torch.float64 else answers.float()

    def check(together: Tensor, alone: Tensor) -> None:
        check_edited(model, together, alone, dtype)

    windows = [rows_of(row) for row in rows] if any(row.windows for row in rows) else None
    with sums_remembered():
        read = rows if windows is None else [row for of_row in windows for row in of_row]
        question = readout.key + (b" wide" if wide_head else b"")
        answers = scheduler.evaluate(read, run, question, check)
    if windows is None:
        return answers
    return torch.stack([part.mean(0) for part in answers.split([len(of_row) for of_row in windows])])
