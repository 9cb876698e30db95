"""The best batches of the bare network for one kind of texts."""

from typing import Any

import torch

from benchmarks.attribution.floor import best, ways
from benchmarks.attribution.operations import operations_per_token
from benchmarks.attribution.reading import reader_of
from benchmarks.attribution.workload import texts_of


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """For "forward" and "both": the best way, its tokens a second, and what every way gave; and the operations a
    token.
    """
    torch.set_num_threads(request["threads"])
    reader = reader_of(request["folder"], request["device"])
    rows = [reader.tokenizer(text)["input_ids"] for text in texts_of(request["texts"])]
    tried = ways(request["device"], request["threads"], max(map(len, rows)))
    speeds = {passes: best(reader.network, rows, passes, tried) for passes in ("forward", "both")}  # type: ignore[arg-type]
    mean_length = sum(map(len, rows)) / len(rows)
    return {**speeds, "operations_per_token": operations_per_token(reader.network, mean_length)}
