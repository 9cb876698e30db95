"""How many questions do Shapley values cost? Ours and captum's, against exact values, at the same error.

    python benchmarks/shapley_error.py --out benchmarks/shapley_error.json

Every coalition of each text's words is evaluated once (MiniLM with a random head; absent words are not computed) and
saved in --folder, so an interrupted run goes on. Then all methods play on that table many times.
Printed: for captum at each of its settings its error (root mean square over words, as a share of that of the true
values), the evaluations it took, and the share of them that ours took to the same error, by interpolation. Then for
ours: the standard error that results state, as a multiple of the true one.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from captum.attr import KernelShap, ShapleyValueSampling
from transformers import AutoModelForSequenceClassification

from pellucid.attribution.shapley_sampling import shapley_values
from pellucid.attribution.shared.coalition_game import all_coalitions, games
from pellucid.base.processes import silent
from pellucid.models.classifiers.hugging_face import load_tokenizer, minilm_source, wrap
from pellucid.models.classifiers.network import from_network
from pellucid.results.explanation import Explanation
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.text.example import as_examples

TEXTS = (
    "A gripping lovely film that nobody should miss on rainy days today",
    "The plot is dull and the acting far worse than anyone feared",
    "It is not a bad movie at all though it hardly earns its end",
    "Two hours of noise and yet I left the old cinema with a smile",
)
SEEDS = 60
STATED_SEEDS = 60
PEERS = {"ShapleyValueSampling": (10, 25, 50), "KernelShap": (50, 100, 200)}
OURS = {
    "shapley_sampling": ("n_permutations", (4, 6, 8, 12, 16, 24, 32, 48, 64)),
    "kernel_shap": ("n_samples", (24, 32, 48, 64, 96, 128, 192, 256, 400, 600)),
    "gaussian_process_shapley": ("n_samples", (16, 20, 24, 28, 32, 48, 64, 96, 128, 192, 256, 400, 600)),
}


def table_of(text: str, folder: Path | None) -> np.ndarray:
    """[2 ** words]: the logit of class 0 for every coalition of a text's words."""
    cache = None if folder is None else folder / f"{abs(hash_of(text))}.npy"
    if cache is not None and cache.exists():
        return np.load(cache)
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(minilm_source(), num_labels=2).eval()
    model = wrap(network, load_tokenizer(minilm_source()), name="MiniLM")
    batch = model.encode(as_examples([text]))
    run = ForwardPass(model, batch, Scheduler(512))
    target = Target(0).resolve(batch.examples, run.logits, model.labels, model.problem)
    game = games(run, target, "word", "absent")
    values = game.values([all_coalitions(game.sizes[0])])[0]
    if cache is not None:
        folder.mkdir(parents=True, exist_ok=True)
        np.save(cache, values)
    return values


def hash_of(text: str) -> int:
    """A number that names a text in every process."""
    return int.from_bytes(text.encode(), "big") % (2**61 - 1)


class Table:
    """A game by its table, as both sides play it. It counts the coalitions that were evaluated."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = torch.from_numpy(values)
        self.players = len(values).bit_length() - 1
        self.places = 1 << torch.arange(self.players)
        self.n_evaluated = 0

    def forward(self, present: torch.Tensor) -> torch.Tensor:
        """For captum: [batch player] -> [batch]."""
        self.n_evaluated += len(present)
        return self.values[((present > 0.5).long() * self.places).sum(1)]

    def logits(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """For ours: word number k has the id k + 1."""
        value = self.values[(attended * (1 << (ids - 1).clamp_min(0))).sum(1)]
        return torch.stack([value, torch.zeros_like(value)], 1)

    def tokenize(self, text: str) -> list[tuple[int, int, int]]:
        """Words w10, w11, ... by their numbers."""
        return [(number + 1, 4 * number, 4 * number + 3) for number in range(self.players)]


def explained(table: Table, method: str, setting: str, value: int, seed: int) -> tuple[Explanation, int]:
    """An explanation of ours, and its evaluations."""
    model = from_network(
        torch.nn.Identity(), tokenize=table.tokenize, logits=table.logits, labels=("explained", "other")
    )
    scheduler = Scheduler(100_000)
    request = Request(model, method_calls([(method, {setting: value})], model), Target(0), seed)
    text = " ".join(f"w{number}" for number in range(10, 10 + table.players))
    explanations = next(iter(explain_batch(request, model.encode(as_examples([text])), scheduler, silent).values()))
    return explanations[0], scheduler.rows_run + 1  # the text itself comes from the first pass


def ours(table: Table, method: str, setting: str, value: int, seed: int) -> tuple[np.ndarray, int]:
    """Scores and evaluations."""
    explanation, count = explained(table, method, setting, value, seed)
    return explanation.scores, count


def stated_over_true(table: Table, method: str, setting: str, value: int) -> float:
    """The standard error that results state, divided by the true one; both root mean squares over words and seeds."""
    truth = shapley_values(table.values.numpy())
    squares = []
    for seed in range(STATED_SEEDS):
        explanation, _ = explained(table, method, setting, value, seed)
        stated = explanation.diagnostics["standard_error"]
        squares.append((stated**2, np.mean((explanation.scores - truth) ** 2)))
    stated_mean, true_mean = np.mean(squares, axis=0)
    return float(np.sqrt(stated_mean / true_mean))


def captums(table: Table, method: str, n_samples: int, seed: int) -> tuple[np.ndarray, int]:
    """Scores and evaluations."""
    torch.manual_seed(seed)
    table.n_evaluated = 0
    peer = {"ShapleyValueSampling": ShapleyValueSampling, "KernelShap": KernelShap}[method](table.forward)
    ones = torch.ones(1, table.players)
    scores = peer.attribute(ones, baselines=torch.zeros_like(ones), n_samples=n_samples)[0].numpy()
    return scores, table.n_evaluated


def measured(tables: list[Table], side, method: str, *setting) -> tuple[float, float]:
    """Error and evaluations over texts and seeds: root mean square, and mean."""
    errors, counts = [], []
    for table in tables:
        truth = shapley_values(table.values.numpy())
        for seed in range(SEEDS):
            scores, count = side(table, method, *setting, seed)
            errors.append(np.mean((scores - truth) ** 2) / np.mean(truth**2))
            counts.append(count)
    return float(np.sqrt(np.mean(errors))), float(np.mean(counts))


def evaluations_for(error: float, curve: list[tuple[float, float]]) -> float:
    """Evaluations at an error, between measured ones on a scale of logarithms; nan outside of them."""
    errors, counts = (np.log(column) for column in zip(*sorted(curve), strict=True))
    if not errors[0] <= np.log(error) <= errors[-1]:
        return float("nan") if np.log(error) < errors[0] else float(np.exp(counts[-1]))
    return float(np.exp(np.interp(np.log(error), errors, counts)))


def main() -> None:
    """Measure, print, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tables = [Table(table_of(text, options.folder)) for text in TEXTS]
    curves = {
        method: [measured(tables, ours, method, setting, value) for value in values]
        for method, (setting, values) in OURS.items()
    }
    lines = []
    for peer, settings in PEERS.items():
        for n_samples in settings:
            error, count = measured(tables, captums, peer, n_samples)
            shares = {method: evaluations_for(error, curve) / count for method, curve in curves.items()}
            lines.append({"captum": peer, "n_samples": n_samples, "error": error, "evaluations": count, **shares})
            print(
                f"captum {peer} n_samples={n_samples}: error {error:.3f} with {count:.0f} evaluations; to the same "
                f"error " + ", ".join(f"{method} {share:.2f} of them" for method, share in shares.items()),
                flush=True,
            )
    stated = {}
    for method, (setting, values) in OURS.items():
        stated[method] = {
            value: [stated_over_true(table, method, setting, value) for table in tables] for value in values
        }
        lowest, highest = (end([ratio for of in stated[method].values() for ratio in of]) for end in (min, max))
        print(f"{method}: stated standard error {lowest:.2f} to {highest:.2f} times the true one", flush=True)
    if options.out is not None:
        words = [table.players for table in tables]
        numbers = {
            "words": words,
            "seeds": SEEDS,
            "captum": lines,
            "ours (error, evaluations)": curves,
            "stated over true error, by setting, for each text": stated,
        }
        options.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
