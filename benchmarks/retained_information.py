"""What does retained information cost? Ours against the procedure that its authors released, on MiniLM.

    python -m benchmarks.retained_information --out benchmarks/results/retained_information.json

The released procedure is 5,000 steps of Adam with one sample each. --steps of them are run and their time is scaled to
5,000, which the printed line says. Seconds are those of the processor, so other work hardly disturbs them; give one
thread. Peak memory is the process's so far: if it grew with texts, seeds or steps, it would rise from row to row.
"""

import argparse
import json
import resource
from pathlib import Path
from time import process_time

import torch
from transformers import AutoModelForSequenceClassification

from pellucid.attribution.retained_information import retained_information
from pellucid.models.classifiers.hugging_face import load_tokenizer, minilm_source, wrap
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import HiddenState
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.state_scale import state_function, state_scale
from pellucid.text.example import as_examples

TEXTS = (
    "A gripping, lovely film that nobody should miss.",
    "The plot is dull and the acting far worse than anyone feared, but the ending is worth the wait.",
    "It is not a bad movie at all, though it hardly earns its end.",
    "Two hours of noise, and yet I left the old cinema with a smile on my face.",
)
RELEASED_STEPS = 5000


def minilm() -> Model:
    """MiniLM with a random head, which hidden states do not depend on."""
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(minilm_source(), num_labels=2).eval()
    return wrap(network, load_tokenizer(minilm_source()), name="MiniLM")


def released_seconds(run: ForwardPass, target: HiddenState, steps: int) -> float:
    """Seconds of the released procedure for all texts of a pass, one after the other, scaled from a few steps."""
    resolved = target.resolve(run.answers(target.readout_in(run.model)), run.model)
    phi, scale = state_function(run, resolved), state_scale(run.model, resolved)
    seconds = 0.0
    for example, length in enumerate(run.batch.lengths):
        points = phi.points[[example], :length]
        raw = torch.zeros(length, requires_grad=True)
        adam = torch.optim.Adam([raw], lr=0.01)
        start = process_time()
        for _ in range(steps):
            sigma = 10 * scale.word_deviation * raw.sigmoid()
            moved = points + sigma[None, :, None] * torch.randn_like(points)
            apart = (phi([example], moved) - phi.states[[example]]) / scale.deviations.float()
            loss = apart.square().mean() - 0.1 * sigma.log().mean()
            adam.zero_grad()
            (raw.grad,) = torch.autograd.grad(loss, raw)
            adam.step()
        seconds += (process_time() - start) * RELEASED_STEPS / steps
    return seconds


def ours(run: ForwardPass, target: HiddenState, **settings: int) -> dict[str, float]:
    """Seconds and evaluations of our search for all texts of a pass together, and the process's peak memory so far."""
    resolved = target.resolve(run.answers(target.readout_in(run.model)), run.model)
    state_scale(run.model, resolved)  # measured once for the model
    start = process_time()
    scores = retained_information(run, resolved, **settings)
    return {
        "seconds": process_time() - start,
        "evaluations": scores.diagnostics[0]["evaluations"],
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def pass_of(model: Model, texts: list[str]) -> ForwardPass:
    """A pass whose own run with a graph has been done: all methods share it."""
    run = ForwardPass(model, model.encode(as_examples(texts)), scheduler_for(model))
    _ = run.trace
    return run


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, default=100, help="steps of the released procedure that are run")
    parser.add_argument("--layer", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model, target, rows = minilm(), HiddenState(arguments.layer), []
    warm = pass_of(model, list(TEXTS[:1]))
    released_seconds(warm, target, 3)
    for texts, settings in ((TEXTS, {}), (TEXTS * 4, {}), (TEXTS, {"n_seeds": 9}), (TEXTS, {"n_steps": 120})):
        row = {"texts": len(texts), **settings, **ours(pass_of(model, list(texts)), target, **settings)}
        rows.append(row)
        print(row)
    released = released_seconds(pass_of(model, list(TEXTS)), target, arguments.steps)
    again = ours(pass_of(model, list(TEXTS)), target)["seconds"]  # beside it in time
    ratio = released / ((rows[0]["seconds"] + again) / 2)
    print(f"released: {released:.0f} s for {len(TEXTS)} texts, scaled from {arguments.steps} steps to {RELEASED_STEPS}")
    print(
        f"ours: {rows[0]['seconds']:.1f} and {again:.1f} s, {rows[0]['evaluations']:.0f} evaluations; {ratio:.1f} x as "
        f"fast"
    )
    if arguments.out is not None:
        arguments.out.write_text(
            json.dumps({"ours": rows, "again": again, "released_seconds": released, "ratio": ratio}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
