"""The section of docs/performance.md about the methods of hidden states, from the results of their two benchmarks."""

import json
from pathlib import Path
from typing import Any

from benchmarks.attribution.table import listed

RESULTS = Path(__file__).parents[1] / "results"
HEAD = ("", "measured", "must", "aim", "verdict")
EVALUATIONS, FASTER = (400, 100), (20, 60)  # must and aim
MINUTES, GIGABYTES = (20, 5), (0.5, 0.2)
LATE = 392  # evaluations of a search that takes all of its steps


def states_section(folder: Path = RESULTS) -> str:
    """Decoded saliency beside its floor, retained information beside the released procedure."""
    decoded, retained, corpus = (
        _read(folder / f"{name}.json") for name in ("decoded_saliency", "retained_information", "retained_corpus")
    )
    most = corpus["rows"][-1]
    first, ratio = retained["ours"][0], retained["ratio"]
    rows = [
        limit_row(
            "decoded_saliency of all layers ÷ (forward + backward + head products)",
            decoded["ratio"],
            f"{decoded['ratio']:.2f} x",
            decoded["must"],
            decoded["aim"],
        ),
        limit_row(
            "retained_information: evaluations a sentence and layer, all seeds (released procedure: 5,000)",
            first["evaluations"],
            f"{first['evaluations']:.0f}",
            *EVALUATIONS,
        ),
        limit_row(
            "retained_information: time of the released procedure ÷ ours",
            ratio,
            f"{ratio:.0f} x",
            *FASTER,
            more=True,
        ),
        limit_row(
            f"retained_information: {most['texts']} sentences of SST-2, {most['layers']} layers of MiniLM, two cores",
            most["seconds"] / 60,
            f"{most['seconds'] / 60:.1f} min",
            *MINUTES,
        ),
        limit_row(
            "retained_information: memory beyond the model, GB",
            most["peak_mb"] / 1000,
            f"{most['peak_mb'] / 1000:.2f}",
            *GIGABYTES,
        ),
    ]
    peaks = listed(
        [
            (
                str(one["texts"]),
                str(one.get("n_seeds", "usual")),
                str(one.get("n_steps", "usual")),
                f"{one['seconds']:.1f}",
                f"{one['peak_gb']:.2f}",
            )
            for one in retained["ours"]
        ],
        ("texts", "seeds", "steps", "seconds", "peak memory of the process so far, GB"),
    )
    of_corpus = listed(
        [
            (
                str(one["texts"]),
                f"{one['seconds'] / 60:.1f}",
                f"{one['seconds_of_processor'] / 60:.1f}",
                f"{one['evaluations']:.0f}",
                f"{one['settled']:.0%}",
                f"{one['peak_mb'] / 1000:.2f}",
            )
            for one in corpus["rows"]
        ],
        (
            "sentences",
            "minutes",
            "of the processor",
            "evaluations",
            "settled",
            "peak memory beyond the model, GB",
        ),
    )
    medians = decoded["medians"]
    return (
        "## Hidden states\n\nMiniLM, one thread, seconds of the processor.\n\n"
        f"{listed(rows, HEAD)}\n\n"
        f"**decoded_saliency**, {decoded['texts']} short texts of {decoded['tokens']:,} tokens together, seven layers, "
        f"a head over 30,522 pieces: {medians['method']:.1f} s; the bare passes {medians['passes']:.1f} s, the head's "
        f"bare products {medians['products']:.1f} s. `python -m benchmarks.decoded_saliency`.\n\n"
        f"**retained_information**, one layer. Evaluations are those of a search that settles at once; one that "
        f"settles late takes up to {LATE}. The released procedure is 5,000 steps of Adam with one sample each; some of "
        f"them are run and scaled. Its peak memory holds the model too. `python -m benchmarks.retained_information "
        f"--out benchmarks/results/retained_information.json`.\n\n{peaks}\n\n"
        f"All layers of sentences of SST-2 at once, {corpus['threads']} threads, each line in a process of its own "
        f"(load before: {corpus['machine']['load_before']}). `python -m benchmarks.retained_corpus --data FOLDER --out "
        f"benchmarks/results/retained_corpus.json`.\n\n{of_corpus}"
    )


def limit_row(
    what: str, value: float, shown: str, must: float, aim: float, *, more: bool = False
) -> tuple[str, str, str, str, str]:
    """What was measured beside its limits; more: whether more is better."""
    sign = -1 if more else 1
    reached = [sign * value <= sign * limit for limit in (must, aim)]
    verdict = "aim met" if reached[1] else "must met" if reached[0] else "must missed"
    return what, f"**{shown}**", f"{must:g}", f"{aim:g}", verdict


def _read(path: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return numbers
