"""What the layer of source spans costs a translator: its share of a training step, and the memory that a step saves for
it.

    python -m benchmarks.translation      # two minutes; writes benchmarks/results/translation.json and docs/translation-speed.md

Processor time of one thread; plain and self-explaining steps take turns on the same texts. Memory is what a forward
pass saves for the backward pass, beside that of a layer which has the vectors of every span once more for every step.
"""

import argparse
import statistics
import time
from typing import Any

import torch
from torch import Tensor

from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from pellucid.models.translation.source_spans import SpanChoice, SpanSettings
from pellucid.models.translation.translator_folder import add_source_spans
from pellucid.models.translation.untrained_network import NetworkSettings, untrained_network
from pellucid.writing.translation_loss import translation_loss

RUNS = 9
BATCH_PIECES, N_PIECES, WIDTH = 2000, 6000, 256
LENGTHS = {15: (0.15, 0.08), 50: (0.30, 0.15)}  # pieces of a source: the share that must be, and the aim
MEMORY = (1 / 8, 1 / 20)


def training_share(length: int) -> dict[str, float]:
    """Medians over turns: seconds of a plain step and of one with spans, and the share of the latter that is the
    layer's.
    """
    networks = [untrained_network(NetworkSettings(), N_PIECES, 0).train() for _ in range(2)]
    add_source_spans(networks[1], SpanSettings())
    rows = BATCH_PIECES // length
    ids = torch.randint(2, N_PIECES, (2, rows, length), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids[0], "attention_mask": torch.ones_like(ids[0]), "labels": ids[1]}
    turns = [[_step(network, inputs) for network in networks] for _ in range(RUNS + 1)][1:]
    return {
        "plain": statistics.median(plain for plain, _ in turns),
        "spans": statistics.median(spans for _, spans in turns),
        "share": statistics.median(1 - plain / spans for plain, spans in turns),
    }


def _step(network: Any, inputs: dict[str, Tensor]) -> float:  # Any: an encoder–decoder
    network.zero_grad()
    start = time.process_time()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = translation_loss(network, inputs, 0.1, {})
    loss.backward()
    return time.process_time() - start


def saved_bytes(length: int) -> dict[str, int]:
    """Bytes that one forward pass saves, of our layer and of the layer written out over steps."""
    choice = SpanChoice(WIDTH, SpanSettings())
    states = torch.randn(2, 1, length, WIDTH, generator=torch.Generator().manual_seed(0)).requires_grad_()
    return {
        "ours": _saved(lambda: choice(states[0], states[1], None)),
        "over_steps": _saved(lambda: _written_out(choice, states[0], states[1])),
    }


def _saved(run: Any) -> int:  # Any: a function without arguments
    sizes: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        alive = run()  # so that no storage is used twice
    del alive
    return sum(sizes.values())


def _written_out(choice: SpanChoice, states: Tensor, source: Tensor) -> tuple[Tensor, ...]:
    """Every span's vector, at every step once more."""
    begin, end, factor = choice._folded(source)
    length = source.shape[1]
    first, last = torch.triu_indices(length, length)
    vectors = torch.tanh(begin[:, first] + end[:, last] + factor[:, first] * factor[:, last])
    of_steps = vectors[:, None].expand(-1, length, -1, -1).clone()
    scores = (of_steps * choice.query(states)[:, :, None]).sum(-1)  # type: ignore[operator]
    weights = scores.softmax(-1)
    return of_steps, scores, weights, (weights[..., None] * of_steps).sum(2)


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    rows = [
        (
            f"{length} pieces",
            f"{results['training'][str(length)]['share']:.0%}",
            f"{must:.0%} / {aim:.0%}",
            f"1/{results['memory'][str(length)]['over_steps'] / results['memory'][str(length)]['ours']:.0f}",
            f"1/{1 / MEMORY[0]:.0f} / 1/{1 / MEMORY[1]:.0f}" if length == 50 else "–",
        )
        for length, (must, aim) in LENGTHS.items()
    ]
    titles = ("source and target", "share of a step", "must / aim", "memory ÷ over steps", "must / aim")
    return (
        "# What source spans cost a translator\n\nMade by `python -m benchmarks.translation`; not written by hand. "
        f"On {machine_words(results['made_on'])}, one thread: 3 + 3 layers, {WIDTH} wide, {N_PIECES:,} pieces, bfloat16, "
        f"about {BATCH_PIECES:,} pieces a step and all spans. Share of a training step's processor time that is the "
        f"layer's, the median of {RUNS} turns of a plain and a self-explaining step. Memory: what the forward pass of "
        f"the layer saves for the backward pass, beside a layer that has the vectors of all spans once more for every "
        f"step.\n\n" + listed(rows, titles) + "\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    torch.set_num_threads(1)
    results: dict[str, Any] = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "training": {str(length): training_share(length) for length in LENGTHS},
        "memory": {str(length): saved_bytes(length) for length in LENGTHS},
    }
    publish(results, "translation", as_page(results), "translation-speed")


if __name__ == "__main__":
    main()
