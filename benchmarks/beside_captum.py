"""Ours beside captum in one process, round by round: how many times as fast each method is.

    python -m benchmarks.beside_captum                              # an hour; goes on after an interruption
    python -m benchmarks.beside_captum --methods deep_lift_shap --texts long --rounds 5 --fresh

One thread, processor time, so that what else runs counts little; ours and captum's take turns within each round, and
what counts is the median of the rounds' ratios, with the lowest and the highest. captum is used as its README shows it,
one text a call; where its page has a faster use, that one stands beside it. Each kind of processor has a file of its own,
benchmarks/results/beside_captum-NAME.json; docs/beside-captum.md shows all of them.
"""

import argparse
import json
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

import pellucid
from benchmarks.attribution import ours, peers_captum
from benchmarks.attribution.cases import OCCLUSION, PATH_SETTINGS, SAMPLES
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.reading import reader_of
from benchmarks.attribution.results import Results, machine_of, machine_words
from benchmarks.attribution.workload import TINY, texts_of

ROOT = Path(__file__).parents[1]
WORK = ROOT / "runs" / "benchmark"
RESULTS, PAGE = ROOT / "benchmarks" / "results", ROOT / "docs" / "beside-captum.md"
TEXTS = {"short": (32, 8), "long": (6, 2)}  # of each kind so many, for a method of few passes a text and for the others
SETTINGS: dict[str, tuple[dict, dict]] = {
    "gradient_x_input": ({}, {}),
    **{name: PATH_SETTINGS[name] for name in ("integrated_gradients", "gradient_shap")},
    "deep_lift_shap": ({}, {}),
    "occlusion": (OCCLUSION, {}),
    **{name: settings for name, (_, *settings) in SAMPLES.items() if name != "thermostat_lime"},
}
OF_FEW_PASSES = ("gradient_x_input", "deep_lift_shap", "gradient_shap")
NO_FASTER_USE = ("deep_lift_shap", "gradient_shap")  # of captum, than its README's
# How many times as fast as captum the better one of eager and auto must be, with short and with long texts.
MUST = {
    "gradient_x_input": {"short": 1.5, "long": 1.2},
    "integrated_gradients": {"short": 1.05, "long": 1.05},
    "gradient_shap": {"short": 1.05, "long": 1.05},
    "deep_lift_shap": {"short": 1.1, "long": 1.1},
    "occlusion": {"short": 2, "long": 1.5},
    **{name: {"short": 5, "long": 2.5} for name in ("kernel_shap", "lime", "shapley_sampling")},
}
PAIRS = (("captum", "eager"), ("captum", "auto"), ("tuned", "eager"))
Explain = Callable[[list[str]], object]


def main() -> None:
    """Measure what is not there yet, and write the page after each method."""
    options = _options()
    torch.set_num_threads(1)
    folder = folder_of("minilm", WORK)
    models = {route: pellucid.load(folder, route=route) for route in ("eager", "auto")}
    in_use = models["auto"].route_in_use
    if in_use == "eager":
        del models["auto"]
    results = Results(_file_of(machine_of("cpu")["processor"]), "cpu", options.fresh)
    results.keep("machine", {"auto": in_use})
    reader = reader_of(folder, "cpu")
    for kind in options.texts:
        for method in options.methods:
            if results.has(f"{method} / {kind}"):
                continue
            settings, of_captum = SETTINGS[method]
            runs: dict[str, Explain] = {route: ours.prepare(model, method, settings) for route, model in models.items()}
            runs["captum"] = peers_captum.prepare(reader, method, of_captum, tuned=False)
            if method not in NO_FASTER_USE:
                runs["tuned"] = peers_captum.prepare(reader, method, of_captum, tuned=True)
            count = options.count or TEXTS[kind][method not in OF_FEW_PASSES]
            every = texts_of(kind)
            texts = every[len(every) // count // 2 :: len(every) // count]
            results.keep(f"{method} / {kind}", measured(runs, texts, options.rounds))
            PAGE.write_text(as_page(_every_machine()), encoding="utf-8")
    print(as_page(_every_machine()))


def _file_of(processor: str) -> Path:
    """The results of a kind of processor."""
    name = re.sub("[^a-z0-9]+", "-", processor.lower()).strip("-")
    return RESULTS / f"beside_captum-{name}.json"


def _every_machine() -> list[dict[str, Any]]:
    """What was measured, by kind of processor."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("beside_captum-*.json"))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--texts", nargs="+", default=list(TEXTS), choices=list(TEXTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, help="texts of each kind, in place of those of the page")
    parser.add_argument("--fresh", action="store_true", help="measure everything anew")
    return parser.parse_args()


def measured(runs: dict[str, Explain], texts: list[str], rounds: int) -> dict[str, Any]:
    """Median seconds of each way, and of each pair of ways the median, lowest and highest ratio of the rounds."""
    for run in runs.values():
        run(TINY)  # imports, and what a model does only once
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run(texts)
            seconds[name].append(time.process_time() - start)
    ratios = {
        f"{above} / {below}": _ratio(seconds[above], seconds[below])
        for above, below in PAIRS
        if above in seconds and below in seconds
    }
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    return {"texts": len(texts), "rounds": rounds, "seconds": medians, "ratios": ratios}


def _ratio(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """The median, the lowest and the highest of the rounds' ratios."""
    ratios = [each / other for each, other in zip(above, below, strict=True)]
    return [statistics.median(ratios), min(ratios), max(ratios)]


def as_page(machines: Sequence[dict[str, Any]]) -> str:
    """The ratios as a Markdown page, a part a machine."""
    return (
        "# Beside captum\n\nMade by `python -m benchmarks.beside_captum`; not written by hand. One thread, processor "
        "seconds. captum is used as its README shows it and, where its page has a faster use, tuned. A ratio above 1: so "
        "many times as fast as captum; median of the rounds (lowest to highest). What must be reached is asked of the "
        "better one of eager and auto.\n" + "".join(map(_of_machine, machines))
    )


def _of_machine(contents: dict[str, Any]) -> str:
    records = contents["records"]
    pairs = [(method, kind, f"{method} / {kind}") for kind in TEXTS for method in SETTINGS]
    rows = [_row(method, kind, records[name]) for method, kind, name in pairs if name in records]
    missing = [f"{method}, {kind}" for method, kind, name in pairs if name not in records]
    return (
        f"\n## {contents['made_on']['processor']}\n\nOn {machine_words(contents['made_on'])}; "
        f'`route="auto"` is {records["machine"]["auto"]} there. captum {contents["versions"]["captum"]}, PyTorch '
        f"{contents['versions']['torch']}.\n\n"
        "| method | texts | captum ÷ eager | captum ÷ auto | must | | tuned captum ÷ eager | seconds |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
        + "\n".join(rows)
        + "\n"
        + (f"\nNot measured yet: {'; '.join(missing)}.\n" if missing else "")
    )


def _row(method: str, kind: str, record: dict[str, Any]) -> str:
    ratios, must = record["ratios"], MUST[method][kind]
    best = max(ratios[pair][0] for pair in ("captum / eager", "captum / auto") if pair in ratios)
    cells = [_cell(ratios.get(" / ".join(pair))) for pair in PAIRS]
    seconds = ", ".join(f"{name} {value:.2f}" for name, value in record["seconds"].items())
    verdict = "met" if best >= must else "missed"
    return f"| {method} | {record['texts']} {kind} | {cells[0]} | {cells[1]} | {must:g} | {verdict} | {cells[2]} | {seconds} |"


def _cell(ratio: Sequence[float] | None) -> str:
    return "–" if ratio is None else f"**{ratio[0]:.2f}** ({ratio[1]:.2f} to {ratio[2]:.2f})"


if __name__ == "__main__":
    main()
