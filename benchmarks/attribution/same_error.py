"""How many steps integrated gradients need for the error that captum's have at its default of 50.

The truth is captum's own sum over 4,096 midpoints. The error of a text is the largest difference of a piece's score,
relative to the largest score; the mean over texts counts.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from captum.attr import IntegratedGradients

import pellucid
from benchmarks.attribution.reading import Reader, reader_of
from benchmarks.attribution.workload import texts_of
from pellucid.base.kinds import attributions
from pellucid.run.model import Model

TRUTH = 4096
THEIRS = (10, 20, 25, 50)
RULES = ("midpoint", "gauss_legendre")
OURS = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 192, 256)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The error of each library at each number of steps."""
    torch.set_num_threads(1)
    texts = texts_of("few")[: 1 if request["quick"] else None]
    reader = reader_of(Path(request["folder"]), request["device"])
    truth = [_captum(reader, text, 128 if request["quick"] else TRUTH, "riemann_middle") for text in texts]
    theirs = {n: _mean(truth, [_captum(reader, text, n, "gausslegendre") for text in texts]) for n in THEIRS}
    model = pellucid.load(request["folder"], device=request["device"])
    known = "rule" in attributions.get("integrated_gradients").defaults
    ours = {
        f"pellucid {rule}": _ours(model, texts, truth, {"rule": rule} if known else {}, theirs[50])
        for rule in (RULES if known else RULES[:1])
    }
    return {"captum": theirs, **ours}


def _ours(
    model: Model, texts: list[str], truth: list[np.ndarray], rule: dict[str, Any], enough: float
) -> dict[int, float]:
    """The error at each number of steps, until it is small enough."""
    errors_by_steps: dict[int, float] = {}
    for n in OURS:
        explanations = pellucid.explain(model, texts, "integrated_gradients", n_steps=n, progress=False, **rule)
        errors_by_steps[n] = _mean(truth, [explanation.scores for explanation in explanations])
        if errors_by_steps[n] <= enough:
            break
    return errors_by_steps


def _captum(reader: Reader, text: str, n: int, rule: str) -> np.ndarray:
    """[piece]: scores of the predicted class."""
    read = reader.read([text])
    scores = IntegratedGradients(reader.by_words).attribute(
        reader.words(read.ids),
        baselines=reader.words(reader.blank(read.ids)),
        target=read.labels,
        additional_forward_args=read.rest,
        n_steps=n,
        method=rule,
        internal_batch_size=max(1, 512 // read.ids.shape[1]),
    )
    return scores.sum(-1)[0].detach().cpu().numpy()


def _mean(truth: list[np.ndarray], scores: list[np.ndarray]) -> float:
    gaps = [np.abs(one - other).max() / np.abs(other).max() for one, other in zip(scores, truth, strict=True)]
    return float(np.mean(gaps))
