"""What decoded saliency of all layers costs: its time ÷ that of the passes and products that it cannot do without.

    python -m benchmarks.decoded_saliency      # about a minute; writes benchmarks/results/decoded_saliency.json

The floor, with no library between: one forward and one backward pass of the bare network, and for every layer and token
one product of the head's dense layer and one with the vocabulary. MiniLM with a masked-LM head of random weights over
its own vocabulary of 30,522 tokens: time does not depend on what the weights are. Processor time of one thread; floor
and method take turns, and the medians of the runs are compared.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import BertForMaskedLM

import pellucid
from benchmarks.attribution.floor import Way, both, columns_of, frozen
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.results import machine_of, versions
from benchmarks.attribution.workload import texts_of

ROOT = Path(__file__).parents[1]
RUNS, MUST, AIM = 3, 1.4, 1.2
WAYS = (Way(256, False), Way(512, False), Way(1024, False))
AT_ONCE = (128, 512)  # tokens of one product; the faster counts


def head_folder(classifier: Path, work: Path) -> Path:
    """A masked-LM checkpoint as wide as the classifier, with random weights."""
    folder = work / "minilm-head"
    if not (folder / "tokenizer.json").exists():
        model = pellucid.load(classifier)
        torch.manual_seed(0)
        BertForMaskedLM(model.network.config).save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
    return folder


def passes(network: Any, rows: Sequence[list[int]], way: Way) -> float:
    """Seconds of one forward and one backward pass of all rows."""
    batches = [columns_of(network, batch) for batch in way.batches(rows)]
    with frozen(network):
        return seconds_of(lambda: [both(network, columns) for columns in batches])


def products(weights: Sequence[Tensor], states: Tensor, n_layers: int, at_once: int) -> float:
    """Seconds of the head's products for the states [token width] of so many layers."""
    start = time.process_time()
    with torch.no_grad():
        for _ in range(n_layers):
            for some in states.split(at_once):
                for weight in weights:
                    some = some @ weight.T
    return time.process_time() - start


def seconds_of(work: Callable[[], Any]) -> float:
    """Processor time of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measured(work: Path, texts: Sequence[str]) -> dict[str, Any]:
    """Seconds of the floor's two parts and of the method in every run, and the ratio of the medians."""
    classifier = folder_of("minilm", work)
    model = pellucid.load(classifier, language_head=head_folder(classifier, work))
    rows = [model.tokenizer(text)["input_ids"] for text in texts]
    tokens = sum(map(len, rows))
    width = model.network.config.hidden_size
    weights = (torch.randn(width, width) / width**0.5, torch.randn(model.network.config.vocab_size, width))
    states = torch.randn(tokens, width)
    runs: dict[str, list[float]] = {"passes": [], "products": [], "method": []}
    pellucid.explain(model, texts[:2], "decoded_saliency", layer="all", progress=False)  # the trials of a new model
    for _ in range(RUNS):
        runs["passes"].append(min(passes(model.network, rows, way) for way in WAYS))
        runs["products"].append(min(products(weights, states, model.n_layers + 1, size) for size in AT_ONCE))
        runs["method"].append(
            seconds_of(lambda: pellucid.explain(model, texts, "decoded_saliency", layer="all", progress=False))
        )
    medians = {name: statistics.median(seconds) for name, seconds in runs.items()}
    ratio = medians["method"] / (medians["passes"] + medians["products"])
    return {"texts": len(texts), "tokens": tokens, "seconds": runs, "medians": medians, "ratio": ratio}


def main() -> None:
    """Measure, write, say what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "decoded_saliency.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    record = measured(ROOT / "runs" / "benchmark", texts_of("short")[: options.texts])
    about = {"made_on": machine_of("cpu"), "versions": versions(), "must": MUST, "aim": AIM}
    options.out.write_text(json.dumps({**about, **record}, indent=1) + "\n", encoding="utf-8")
    parts = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in record["medians"].items())
    print(f"{record['ratio']:.2f} x the floor (must {MUST}, aim {AIM}); {parts}")


if __name__ == "__main__":
    main()
