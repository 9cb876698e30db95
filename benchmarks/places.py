"""What the entities of one text cost beside the least that they can: one pass of the network forward, one back for each.

    python -m benchmarks.places    # two minutes; writes benchmarks/results/places.json

all-MiniLM-L6-v2 with a random head for three tags reads forty words of pocket, eight of them entities by the library's
own pipeline. The floor is the bare network: word embeddings in, a logit of each entity out, its gradient, times the
embeddings. Processor seconds of one thread; both ways in turn, the first turn left away.
"""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

import pellucid
from benchmarks.attribution.results import Results
from pellucid.models.classifiers.hugging_face import minilm_source

RESULTS = Path(__file__).parent / "results" / "places.json"
TAGS = ("O", "B-PER", "B-LOC")
N_WORDS, N_ENTITIES, TURNS, STEPS = 40, 8, 40, 16


def tagger() -> Any:
    """The library's pipeline of a tagger."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    names = {"id2label": dict(enumerate(TAGS)), "label2id": {tag: index for index, tag in enumerate(TAGS)}}
    network = transformers.AutoModelForTokenClassification.from_pretrained(minilm_source(), num_labels=3, **names)
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm_source())
    return transformers.pipeline("ner", model=network.eval(), tokenizer=tokenizer, aggregation_strategy="simple")


def text_with_entities(pipeline: Any) -> str:
    """Forty words; the head's constant for "O" is raised until eight entities are left among them."""
    text = " ".join(" ".join(example.segments[0] for example in pellucid.examples("pocket", "all")).split()[:N_WORDS])
    bias = pipeline.model.classifier.bias.data
    while len(pipeline(text)) > N_ENTITIES:
        bias[0] += 0.001
    return text


def floor(network: Any, ids: torch.Tensor, places: list[tuple[int, int]], points: int) -> None:
    """The bare network; points: rows that are run together, as many as a path has."""
    embeddings = network.get_input_embeddings()(ids).detach()
    rows = (embeddings * torch.linspace(1 / points, 1, points)[:, None, None]).requires_grad_()
    logits = network(inputs_embeds=rows).logits
    for index, (place, tag) in enumerate(places):
        value = logits[:, place, tag].sum()
        (gradient,) = torch.autograd.grad(value, rows, retain_graph=index < len(places) - 1)
        (gradient.mean(0) * embeddings[0]).sum(-1)


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of the work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def ratio(method: str, points: int, **settings: object) -> dict[str, Any]:
    """Median seconds of both ways, and the median of their ratios."""
    pipeline = tagger()
    text, model = text_with_entities(pipeline), pellucid.load(pipeline.model, pipeline.tokenizer)
    encoded = pipeline.tokenizer(text, return_tensors="pt")
    assert len(pellucid.explain(model, text, "gradient")) == N_ENTITIES
    places = [(encoded.char_to_token(entity["start"]), 1) for entity in pipeline(text)]
    turns = []
    for _ in range(TURNS + 1):
        ours = seconds(lambda: pellucid.explain(model, text, method, progress=False, **settings))
        bare = seconds(lambda: floor(pipeline.model, encoded["input_ids"], places, points))
        turns.append((ours, bare))
    turns = turns[1:]
    return {
        "pieces": encoded["input_ids"].shape[1],
        "entities": len(places),
        "turns": len(turns),
        "ours": statistics.median(ours for ours, _ in turns),
        "floor": statistics.median(bare for _, bare in turns),
        "ratio": statistics.median(ours / bare for ours, bare in turns),
    }


def main() -> None:
    """Measure and keep both methods."""
    results = Results(RESULTS, "cpu", fresh=True)
    results.keep("gradient_x_input", ratio("gradient_x_input", 1))
    results.keep("integrated_gradients", ratio("integrated_gradients", STEPS, n_steps=STEPS))
    print(json.dumps(results.records, indent=1))


if __name__ == "__main__":
    main()
