"""Planted truth: which methods find a reason that is known by construction, of six kinds, beside a decoy?

After Bastings et al. (2022), "Will You Find These Shortcuts?". Classifiers learn pocket's sentences with a planted reason
each, and a decoy word that goes with the label in nine of ten train texts. Only where a model has learnt the reason,
which edited texts show, are its explanations scored.

    python -m pellucid.studies.planted_truth --out studies/planted_truth

Finished models and results are kept and not repeated. `--size tiny` takes seconds.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.api import explain_all, learnt, plant, usual_methods
from pellucid.core.foundation.files import write_text
from pellucid.core.foundation.progress import Progress, silent
from pellucid.core.passes.model import Model
from pellucid.core.results.table import CHANCE, Interval
from pellucid.core.text.example import Example
from pellucid.datasets.planting.plant import CLASSES
from pellucid.evaluation.protocols.follows_planted_reason import ENOUGH
from pellucid.evaluation.protocols.pointing import decoy_first, reason_found
from pellucid.evaluation.shared.summary import bootstrap_interval, paired_difference
from pellucid.models.composed.plan import Plan
from pellucid.reports.terminal.progress_bar import progress_bar
from pellucid.studies.affordable import affordable
from pellucid.studies.computed import machines, where_computed
from pellucid.studies.units import Numbers, Share, Unit, kept, run_units
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model

# measure -> (value of each text, whether more is better, what the page calls it)
MEASURES = {
    "reason_found": (reason_found, True, "Average precision of the reason's words (1: they rank first)"),
    "decoy_first": (
        decoy_first,
        False,
        "Share of texts in which the decoy ranks above the whole reason (0 is best)",
    ),
}


@dataclass(frozen=True)
class Size:
    """How much is run: which reasons, train texts and epochs of each, and test texts that are explained.

    more: reasons that are tried again with more train texts, and how many.
    """

    reasons: tuple[str, ...]
    n: int
    epochs: int
    texts: int
    more: Mapping[str, int] = field(default_factory=dict)

    def planned(self) -> list[tuple[str, int]]:
        """Every reason with its number of train texts."""
        return [*((reason, self.n) for reason in self.reasons), *self.more.items()]


SIZES = {
    "tiny": Size(("token", "order"), 20, 1, 2),
    "small": Size(
        ("token", "lexicon", "span", "order", "position", "token_pair"), 1000, 4, 100, {"lexicon": 4000}
    ),
}
# pooler -> its settings, and what differs in the recipe: written out, so that kept runs stay what they are when defaults change.
POOLERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "first_token": ({}, {}),
    "span": ({"score_start": 0.15}, {"new_parts_factor": 2.0, "penalties": {"concentration": 1.0}}),
}


@dataclass(frozen=True)
class Settings:
    """What a run depends on besides its reason and pooler."""

    size: Size
    out: Path
    encoder: str = "minilm"
    enough: float = ENOUGH
    seed: int = 0

    def unit(self, reason: str, n: int, pooler: str) -> Unit:
        """The work on one reason with so many train texts and one pooler."""
        name = f"{reason}-{pooler}" if n == self.size.n else f"{reason}-{n}-{pooler}"
        about = self.about(reason, pooler) | {"n": n}
        return Unit(name, about, partial(work, reason, pooler, n, self), self.encoder)

    def about(self, reason: str, pooler: str) -> Numbers:
        """What the numbers of a reason and a pooler depend on."""
        return {
            **{name: getattr(self.size, name) for name in ("n", "epochs", "texts")},
            "reason": reason,
            "pooler": pooler,
            "encoder": Path(self.encoder).name,
            "enough": self.enough,
            "seed": self.seed,
        }


def run(
    settings: Settings, processes: int = 1, told: Progress = silent, finished: bool = False
) -> list[Numbers]:
    """The numbers of every reason and pooler; those whose file is there are read. finished: nothing else is done.

    Raises `BadFile` where a file holds the numbers of other settings.
    """
    units, folder = every_unit(settings), settings.out / "runs"
    if finished:
        return list(kept(units, folder).values())
    return list(run_units(units, folder, processes, told, "planted reasons").values())


def every_unit(settings: Settings) -> list[Unit]:
    """All the work of a study."""
    return [settings.unit(reason, n, pooler) for reason, n in settings.size.planned() for pooler in POOLERS]


def work(reason: str, pooler: str, n: int, settings: Settings, share: Share) -> Numbers:
    """One unit: train a model on one reason, ask whether it was learnt, and only then score the methods."""
    parts = plant(reason, "pocket", n=n, seed=settings.seed)
    began = time.monotonic()
    model = _trained(settings.unit(reason, n, pooler).name, pooler, parts, settings, share)
    trained = time.monotonic() - began
    follows = learnt(model, parts["test"])
    holds = follows.holds(settings.enough)
    methods = scored(model, parts["test"][: settings.size.texts], settings.seed) if holds else {}
    seconds = {"training": round(trained), "scoring": round(time.monotonic() - began - trained)}
    return {"learnt": {**asdict(follows), "holds": holds}, "methods": methods, "seconds": seconds}


def _trained(
    name: str, pooler: str, parts: Mapping[str, Sequence[Example]], settings: Settings, share: Share
) -> Model:
    built, changes = POOLERS[pooler]
    recipe = Recipe(
        seed=settings.seed, epochs=settings.size.epochs, batch_size=16, learning_rate=1e-4, **changes
    )
    plan = Plan(settings.encoder, pooler, built, CLASSES)
    return train_model(
        parts,
        plan,
        recipe,
        settings.out / "models" / name,
        "cpu",
        progress=lambda _, done, total: share(0.5 * done / total),  # the other half is for scoring
    )


def scored(model: Model, examples: Sequence[Example], seed: int) -> Numbers:
    """Method -> measure -> its mean over texts and its difference from chance, text by text, with intervals."""
    found = explain_all(model, examples, affordable(usual_methods(model)), seed=seed, progress=False)
    by_measure = {
        measure: {title: values(explanations) for title, explanations in found.items()}
        for measure, (values, _, _) in MEASURES.items()
    }
    return {
        title: {measure: _numbers(values[title], values[CHANCE]) for measure, values in by_measure.items()}
        for title in found
    }


def _numbers(values: np.ndarray, chance: np.ndarray) -> Numbers:
    return {
        "value": asdict(bootstrap_interval(values)),
        "over_chance": asdict(paired_difference(values, chance)),
    }


def as_page(results: Sequence[Numbers], size: str, missing: Sequence[str] = ()) -> str:
    """The results as a Markdown page. missing: names of units that are still to come."""
    first = results[0]["about"]
    tables = "\n".join(
        f"## {heading}, {pooler}\n\n{_table(results, pooler, measure)}\n"
        for measure, (_, _, heading) in MEASURES.items()
        for pooler in dict.fromkeys(result["about"]["pooler"] for result in results)
    )
    return (
        "# Planted truth: which methods find the known reason?\n\n"
        f"{first['encoder']} on pocket's sentences with a planted reason, half of each label. "
        "A decoy word goes with the\nlabel in nine of ten train texts, and in half of the test texts. "
        f"Made by `python -m pellucid.studies.planted_truth --size {size} --out studies/planted_truth`.\n\n"
        "## Was it learnt?\n\n"
        "Share of right answers on test texts: as they are; with the reason edited, so that the label turns; with the other\n"
        f"decoy, so that it stays. Below {first['enough']} in any of them, nothing can be said about explainers.\n\n"
        f"{_learnt_table(results)}\n\n{_unfinished(missing)}{tables}\n"
        "**One training of each:** a row speaks of that model; another training may rank methods otherwise.\n"
        f"{where_computed(machines(results))}\n\n"
        "95 % bootstrap intervals over texts; two texts share a carrier sentence. `·`: not told from chance, or worse, text by\n"
        "text. Methods with their default settings, on the predicted class's logit. What each reason is: "
        "[plant a reason](../../docs/how-to/plant-a-reason.md).\n"
    )


def _unfinished(missing: Sequence[str]) -> str:
    return f"**Not run yet, so not judged:** {', '.join(missing)}.\n\n" if missing else ""


def _title(result: Numbers) -> str:
    return f"{result['about']['reason']}, {result['about']['n']} texts"


def _learnt_table(results: Sequence[Numbers]) -> str:
    rows = [
        "| {reason} | {n} | {pooler} | {epochs} | ".format(**result["about"])
        + " | ".join(
            _rounded(result["learnt"][name]) for name in ("accuracy", "counterfactual", "distractor")
        )
        + f" | {'yes' if result['learnt']['holds'] else 'no'} |"
        for result in results
    ]
    head = "| reason | train texts | pooler | epochs | as they are | reason edited | other decoy | learnt |\n|---|---|---|---|---|---|---|---|"
    return "\n".join([head, *rows])


def _table(results: Sequence[Numbers], pooler: str, measure: str) -> str:
    """Methods down, learnt reasons across."""
    columns = [result for result in results if result["about"]["pooler"] == pooler and result["methods"]]
    if not columns:
        return "Nothing was learnt: nothing can be said about explainers."
    methods = sorted(
        {title for column in columns for title in column["methods"]}, key=lambda name: (name == CHANCE, name)
    )
    rows = [
        f"| {title} | "
        + " | ".join(_cell(column["methods"].get(title), measure) for column in columns)
        + " |"
        for title in methods
    ]
    usual = min(result["about"]["n"] for result in results)
    heads = [
        column["about"]["reason"] if column["about"]["n"] == usual else _title(column) for column in columns
    ]
    head = f"| method | {' | '.join(heads)} |\n|---{'|---' * len(columns)}|"
    return "\n".join([head, *rows])


def _cell(method: Numbers | None, measure: str) -> str:
    if method is None:
        return "–"
    _, more_is_better, _ = MEASURES[measure]
    over = Interval(**method[measure]["over_chance"])
    better = over.low > 0 if more_is_better else over.high < 0
    return _rounded(method[measure]["value"]) + ("" if better else " ·")


def _rounded(interval: Mapping[str, float] | None) -> str:
    return "–" if interval is None else "{mean:.2f} [{low:.2f}, {high:.2f}]".format(**interval)


def main() -> None:
    """Run what is missing, then write the page over all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for models, numbers and the page")
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--encoder", default="minilm", help="minilm, a folder, or a hub name")
    parser.add_argument(
        "--enough", type=float, default=ENOUGH, help="share of right answers that counts as learnt"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, help="units at a time, a core each")
    parser.add_argument("--finished", action="store_true", help="train nothing; report what is there")
    given = parser.parse_args()
    settings = Settings(SIZES[given.size], given.out, given.encoder, given.enough, given.seed)
    with progress_bar(True) as told:
        results = run(settings, given.processes, told, given.finished)
    if not results:
        parser.error(f"Nothing is finished in {given.out}; run without --finished first.")
    done = kept(every_unit(settings), given.out / "runs")
    missing = [unit.name for unit in every_unit(settings) if unit.name not in done]
    page = as_page(results, given.size, missing)
    write_text(given.out / "result.json", json.dumps(results, indent=1))
    write_text(given.out / "README.md", page)
    print(page)


if __name__ == "__main__":
    main()
