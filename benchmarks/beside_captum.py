"""Ours beside captum in one process, round by round: how many times as fast each method is.

    python -m benchmarks.beside_captum                              # about 15 minutes; prints, and writes nothing
    python -m benchmarks.beside_captum --methods deep_lift_shap --texts long --rounds 5

One thread, processor time, so that what else runs counts little; ours and captum's take turns within each round, and
what is printed is the median of the rounds' ratios, with the lowest and the highest. captum is used as its README shows
it, one text a call; where its page has a faster use, that one is printed beside it.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

import pellucid
from benchmarks.attribution import ours, peers_captum
from benchmarks.attribution.cases import OCCLUSION, PATH_SETTINGS, SAMPLES
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.peak_product import answer as peak_of
from benchmarks.attribution.reading import reader_of
from benchmarks.attribution.results import machine_of
from benchmarks.attribution.workload import TINY, texts_of

WORK = Path(__file__).parents[1] / "runs" / "benchmark"
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
Explain = Callable[[list[str]], object]


def main() -> None:
    """Print the processor, and a line a method and kind of texts."""
    options = _options()
    torch.set_num_threads(1)
    folder = folder_of("minilm", WORK)
    models = {route: pellucid.load(folder, route=route) for route in ("eager", "auto")}
    in_use = models["auto"].route_in_use
    if in_use == "eager":
        del models["auto"]
    peaks = ", ".join(f"{name} {speed:.0f}" for name, speed in peak_of({"threads": 1})["gflops"].items())
    print(f"{machine_of('cpu')['processor']}, one thread: {peaks} GFLOP/s; auto is {in_use}.\n")
    print("| method | texts | captum ÷ eager | captum ÷ auto | tuned captum ÷ eager | seconds |")
    print("|---|---|---|---|---|---|")
    reader = reader_of(folder, "cpu")
    for kind in options.texts:
        for method in options.methods:
            settings, of_captum = SETTINGS[method]
            runs: dict[str, Explain] = {route: ours.prepare(model, method, settings) for route, model in models.items()}
            runs["captum"] = peers_captum.prepare(reader, method, of_captum, tuned=False)
            if method not in NO_FASTER_USE:
                runs["tuned"] = peers_captum.prepare(reader, method, of_captum, tuned=True)
            count = options.count or TEXTS[kind][method not in OF_FEW_PASSES]
            every = texts_of(kind)
            print(_line(method, kind, runs, every[len(every) // count // 2 :: len(every) // count], options.rounds))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--texts", nargs="+", default=list(TEXTS), choices=list(TEXTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, help="texts of each kind, in place of those of the page")
    return parser.parse_args()


def _line(method: str, kind: str, runs: dict[str, Explain], texts: list[str], rounds: int) -> str:
    for run in runs.values():
        run(TINY)  # imports, and what a model does only once
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run(texts)
            seconds[name].append(time.process_time() - start)
    ratios = [_ratio(seconds.get(above), seconds.get(below)) for above, below in PAIRS]
    medians = ", ".join(f"{name} {statistics.median(each):.2f}" for name, each in seconds.items())
    return f"| {method} | {len(texts)} {kind} | {' | '.join(ratios)} | {medians} |"


PAIRS = (("captum", "eager"), ("captum", "auto"), ("tuned", "eager"))


def _ratio(above: Sequence[float] | None, below: Sequence[float] | None) -> str:
    """The median of the rounds' ratios, with the lowest and the highest."""
    if above is None or below is None:
        return "–"
    ratios = [each / other for each, other in zip(above, below, strict=True)]
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f} to {max(ratios):.2f})"


if __name__ == "__main__":
    main()
