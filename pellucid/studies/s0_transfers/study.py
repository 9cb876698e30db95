"""T4: can extracted spans stand for their texts? Models trained and tested on full texts and on spans of SST-5.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 4 and table 4; corrections.md A0.10 to A0.12.
The models that are tested are plain; only `span_attention` reads a self-explaining one, and `rationale` one of its own.

    python -m pellucid.studies.s0_transfers --data FOLDER --work runs/s0_transfers --out studies/s0_transfers --processes 2

FOLDER holds train.jsonl, dev.jsonl and test.jsonl (or .gz); --data pocket takes our own sentences. Each training leaves a
file of numbers in --out; what is there is not done again. Models and spans lie in --work. `--size tiny` takes a minute;
small about 80 minutes in two processes of one core each: nine trainings on full texts, 25 on spans.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pellucid.core.foundation.files import write_text
from pellucid.core.foundation.progress import Progress, silent
from pellucid.core.results.extraction import Extraction, extraction_in
from pellucid.core.text.example import Example
from pellucid.datasets.load import load_examples
from pellucid.datasets.shared.part_files import PARTS
from pellucid.evaluation.protocols.label_leak import label_leak
from pellucid.evaluation.protocols.transfers import right_answers
from pellucid.exports.json_lines import write_json_lines
from pellucid.extraction.extract import extract_from, selection_for
from pellucid.models.classifiers.classifier import Classifier
from pellucid.reports.terminal.progress_bar import progress_bar
from pellucid.studies.s0_transfers.page import BLIND, as_page, summed_up
from pellucid.studies.shared.self_explaining_models import (
    CONCENTRATION,
    CONCENTRATION_HELP,
    MODELS,
    Training,
    train_kind,
)
from pellucid.studies.shared.units import Numbers, Share, Unit, claim, digest, kept, run_units, unheard
from pellucid.training.recipe import Recipe


@dataclass(frozen=True)
class Row:
    """An extractor as it is judged: the model that it reads, its selection and its settings.

    like: its spans are as long as those of span_attention with the same seed.
    """

    extractor: str
    model: str
    like: bool = False
    selection: str | None = None
    budget: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


ROWS = {
    "span_attention": Row("span_attention", "span"),
    "average_gradient": Row("average_gradient", "plain", like=True),
    BLIND: Row("average_gradient", "plain", like=True, settings={"target": "predicted"}),
    "average_attention": Row("average_attention", "plain", like=True),
    "rationale": Row("rationale", "rationale"),
    "random_span": Row("random_span", "plain"),
    "random_span_of_length": Row("random_span_of_length", "plain", like=True),
}
MODES = {  # one seed: other ways to cut by the same scores, the paper's literal one among them
    f"{name}-{mode}": Row(name, "plain", selection=mode, budget=0.2 if mode == "budget" else None)
    for name in ("average_gradient", "average_attention")
    for mode in ("literal", "budget", "max_sum_centred")
}


@dataclass(frozen=True)
class Size:
    """How much is run; train, test: texts, None for all."""

    seeds: int
    epochs: int
    train: int | None
    test: int | None
    batch_size: int
    learning_rate: float


SIZES = {
    "tiny": Size(1, 1, 24, 8, 8, 1e-3),
    "small": Size(3, 2, None, None, 32, 5e-5),
    "pairs": Size(3, 1, 10_000, 3_000, 32, 5e-5),  # small, for SNLI's half a million
    "paper": Size(3, 20, None, None, 40, 2e-5),
}
PAPERS: dict[str, Any] = {
    "weight_decay": 0.0,
    "new_parts_factor": 1.0,
    "warmup": 0.0,
    "clip": 0.0,
    "beta2": 0.98,
}  # see s0_accuracy


@dataclass(frozen=True)
class Settings:
    """What a run depends on, and where models and spans are kept (work) and numbers (out)."""

    size: Size
    data: str
    work: Path
    out: Path
    encoder: str = "minilm"
    concentration: float = CONCENTRATION
    device: str = "cpu"

    @cached_property
    def about(self) -> Numbers:
        """What the numbers depend on."""
        encoder, data = Path(self.encoder).name, Path(self.data).name
        size = asdict(self.size)
        return {
            **size,
            "data": data,
            "texts": digest(self.parts),
            "encoder": encoder,
            "concentration": self.concentration,
            **({"recipe": PAPERS} if self.size == SIZES["paper"] else {}),
        }

    @cached_property
    def parts(self) -> dict[str, list[Example]]:
        """The full texts, without what travels with them."""
        sizes = {"train": self.size.train, "dev": self.size.test, "test": self.size.test}
        return {
            part: [replace(one, meta={}) for one in load_examples(self.data, part)[: sizes[part]]]
            for part in PARTS
        }


def run(
    settings: Settings,
    processes: int = 1,
    told: Progress = silent,
    only: Sequence[str] = (),
    finished: bool = False,
) -> Numbers:
    """All numbers of the study; what is finished is read.

    only: rows to work on, all when none is named. finished: nothing is done, what is there is summed up.
    """
    seeds = range(settings.size.seeds)
    models = [f"model-{kind}-{seed}" for seed in seeds for kind in MODELS]
    rows = [f"{name}-{seed}" for seed in seeds for name in ROWS] + [f"{name}-0" for name in MODES]
    found: dict[str, Numbers] = {}
    for stage, names in (("models", models), ("rows", rows)):  # spans need all models of their seed
        units = [
            Unit(
                name, settings.about, partial(work, settings, name), settings.encoder, device=settings.device
            )
            for name in names
        ]
        found |= kept(units, settings.out / "runs")
        asked = [one for one in units if stage == "models" or not only or one.name.rpartition("-")[0] in only]
        if not finished:
            claim(settings.work, settings.about)
            found |= run_units(asked, settings.out / "runs", processes, told, stage)
    wanted = dict.fromkeys(ROWS, settings.size.seeds) | dict.fromkeys(MODES, 1)
    return summed_up(found, wanted, settings.size.seeds) | {"about": settings.about}


def work(settings: Settings, name: str, share: Share) -> Numbers:
    """One unit: a model trained on full texts, or one row's spans with the model trained on them."""
    began, seed = time.monotonic(), int(name.rpartition("-")[2])
    what = name.rpartition("-")[0]
    if what.startswith("model-"):
        numbers = _of_model(settings, what.removeprefix("model-"), seed, share)
    else:
        numbers = _of_row(settings, what, seed, share)
    return {"seed": seed, **numbers, "seconds": round(time.monotonic() - began)}


def _of_model(settings: Settings, kind: str, seed: int, share: Share) -> Numbers:
    model = trained(settings, kind, seed, share=share)
    if kind == "span":
        cut(settings, "span_attention", seed)  # others take their lengths
    return {"right": right_answers(model, settings.parts["test"])}


def _of_row(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    found = cut(settings, name, seed)
    spans = {part: [one.as_example() for one in held] for part, held in found.items()}
    full_model = trained(settings, "plain", seed)
    span_model = trained(settings, "plain", seed, spans, name, share)
    test = settings.parts["test"]
    leak = label_leak(found["train"], found["test"])
    return {
        "coverage": [one.coverage for one in found["test"]],
        "words": [sum(len(span.words) for span in one.spans) for one in found["test"]],
        "leak": {**asdict(leak), "leaks": leak.leaks},
        "F-S": right_answers(full_model, spans["test"]),
        "S-F": right_answers(span_model, test),
        "S-S": right_answers(span_model, spans["test"]),
    }


def trained(
    settings: Settings,
    kind: str,
    seed: int,
    parts: Mapping[str, Sequence[Example]] | None = None,
    cut_by: str = "full",
    share: Share = unheard,
) -> Classifier:
    """A model of a kind on full texts, or on others; a finished one is loaded."""
    size = settings.size
    labels = tuple(sorted({one.label for one in settings.parts["train"] if one.label is not None}))
    recipe = Recipe(
        epochs=size.epochs,
        batch_size=size.batch_size,
        learning_rate=size.learning_rate,
        seed=seed,
        **(PAPERS if size == SIZES["paper"] else {}),
    )
    training = Training(settings.encoder, labels, recipe, settings.concentration, settings.device)
    folder = settings.work / "models" / f"{kind}-{cut_by}-{seed}"
    return train_kind(kind, training, parts or settings.parts, folder, share)


def cut(settings: Settings, name: str, seed: int) -> dict[str, list[Extraction]]:
    """The spans of all parts by one row's extractor; those that are there are read."""
    if not all(path.exists() for path in _files(settings, name, seed).values()):
        _cut_together(settings, name, seed)
    files = _files(settings, name, seed)
    return {part: [extraction_in(one) for one in load_examples(path)] for part, path in files.items()}


def _files(settings: Settings, name: str, seed: int) -> dict[str, Path]:
    return {part: settings.work / "spans" / f"{name}-{seed}" / f"{part}.jsonl.gz" for part in PARTS}


def _cut_together(settings: Settings, name: str, seed: int) -> None:
    """Write the spans of a row, and with the first seed those of all rows that differ in the selection alone."""
    rows = ROWS | MODES if seed == 0 else ROWS
    row = rows[name]
    same = (row.extractor, row.model, row.settings)
    names = [other for other, held in rows.items() if (held.extractor, held.model, held.settings) == same]
    model = trained(settings, row.model, seed)
    lengths = cut(settings, "span_attention", seed) if row.extractor != "span_attention" else {}
    for part in PARTS:
        selections = [
            selection_for(row.extractor, held.selection, held.budget, 1, lengths[part] if held.like else None)
            for held in map(rows.__getitem__, names)
        ]
        texts = settings.parts[part]
        found = extract_from(model, texts, row.extractor, selections, row.settings, seed, silent)
        for other, held in zip(names, found, strict=True):
            write_json_lines([one.as_example() for one in held], _files(settings, other, seed)[part])


def main() -> None:
    """Run what is missing, then write the page over all numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with train, dev and test JSON lines; or pocket")
    parser.add_argument("--work", type=Path, required=True, help="folder for models and spans")
    parser.add_argument("--out", type=Path, required=True, help="folder for the numbers and the page")
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--encoder", default="minilm", help="minilm, a folder, or a hub name")
    parser.add_argument("--concentration", type=float, default=CONCENTRATION, help=CONCENTRATION_HELP)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=1, help="trainings at a time, a core each")
    parser.add_argument("--rows", nargs="+", default=[], help="work on these rows alone, such as rationale")
    parser.add_argument("--finished", action="store_true", help="train nothing; report what is there")
    given = parser.parse_args()
    settings = Settings(
        SIZES[given.size],
        given.data,
        given.work,
        given.out,
        given.encoder,
        given.concentration,
        given.device,
    )
    with progress_bar(True) as told:
        numbers = run(settings, given.processes, told, given.rows, given.finished)
    write_text(given.out / "result.json", json.dumps(numbers, indent=1))
    write_text(given.out / "README.md", as_page(numbers, given.size))
    print(as_page(numbers, given.size))


if __name__ == "__main__":
    main()
