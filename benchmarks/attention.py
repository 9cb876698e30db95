"""What tests of attention cost, and training with attention: five numbers on the sentences of SST-2.

    python -m benchmarks.attention --data FOLDER      # some minutes; writes benchmarks/results/attention.json

FOLDER has SST-2's sentences as train.jsonl.gz and dev.jsonl. The model is a BiLSTM of random weights on MiniLM's word
vectors with an additive pooler whose weights are made uneven: time depends little on what the weights are. Seconds are
those of the processor, one thread, so that other work disturbs them little; what is compared takes turns, and medians
count. --only repeats one part.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

import pellucid
from benchmarks.attribution.results import machine_of, versions
from pellucid.attention.weighed_texts import weighed_texts
from pellucid.attention.weight_search import farthest_of_texts
from pellucid.attention.weight_tests.mutual_information import WordStates, mutual_information
from pellucid.base.kinds import attention_tests
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import as_classifier, compose
from pellucid.models.composed.networks import Plan
from pellucid.text.example import Example
from pellucid.training.recipes import recipe_of
from pellucid.training.steps import Steps, epoch_batches, steps_of

RESULTS = Path(__file__).parent / "results" / "attention.json"
RUNS = 3
STATES, WORDS, WIDTH = 200_000, 1000, 384
STEPS = 12  # of each kind, one after the other


def seconds_of(work: Callable[[], Any]) -> float:
    """Processor time of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def new_model(examples: list[Example]) -> Classifier:
    """An additive BiLSTM with uneven weights and answers that are not all in the middle."""
    labels = tuple(sorted({str(example.label) for example in examples}))
    plan = Plan("bilstm", "additive", {}, labels)
    network, tokenizer = compose(plan, 0, [example.segments for example in examples])
    with torch.no_grad():
        network.pooler.score.weight.mul_(20)
        network.head.weight.mul_(20)
    return as_classifier(network.eval(), tokenizer, plan, "additive BiLSTM")


def tests_over_forward(model: Classifier, dev: list[Example]) -> dict[str, Any]:
    """Uniform weights, 100 permutations, erasure and the probability of every unit, beside a plain pass; both begin
    with texts.
    """

    def alone() -> None:
        rows = sorted(model.encode(dev).rows, key=len)  # those of similar length together: the fastest way to pass them
        with torch.no_grad():
            for first in range(0, len(rows), 32):
                model.network(**model.place(rows[first : first + 32]))

    def tests() -> None:
        for text in weighed_texts(model, dev):
            text.unit_logits.softmax(-1)
            attention_tests.get("uniform").make(text)
            attention_tests.get("permuted").make(text, n_permutations=100)
            if len(text) > 1:
                attention_tests.get("heaviest_erased").make(text)

    tests()
    alone()
    pairs = [(seconds_of(alone), seconds_of(tests)) for _ in range(RUNS)]
    return {"forward": [one for one, _ in pairs], "tests": [one for _, one in pairs], "ratio": _ratio(pairs)}


def search(model: Classifier, dev: list[Example]) -> dict[str, Any]:
    """The farthest weights of every text."""
    texts = weighed_texts(model, dev)
    farthest_of_texts(texts[:2])
    return {
        "texts": len(texts),
        "seconds": [seconds_of(lambda: farthest_of_texts(texts)) for _ in range(RUNS)],
    }


def information() -> dict[str, Any]:
    """Of words drawn by Zipf's law whose states are their vectors and noise."""
    generator = torch.Generator().manual_seed(0)
    words = torch.multinomial(1 / torch.arange(1.0, WORDS + 1), STATES, replacement=True, generator=generator)
    vectors = torch.randn(WORDS, WIDTH, generator=generator)
    states = vectors[words] / 2 + torch.randn(STATES, WIDTH, generator=generator)
    return {
        "states": STATES,
        "groups": WORDS,
        "seconds": [seconds_of(lambda: mutual_information(WordStates(words, vectors, states, "word")))],
    }


def steps_of_training(train: list[Example], objectives: dict[str, float]) -> tuple[Steps, list[list[int]]]:
    """What makes the steps of an epoch, and the texts of each."""
    model = new_model(train)
    recipe = recipe_of("additive", 0, None, "bilstm", freeze_vectors=True, objectives=objectives)
    batch = model.encode(train)
    batches = epoch_batches(batch.lengths, recipe.batch_size, recipe.seed, 0)
    model.network.train()
    return steps_of(model, batch, recipe, len(batches)), batches


def epoch(train: list[Example]) -> dict[str, Any]:
    """All steps of one epoch; writing checkpoints and judging dev are left out."""
    steps, batches = steps_of_training(train, {})
    seconds = seconds_of(lambda: [steps.step(indices, done) for done, indices in enumerate(batches)])
    return {"texts": len(train), "seconds": [seconds]}


def masked_words(train: list[Example]) -> dict[str, Any]:
    """Steps with the objective beside plain steps on the same texts."""
    plain, batches = steps_of_training(train, {})
    masked, _ = steps_of_training(train, {"masked_words": 1.0})
    pairs = []
    for done, indices in enumerate(batches[: STEPS + 1]):
        one, other = (seconds_of(partial(steps.step, indices, done)) for steps in (plain, masked))
        pairs.append((one, other))
    return {"steps": STEPS, "ratio": _ratio(pairs[1:])}  # the first step prepares


def _ratio(pairs: list[tuple[float, float]]) -> float:
    """Of the medians: of the second to the first."""
    return statistics.median(other for _, other in pairs) / statistics.median(one for one, _ in pairs)


def main() -> None:
    """Measure, write, say what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only", help="one part: tests, search, information, epoch or masked_words")
    options = parser.parse_args()
    torch.set_num_threads(1)
    train, dev = (list(pellucid.examples(options.data / name)) for name in ("train.jsonl.gz", "dev.jsonl"))
    model = new_model(dev)
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "tests": lambda: tests_over_forward(model, dev),
        "search": lambda: search(model, dev),
        "information": information,
        "epoch": lambda: epoch(train),
        "masked_words": lambda: masked_words(train),
    }
    record = json.loads(options.out.read_text(encoding="utf-8")) if options.only else {}
    for name in [options.only] if options.only else parts:
        record |= {name: parts[name](), "made_on": machine_of("cpu"), "versions": versions()}
        print(name, record[name], flush=True)
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
