"""What Pellucid itself takes for a text, beside the network: the methods on a network that costs next to nothing.

    python -m benchmarks.beside_network    # about a minute; prints, and writes nothing

A GPU computes a short row in less time than Python needs to make it, so there this decides how fast a method is. The
network is one block of width 8 with MiniLM's tokenizer, packs are as large as on a GPU, and what counts is the
processor time of one thread, the median of several runs.
"""

import statistics
import time
from unittest.mock import patch

import torch
from transformers import BertConfig, BertForSequenceClassification

import pellucid
from benchmarks.attribution.cases import OCCLUSION, PATH_SETTINGS, SAMPLES
from benchmarks.attribution.workload import texts_of
from pellucid.models.classifiers.hugging_face import load_tokenizer, minilm_source
from pellucid.run import packing
from pellucid.run.scheduler import DEVICE_TOKENS

EVERY, RUNS = 4, 3  # of 1,024 texts one in so many; runs of each method
METHODS = (
    ("gradient", {}),
    ("occlusion", OCCLUSION),
    *((name, ours) for name, (ours, _) in PATH_SETTINGS.items()),
    *((name, ours) for name, (_, ours, _) in SAMPLES.items()),
)


def small_network() -> tuple[BertForSequenceClassification, object]:
    """One block of width 8, and a tokenizer."""
    tokenizer = load_tokenizer(minilm_source())
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
    )
    torch.manual_seed(0)
    return BertForSequenceClassification(config).eval(), tokenizer


def main() -> None:
    """Print a line a method."""
    torch.set_num_threads(1)
    model = pellucid.load(*small_network(), route="eager")
    texts = texts_of("many short")[::EVERY]
    with patch.object(packing, "default_budget", lambda _: DEVICE_TOKENS):
        for method, settings in METHODS:
            pellucid.explain(model, texts[:9], method, progress=False, **settings)
            times = []
            for _ in range(RUNS):
                start = time.process_time()
                pellucid.explain(model, texts, method, progress=False, **settings)
                times.append(time.process_time() - start)
            print(f"{method}: {1000 * statistics.median(times) / len(texts):.2f} ms a text")


if __name__ == "__main__":
    main()
