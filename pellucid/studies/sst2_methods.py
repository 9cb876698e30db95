"""SST-2: every method against random scores, on 100 test sentences and three training seeds of a plain classifier.

The games are those of Hou and Castañón (2023), "Decoding Layer Saliency in Language Transformers", appendix A.1;
comprehensiveness and sufficiency are ERASER's. Models are the plain twins of `sst2_twins`: the epoch is chosen on dev.

    python -m pellucid.studies.sst2_methods --data FOLDER --work runs/sst2_methods --out studies/sst2_methods

FOLDER holds train.jsonl, dev.jsonl and test.jsonl (or .gz). Models and every sixteen judged sentences are kept in --work,
so an interrupted study goes on after the last of them. `--size tiny` takes seconds.
"""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch

from pellucid.api import accuracy, usual_methods
from pellucid.core.explaining.explaining import Request, method_calls
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import read_text, write_text
from pellucid.core.foundation.kinds import attributions
from pellucid.core.foundation.progress import Progress
from pellucid.core.foundation.wording import reason
from pellucid.core.passes.model import Model
from pellucid.core.passes.target import Target
from pellucid.core.results.table import CHANCE
from pellucid.core.text.example import Example
from pellucid.datasets.load import load_examples
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.comparison_folder import ComparisonFolder
from pellucid.evaluation.comparison.judged_part import joined
from pellucid.evaluation.comparison.metric_calls import metric_calls
from pellucid.models.composed.plan import Plan
from pellucid.reports.terminal.progress_bar import progress_bar
from pellucid.studies.sst2_methods_page import METRICS, as_page, as_picture, summed_up
from pellucid.studies.sst2_twins import LABELS, MODELS
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model

Numbers = dict[str, Any]
# What a method is given besides its defaults, so that the whole takes about an hour on two cores; usual methods that are
# not named here run with their defaults, and what is named but not there is left out.
METHODS: tuple[Choice, ...] = (
    CHANCE,  # 20 draws
    "gradient",
    "gradient_x_input",
    "integrated_gradients",
    "smooth_gradient",
    "gradient_shap",
    "grad_cam",
    "deep_lift_shap",
    "relevance",
    ("relevance", {"policy": "attnlrp"}),
    ("relevance", {"policy": "epsilon"}),
    "occlusion",
    ("occlusion", {"window": 3}),
    ("shapley_sampling", {"n_permutations": 12}),
    ("kernel_shap", {"n_samples": 256}),
    ("lime", {"n_samples": 256}),
    "thermostat_lime",
    ("preservation_mask", {"n_steps": 100}),
    "attention",
    ("attention", {"flow": "rollout"}),
    "attention_norm",
    "attention_gradient",
    ("sequential_integrated_gradients", {"n_steps": 3}),
    "discretised_integrated_gradients",
)


@dataclass(frozen=True)
class Size:
    """How much is run; methods: None for METHODS and all other usual ones; train: sentences to learn from, None for all."""

    texts: int
    seeds: int
    epochs: int
    train: int | None
    methods: tuple[Choice, ...] | None


SIZES = {
    "tiny": Size(4, 2, 1, 32, ((CHANCE, {"n_draws": 2}), "occlusion")),
    "small": Size(100, 3, 2, None, None),
}


@dataclass(frozen=True)
class Settings:
    """What a run depends on: how much, the sentences, where models and parts are kept, and the encoder."""

    size: Size
    data: Path
    work: Path
    encoder: str = "minilm"

    def trained(self, seed: int, told: Progress) -> Model:
        """The plain classifier of one seed, trained unless it is there."""
        parts = {split: load_examples(self.data, split) for split in ("train", "dev")}
        parts["train"] = parts["train"][: self.size.train]
        pooler, built, new = MODELS["plain"]
        recipe = Recipe(epochs=self.size.epochs, batch_size=32, learning_rate=5e-5, seed=seed, **new)
        plan = Plan(self.encoder, pooler, built, LABELS)
        folder = self.work / "models" / f"plain-{seed}"
        return train_model(
            parts,
            plan,
            recipe,
            folder,
            "cpu",
            progress=lambda _, done, total: told(f"training seed {seed}", done, total),
        )


def chosen(test: Sequence[Example], n: int) -> list[Example]:
    """The n sentences whose texts have the smallest digests: the same for every seed, and chosen by nobody."""
    digest = lambda example: blake2b("\n".join(example.segments).encode(), digest_size=16).hexdigest()  # noqa: E731
    return sorted(test, key=digest)[:n]


def choices(size: Size, model: Model) -> list[Choice]:
    """The methods to run: those listed that are registered, then the other usual ones that the model supports."""
    if size.methods is not None:
        return list(size.methods)
    name = lambda choice: choice if isinstance(choice, str) else choice[0]  # noqa: E731
    listed = [choice for choice in METHODS if name(choice) in attributions.names()]
    return [*listed, *(one for one in usual_methods(model) if one not in set(map(name, METHODS)))]


def run(settings: Settings, told: Progress) -> Numbers:
    """The numbers of every method: values [seed text] by metric, or the error for a seed that it failed on."""
    test = load_examples(settings.data, "test")
    texts = chosen(test, settings.size.texts)
    models: list[Numbers] = []
    found: dict[str, Numbers] = {}
    for seed in range(settings.size.seeds):
        model = settings.trained(seed, told)
        models.append(_about(model, seed, test, settings))
        for choice in choices(settings.size, model):
            title, numbers = _judged(model, seed, choice, texts, settings, told)
            found.setdefault(title, {})[str(seed)] = numbers
    return {"texts": [example.id for example in texts], "models": models, "methods": found}


def _about(model: Model, seed: int, test: Sequence[Example], settings: Settings) -> Numbers:
    folder = settings.work / "models" / f"plain-{seed}"
    history = json.loads((folder / "config.json").read_text(encoding="utf-8"))["trained"]["history"]
    best = max(epoch["dev_accuracy"] for epoch in history)
    return {"seed": seed, "hash": model.hash, "dev": best, "test": asdict(accuracy(model, test))}


def _judged(
    model: Model, seed: int, choice: Choice, texts: Sequence[Example], settings: Settings, told: Progress
) -> tuple[str, Numbers]:
    """A method's title, and its values by metric [text] with its settings; or what went wrong."""
    name, given = (choice, {}) if isinstance(choice, str) else choice
    title = f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})" if given else name
    try:
        [call] = method_calls([choice], model)
        request = Request(model, [call], Target("predicted"), 0)
        comparison = Comparison(request, tuple(texts), metric_calls(METRICS), 1)
        folder = settings.work / "judged" / f"plain-{seed}" / re.sub(r"[^\w=.]+", "-", call.title).strip("-")
        parts = ComparisonFolder(folder, comparison)
        parts.open()
        stage = lambda _, done, total: told(f"seed {seed}, {call.title}", done, total)  # noqa: E731
        answers = joined(list(parts.judged(stage))).answers
    except BadFile:
        raise  # the disk, or parts of another comparison: no fault of the method
    except Exception as error:  # whatever a method does, the others are judged
        return title, {"failed": reason(error)}
    values = {metric: answers[call.title, metric].columns.mean(0)[:, 0].tolist() for metric in METRICS}
    return title, {"settings": json.loads(json.dumps(dict(call.settings))), "values": values}


def main() -> None:
    """Run what is missing, then write numbers, page and picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train, dev and test JSON lines")
    parser.add_argument("--work", type=Path, required=True, help="folder for models and judged parts; large")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for the numbers, the page and the picture"
    )
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--encoder", default="minilm", help="minilm, a folder, or a hub name")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument(
        "--finished", action="store_true", help="do nothing; sum up the values that are there"
    )
    given = parser.parse_args()
    if given.finished:
        write_pages(given.out, given.size, json.loads(read_text(given.out / "values.json")))
        return
    torch.set_num_threads(given.threads)
    with progress_bar(True) as told:
        results = run(Settings(SIZES[given.size], given.data, given.work, given.encoder), told)
    write_text(given.out / "values.json", json.dumps(_short(results)))
    write_pages(given.out, given.size, json.loads(read_text(given.out / "values.json")))


def write_pages(out: Path, size: str, values: Numbers) -> None:
    """Write numbers, page and picture of kept values."""
    summary = summed_up(values)
    write_text(out / "result.json", json.dumps(summary, indent=1))
    write_text(out / "picture.svg", as_picture(summary))
    write_text(out / "README.md", as_page(summary, size))
    print(as_page(summary, size))


def _short(results: Any) -> Any:
    """The same with numbers of four digits after the point."""
    if isinstance(results, float):
        return round(results, 4)
    if isinstance(results, dict):
        return {key: _short(value) for key, value in results.items()}
    return [_short(value) for value in results] if isinstance(results, list) else results


if __name__ == "__main__":
    main()
