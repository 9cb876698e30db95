"""SST-2: every method against random scores, on 100 test sentences and three training seeds of a plain classifier.

The games are those of Hou and Castañón (2023), "Decoding Layer Saliency in Language Transformers", appendix A.1;
comprehensiveness and sufficiency are ERASER's. Models are the plain twins of `sst2_twins`: the epoch is chosen on dev.

    python -m studies sst2_methods --data FOLDER --work runs/sst2_methods --out studies/sst2_methods

FOLDER holds train.jsonl, dev.jsonl and test.jsonl (or .gz). Models and judged sentences, sixteen at a time, are kept in
--work, so an interrupted study goes on after the last of them. `--size tiny` takes seconds.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from pellucid.base.catalogue import Choice
from pellucid.base.checks import reason
from pellucid.base.errors import BadFile
from pellucid.base.files import read_text, write_text
from pellucid.base.json_text import Json
from pellucid.base.kinds import attributions
from pellucid.base.processes import Progress
from pellucid.comparison.comparison import Comparison, metric_calls
from pellucid.comparison.folder import ComparisonFolder
from pellucid.comparison.judged_part import joined
from pellucid.data.load import load_examples
from pellucid.explaining.answers import accuracy
from pellucid.explaining.inputs.readings import usual_methods
from pellucid.models.composed.networks import Plan
from pellucid.results.table import CHANCE
from pellucid.run.explaining import Request, method_calls
from pellucid.run.model import Model
from pellucid.run.target import Target
from pellucid.text.example import Example
from pellucid.text.ranges import TIES
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from studies.shared.data_folders import corpus_title
from studies.shared.equal_scores import RECORD, EqualScores
from studies.shared.options import DATA, ENCODER, FINISHED, WORK, Option
from studies.shared.study import Settings, Study, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers
from studies.sst2_methods.page import METRICS, as_page, as_picture, summarise
from studies.sst2_twins.trials import LABELS, MODELS

# Settings that differ from the defaults keep the whole at about an hour on two cores. Usual methods that are not named
# here run with their defaults; methods that are named here but not registered are left out.
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
class MethodsSize:
    """How much is run. train: sentences to learn from, None for all. methods: None for METHODS and all other usual
    ones.
    """

    texts: int
    seeds: int
    epochs: int
    train: int | None
    methods: tuple[Choice, ...] | None


SIZES = {
    "tiny": MethodsSize(4, 2, 1, 32, ((CHANCE, {"n_draws": 2}), "occlusion")),
    "small": MethodsSize(100, 3, 2, None, None),
}


def titled(settings: Settings, numbers: Numbers) -> Numbers:
    """The numbers, and what the page calls the sentences."""
    return {"title": corpus_title("SST-2", settings.data, "sst2"), **numbers}


@studies.add()
def sst2_methods() -> Study:
    """Which methods are better than random scores? 100 sentences of SST-2, three seeds of a plain classifier."""
    threads = Option("--threads", {"type": int, "default": torch.get_num_threads()})
    finished = FINISHED.changed(help="do nothing; sum up the values that are there")
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, ENCODER, threads, finished),
        work=read_or_measure,
        summary=lambda settings, values: titled(settings, summarise(dict(values))),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"picture.svg": lambda settings, numbers: as_picture(numbers)},
        equal_scores=EqualScores(
            "hiding, revealing, comprehensiveness and sufficiency took equal scores in reading order",
            "This concerns grad_cam and preservation_mask, which can give several words the same score.",
        ),
    )


def read_or_measure(settings: Settings, progress: Progress) -> Numbers:
    """The values of every method as values.json has them: four digits after the point. --finished only reads them."""
    path = settings.out / "values.json"
    if not settings.finished:
        torch.set_num_threads(settings.own["threads"])
        write_text(path, json.dumps(_short(measure(settings, progress))))
    values: Numbers = json.loads(read_text(path))
    return values


def trained(settings: Settings, seed: int, progress: Progress) -> Model:
    """The plain classifier of one seed. A finished one is loaded."""
    parts = {split: load_examples(settings.data, split) for split in ("train", "dev")}
    parts["train"] = parts["train"][: settings.size.train]
    pooler, pooler_settings, new = MODELS["plain"]
    recipe = Recipe(epochs=settings.size.epochs, batch_size=32, learning_rate=5e-5, seed=seed)
    return train_model(
        parts,
        Plan(settings.encoder, pooler, pooler_settings, LABELS),
        replace(recipe, **new),
        _model_folder(settings, seed),
        "cpu",
        progress=lambda _, done, total: progress(f"training seed {seed}", done, total),
    )


def _model_folder(settings: Settings, seed: int) -> Path:
    return settings.work / "models" / f"plain-{seed}"


def method_choices(size: MethodsSize, model: Model) -> list[Choice]:
    """The methods to run: the registered ones of METHODS, then the other usual ones that the model supports."""
    if size.methods is not None:
        return list(size.methods)
    listed = [choice for choice in METHODS if _parts(choice)[0] in attributions.names()]
    names = {_parts(choice)[0] for choice in METHODS}
    return [*listed, *(one for one in usual_methods(model) if one not in names)]


def _parts(choice: Choice) -> tuple[str, Mapping[str, object]]:
    """A method's name and the settings of this choice."""
    return (choice, {}) if isinstance(choice, str) else choice


def measure(settings: Settings, progress: Progress) -> Numbers:
    """The numbers of every method: values [seed text] by metric, or the error for a seed that it failed on."""
    test = load_examples(settings.data, "test")
    texts = with_smallest_digests(test, settings.size.texts)
    models: list[Numbers] = []
    methods: dict[str, Numbers] = {}
    for seed in range(settings.size.seeds):
        model = trained(settings, seed, progress)
        models.append(_about(model, seed, test, settings))
        for choice in method_choices(settings.size, model):
            title, numbers = _judged(settings, model, texts, _Attempt(seed, choice, progress))
            methods.setdefault(title, {})[str(seed)] = numbers
    ids = [example.id for example in texts]
    return {"texts": ids, "models": models, "methods": methods, RECORD: TIES}


def _about(model: Model, seed: int, test: Sequence[Example], settings: Settings) -> Numbers:
    folder = _model_folder(settings, seed)
    history = json.loads((folder / "config.json").read_text(encoding="utf-8"))["trained"]["history"]
    best = max(epoch["dev_accuracy"] for epoch in history)
    return {"seed": seed, "hash": model.hash, "dev": best, "test": asdict(accuracy(model, test))}


@dataclass(frozen=True)
class _Attempt:
    """One method on the model of one seed."""

    seed: int
    choice: Choice
    progress: Progress

    @property
    def title(self) -> str:
        """The name in tables, also where the method cannot be called."""
        name, settings = _parts(self.choice)
        listed = ", ".join(f"{key}={value}" for key, value in settings.items())
        return f"{name}({listed})" if settings else name


def _judged(settings: Settings, model: Model, texts: Sequence[Example], attempt: _Attempt) -> tuple[str, Numbers]:
    """A method's title, and its values by metric [text] with its settings; or the reason of its failure."""
    title, seed = attempt.title, attempt.seed
    try:
        [call] = method_calls([attempt.choice], model)
        request = Request(model, [call], Target("predicted"), 0)
        comparison = Comparison(request, tuple(texts), metric_calls(METRICS), 1)
        folder = settings.work / "judged" / f"plain-{seed}" / re.sub(r"[^\w=.]+", "-", call.title).strip("-")
        parts = ComparisonFolder(folder, comparison)

        def report(_: str, done: int, total: int) -> None:
            attempt.progress(f"seed {seed}, {call.title}", done, total)

        answers = joined(list(parts.judged(report))).values
    except BadFile:
        raise  # the disk, or parts of another comparison: not the method's fault
    except Exception as error:  # a method may raise anything; the others are judged
        return title, {"failed": reason(error)}
    values = {metric: answers[call.title, metric].columns.mean(0)[:, 0].tolist() for metric in METRICS}
    return title, {"settings": json.loads(json.dumps(dict(call.settings))), "values": values}


def _short(content: Json) -> Json:
    """The same with numbers of four digits after the point."""
    if isinstance(content, float):
        return round(content, 4)
    if isinstance(content, dict):
        return {key: _short(one) for key, one in content.items()}
    return [_short(one) for one in content] if isinstance(content, list) else content
