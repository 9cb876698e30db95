"""What attacks cost: beside the bare network on the same tokens, and beside TextAttack on the same classifier with the
same synonyms.

    python -m benchmarks.attacks                       # five minutes; writes benchmarks/results/attacks.json and docs/attack-speed.md
    python -m benchmarks.attacks --textattack PYTHON   # a Python that has TextAttack 0.3.10; without it that row is left out

Seconds of one thread, medians of turns in which ours, TextAttack's and the floor follow each other. TextAttack does not
install beside the newest transformers: its environment has torch, transformers, datasets, pandas and scipy, and by `pip
install --no-deps` what benchmarks/attack/requirements.txt lists.
"""

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

import pellucid
from benchmarks.attribution.floor import best, ways
from benchmarks.attribution.models import LABELS, folder_of
from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from benchmarks.guard import timed
from pellucid.attacks.apertium.tagged_words import Pivot
from pellucid.attacks.candidates import synonyms
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.attacks.omission_scores import words_of
from pellucid.models.routing.compiled_network import lacks_openvino
from pellucid.text.example import Example
from pellucid.text.wordnet import wordnet_folder

ROOT = Path(__file__).parents[1]
RUNS, N_TEXTS = 5, 64
PER_UNIT = (1, 2, 3, 5)  # of the search `screened`: replacements of a word that it asks about
PEER = Path(__file__).parent / "attack" / "peer_textattack.py"
OPENVINO = "openvino"
TARGETS = {
    "floor": ("≤ 1.15", "≤ 1.05"),
    "textattack": ("≥ 2", "≥ 4"),
    "screened": ("≤ ½", "≤ ¼"),
    "back_translation": ("≤ 10 %", "≤ 3 %"),
}


def texts_of() -> list[Example]:
    """Sentences of our own with the classifier's two labels; those that it answers wrongly are not attacked."""
    known = [one for one in pellucid.examples("pocket", "all") if one.label in LABELS]
    return known[:: max(1, len(known) // N_TEXTS)][:N_TEXTS]


@contextmanager
def counted_tokens(network: Any) -> Iterator[list[int]]:
    """The tokens, padding left out, of each call that the network gets meanwhile."""
    tokens: list[int] = []

    def count(_: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        ids = kwargs.get("input_ids", args[0] if args else None)
        tokens.append(int((ids != network.config.pad_token_id).sum()))

    handle = network.register_forward_pre_hook(count, with_kwargs=True)
    try:
        yield tokens
    finally:
        handle.remove()


def attacked(
    folder: Path, texts: Sequence[Example], attack: str, route: str = "eager", **settings: Any
) -> dict[str, Any]:
    """Seconds of one attack with a model that nobody has asked, the tokens it asked, and what came of it.

    Tokens are counted by a hook, and a hook keeps other routes than eager from computing: under them none are. A
    route's trial is over before the clock runs.
    """
    model = pellucid.load(folder, route=route)
    assert model.route_in_use == route
    counting: AbstractContextManager[list[int]] = counted_tokens(model.network) if route == "eager" else nullcontext([])
    with counting as tokens:
        start = time.perf_counter()
        attempts = pellucid.attack(model, texts, attack, progress=False, **settings)
        seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "tokens": sum(tokens),
        "fooled": sum(one.is_success for one in attempts),
        "queries": sum(one.queries for one in attempts),
    }


def floor_of(folder: Path, texts: Sequence[Example]) -> float:
    """Tokens a second of the bare network on rows as long as the texts'."""
    model = pellucid.load(folder)
    rows = [model.tokenizer(one.segments[0])["input_ids"] for one in texts]
    return float(best(model.network, rows, "forward", ways("cpu", 1, 64))["tokens_per_second"])


def same_synonyms(texts: Sequence[Example]) -> list[dict[str, list[str]]]:
    """Of each text word -> the synonyms that ours tries."""
    dictionaries = Dictionaries(wordnet_folder(), ())
    cases: list[Any] = [
        SimpleNamespace(units=words_of(one), dictionaries=dictionaries, text_of=one.segments) for one in texts
    ]
    return [{place.text: synonyms(case, number) for number, place in enumerate(case.units)} for case in cases]


@contextmanager
def peer_turns(python: str, folder: Path, texts: Sequence[Example], work: Path) -> Iterator[Callable[[], dict]]:
    """What makes TextAttack attack all texts once more, in a process that has loaded the model."""
    job = {
        "folder": str(folder),
        "texts": [one.segments[0] for one in texts],
        "labels": [LABELS.index(str(one.label)) for one in texts],
        "synonyms": same_synonyms(texts),
    }
    (work / "job.json").write_text(json.dumps(job), encoding="utf-8")
    command = [python, str(PEER), str(work / "job.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def turn() -> dict:
            assert process.stdin is not None and process.stdout is not None
            print("again", file=process.stdin, flush=True)
            lines = iter(process.stdout.readline, "")
            return next(json.loads(line) for line in lines if line.startswith('{"seconds"'))

        yield turn


def translation_share(folder: Path, texts: Sequence[Example]) -> float:
    """The share of the span attack's time that back-translation takes, in which other programs work."""
    with timed(Pivot, "paraphrases", time.perf_counter) as clock:
        whole = attacked(folder, texts, "span_paraphrase", extractor="occlusion", n_spans=5)["seconds"]
    return clock.seconds / whole


def pwws_turns(folder: Path, texts: Sequence[Example], python: str | None, work: Path) -> list[dict[str, Any]]:
    """Turns of the floor, ours and, with a Python that has it, TextAttack's."""

    def turn(peer: Callable[[], dict] | None) -> dict[str, Any]:
        return {
            "floor": floor_of(folder, texts),
            "ours": attacked(folder, texts, "pwws"),
            "by_route": None if lacks_openvino() else attacked(folder, texts, "pwws", OPENVINO),
            "textattack": None if peer is None else peer(),
        }

    if python is None:
        return [turn(None) for _ in range(RUNS)]
    with peer_turns(python, folder, texts, work) as peer:
        return [turn(peer) for _ in range(RUNS)]


def summary(turns: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """Medians over turns: seconds ÷ those of the floor, and how many times as many texts a second as TextAttack; also
    by the other route.
    """

    def floors(which: str) -> list[float]:
        return [one[which]["seconds"] / (one["ours"]["tokens"] / one["floor"]) for one in turns if one[which]]

    def peers(which: str) -> list[float]:
        return [
            one["textattack"]["seconds"] / one[which]["seconds"] for one in turns if one["textattack"] and one[which]
        ]

    columns = {
        "floor": floors("ours"),
        "textattack": peers("ours"),
        "floor_by_route": floors("by_route"),
        "textattack_by_route": peers("by_route"),
    }
    return {name: statistics.median(column) if column else None for name, column in columns.items()}


def number(value: float | None, unit: str) -> str:
    """A ratio in words."""
    return "not measured" if value is None else f"{value:.2f}{unit}"


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    ours, peer = results["turns"][0]["ours"], results["turns"][0]["textattack"]
    ratios, count = results["ratios"], results["texts"]
    searched = [
        f"at {one['per_unit']} a word: {one['queries'] / ours['queries']:.2f}, {one['fooled']} fooled"
        for one in results["screened"]
    ]
    floors = [f"{ratios['floor']:.2f}", number(ratios["floor_by_route"], "")]
    peers = [number(ratios[name], " ×") for name in ("textattack", "textattack_by_route")]
    rows = [
        ("PWWS: seconds ÷ floor of the tokens asked", floors[0], *TARGETS["floor"]),
        ("the same by the route `openvino`, ÷ the same floor", floors[1], *TARGETS["floor"]),
        ("PWWS: texts a second ÷ TextAttack's", peers[0], *TARGETS["textattack"]),
        ("the same by the route `openvino`", peers[1], *TARGETS["textattack"]),
        ("`screened`: queries ÷ PWWS's", "; ".join(searched), *TARGETS["screened"]),
        (
            "span attack: back-translation's share",
            f"{results['back_translation']:.1%}",
            *TARGETS["back_translation"],
        ),
    ]
    fooled = (
        f"Texts that are answered wrongly are not attacked. Of all {count} PWWS fooled {ours['fooled']} with "
        f"{ours['queries']:,} queries"
    )
    if peer is not None:
        fooled += f", TextAttack's {peer['fooled']} with {peer['queries']:,}"
    return (
        "# What attacks cost\n\nMade by `python -m benchmarks.attacks --textattack PYTHON`; not written by hand. "
        f"On {machine_words(results['made_on'])}, one thread: MiniLM with two classes and {count} of our own sentences; "
        f"medians of {RUNS} turns. The floor is the bare network at its best batch, on the same tokens. TextAttack "
        f"0.3.10 gets the same synonyms. Must and aim are what we set ourselves.\n\n"
        + listed(rows, ("what", "measured", "must", "aim"))
        + f"\n\n{fooled}.\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--textattack", metavar="PYTHON", help="a Python that has TextAttack")
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    work = ROOT / "runs" / "benchmark"
    folder, texts = folder_of("minilm", work), texts_of()
    attacked(folder, texts[:4], "pwws")  # dictionaries are read and code is compiled before the clock runs
    turns = pwws_turns(folder, texts, wanted.textattack, work)
    results: dict[str, Any] = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "texts": len(texts),
        "turns": turns,
        "ratios": summary(turns),
        "screened": [{"per_unit": count} | attacked(folder, texts, "screened", per_unit=count) for count in PER_UNIT],
        "back_translation": statistics.median(translation_share(folder, texts) for _ in range(3)),
    }
    publish(results, "attacks", as_page(results), "attack-speed")


if __name__ == "__main__":
    main()
