"""Explain, train, judge and write on a device, and compare with the same on the CPU: `python -m
tests.devices.everything cuda`.

"pretended" is a device that every machine has (`pretended.py`). The answer is JSON: what was done -> the largest
difference from the CPU, relative to the largest number there.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pellucid
from pellucid.base.kinds import attributions
from pellucid.models.load import on_device
from tests.devices.pretended import NAME, switch_on
from tests.shared.asking import FEW, SOME_TEXTS, ask, works
from tests.shared.tiny import (
    FAMILIES,
    TOKENIZERS,
    save_tiny,
    tiny_classifier,
    tiny_composed,
    tiny_on_vectors,
    with_tiny_head,
)

TEXTS = (SOME_TEXTS[0], "Long, winding and in the end rather dull. Avoid!")  # of different lengths
OF_FAMILIES = ("gradient", "relevance")  # occlusion passes forward, as a gradient does first
# Without LSTMs: PyTorch runs them by a kernel of the device, which the pretended one lacks.
MAKERS: dict[str, Callable[[], Any]] = {
    "bert": lambda: with_tiny_head(tiny_classifier("bert")),
    **{family: (lambda family=family: tiny_classifier(family)) for family in FAMILIES if family != "bert"},
    "span": lambda: tiny_composed("span"),
    "rationale": lambda: tiny_composed("rationale"),
    "additive": lambda: tiny_composed("additive"),
    "b_cos": lambda: tiny_composed("first_token", layer_form="b_cos"),
    **{name: (lambda name=name: tiny_on_vectors(name)) for name in ("cnn", "transformer")},
}
MANY = ("bert", "span", "rationale", "additive", "b_cos")  # kinds on which every method runs that works there


def difference(here: Any, there: Any) -> float:
    """The largest, relative to the largest number there."""
    pairs = [
        (np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)) for a, b in zip(here, there, strict=True)
    ]
    largest = max(float(np.abs(b).max(initial=0)) for _, b in pairs)
    return max(float(np.abs(a - b).max(initial=0)) for a, b in pairs) / max(largest, 1e-3)


def explanations(device: str) -> Iterator[tuple[str, float]]:
    """Every method on one kind of model that it needs, and the usual ones on every family."""
    seen: set[str] = set()
    for kind, make in MAKERS.items():
        there, here = make(), on_device(make(), device)
        for method in attributions.names() if kind in MANY else OF_FAMILIES:
            if (kind in MANY and method in seen) or not works(method, there):
                continue
            seen.add(method)
            choice = (method, FEW.get(method, {}))
            scores = [[one.scores for one in ask(model, TEXTS, choice)] for model in (here, there)]
            yield f"{method}, {kind}", difference(*scores)


def readings(device: str) -> Iterator[tuple[str, float]]:
    """Models that read a text several times, and the pairs of words of a similarity."""
    classes = ("contradiction", "neutral", "entailment")
    zero = [
        pellucid.zero_shot(on_device(tiny_classifier("bert", classes), where), ["a", "b c"])
        for where in (device, "cpu")
    ]
    encoders = [on_device(tiny_classifier("bert"), where).network.base_model for where in (device, "cpu")]
    alike = [pellucid.similarity(encoder, TOKENIZERS["bert"]()) for encoder in encoders]
    for name, models, texts in (("zero_shot", zero, TEXTS), ("similarity", alike, [TEXTS])):
        for method in (*OF_FAMILIES, "occlusion"):
            scores = [[each.scores for each in ask(model, texts, (method, FEW.get(method, {})))] for model in models]
            yield f"{method}, {name}", difference(*scores)
    if device != NAME:  # torch computes no derivatives forwards of tensors that wrap others
        yield "word_pairs", difference(*([pellucid.word_pairs(model, TEXTS, n_steps=2).matrix] for model in alike))


def trainings(device: str) -> Iterator[tuple[str, float]]:
    """The logits of models after short trainings, plain ones and with the objectives of recipes."""
    parts = {part: pellucid.examples("pocket", part)[:count] for part, count in (("train", 12), ("dev", 6))}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        encoder = str(save_tiny(folder / "encoder"))
        recipes: dict[str, dict[str, Any]] = {
            "plain": {"pooler": "first_token"},
            "entropy": {},
            "attributed": {"recipe": "believable", "objectives": {"attributed": 1.0}},
        }
        for title, settings in recipes.items():
            logits_by_device = []
            for where in (device, "cpu"):
                out = folder / f"{title}-{where}"
                pellucid.train(
                    parts,
                    encoder=encoder,
                    out=out,
                    epochs=1,
                    batch_size=4,
                    precision="float32",
                    device=where,
                    progress=False,
                    **settings,
                )
                answers = pellucid.load(out, device=where).predict(parts["dev"])
                logits_by_device.append([one.logits for one in answers])
            yield f"train, {title}", difference(*logits_by_device)


def translators(device: str) -> Iterator[tuple[str, float]]:
    """How a trained translator explains its references."""
    pairs = [
        ("a dog runs", "ein Hund rennt"),
        ("a cat sleeps", "eine Katze schläft"),
        ("a dog sleeps", "ein Hund schläft"),
    ]
    sizes = {"layers": 1, "width": 16, "heads": 2}
    written = []
    for where in (device, "cpu"):
        with tempfile.TemporaryDirectory() as folder:
            pellucid.train_translator(
                {"train": pairs * 4, "dev": pairs},
                out=Path(folder) / "out",
                epochs=2,
                pieces=300,
                network_settings=sizes,
                precision="float32",
                device=where,
                progress=False,
            )
            model = pellucid.load(Path(folder) / "out", device=where)
            scores = pellucid.explain(model, pairs, "span_attention", progress=False)
            written.append([one.scores for one in scores])
    yield "train_translator, span_attention", difference(*written)


def judgements(device: str) -> Iterator[tuple[str, float]]:
    """What metrics say of two methods."""
    tables = []
    for where in (device, "cpu"):
        model = on_device(tiny_classifier("bert"), where)
        comparison = pellucid.compare(model, list(TEXTS), methods=["gradient", "chance"], progress=False)
        tables.append([[cell.value.mean for cell in comparison.cells]])
    yield "compare", difference(*tables)


def main(device: str) -> None:
    """Print the differences."""
    library = switch_on() if device == NAME else None
    done = {
        title: value
        for do in (explanations, readings, trainings, translators, judgements)
        for title, value in do(device)
    }
    print(json.dumps(done))
    del library


if __name__ == "__main__":
    main(sys.argv[1])
