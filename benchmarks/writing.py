"""What it costs to explain every word that a model writes: beside the bare network's passes, and beside Inseq on the
same translator.

    python -m benchmarks.writing                    # ten minutes; writes benchmarks/results/writing.json and docs/writing-speed.md
    python -m benchmarks.writing --inseq PYTHON     # a Python that has Inseq; without it that row is left out

Processor seconds of one thread, medians of turns. The models have the sizes of a Marian translator and of GPT-2 and
random weights; time does not depend on these. Inseq's environment has torch and, by `pip install --no-deps`, what
benchmarks/inseq/requirements.txt lists.
"""

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, MarianConfig, MarianMTModel

import pellucid
from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from pellucid.models.translation.untrained_network import learn_pieces
from pellucid.models.writing.tracks import own_embeddings
from pellucid.models.writing.writing_model import WritingModel
from pellucid.text.example import as_examples

ROOT = Path(__file__).parents[1]
PEER = Path(__file__).parent / "inseq" / "peer_inseq.py"
RUNS, N_PAIRS, N_FEW, N_STEPS = 3, 64, 2, 2
N_PIECES = 32_000
BATCH_SIZES = (1, 8)  # of Inseq: the faster one counts
TARGETS = {"words": (1.2, 1.05), "inseq": (0.5, 0.25)}  # at most: what must be reached, and the aim
SIZES: dict[str, Any] = {
    "Marian": (
        MarianMTModel,
        MarianConfig,
        {
            "d_model": 512,
            "encoder_layers": 6,
            "decoder_layers": 6,
            "encoder_attention_heads": 8,
            "decoder_attention_heads": 8,
            "encoder_ffn_dim": 2048,
            "decoder_ffn_dim": 2048,
            "max_position_embeddings": 512,
            "scale_embedding": True,
            "decoder_start_token_id": 0,
            "forced_eos_token_id": None,
        },
    ),
    "GPT-2": (GPT2LMHeadModel, GPT2Config, {"bos_token_id": 1}),
}


def pairs_of(count: int) -> list[tuple[str, str]]:
    """Our own sentences of eight to twelve words, each before the one that follows it."""
    texts = [one.segments[0] for one in pellucid.examples("pocket", "all")]
    sentences = [text for text in texts if 8 <= len(text.split()) <= 12][: count + 1]
    return list(pairwise(sentences))


def folder_of(name: str, work: Path) -> Path:
    """Where a model lies; it is made first if it is not there."""
    folder = work / f"writing {name}"
    if not (folder / "tokenizer.json").exists():
        network, config, sizes = SIZES[name]
        torch.manual_seed(0)
        network(config(vocab_size=N_PIECES, pad_token_id=0, eos_token_id=1, **sizes)).save_pretrained(folder)
        texts = [one.segments[0] for one in pellucid.examples("pocket", "all")]
        learn_pieces(texts, 4000).save_pretrained(folder)
    return folder


def seconds_of(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def bare_seconds(model: WritingModel, pairs: Sequence[tuple[str, str]]) -> float:
    """Of one pass forward and one back for each written word, text by text, by the bare network."""
    batch = model.encode(as_examples(list(pairs)))
    words = pellucid.Word().resolve(batch, model).words
    return sum(
        seconds_of(lambda row=row, of_row=of_row: _bare(model, row, [word.pieces for word in of_row]))
        for row, of_row in zip(batch.rows, words, strict=True)
    )


def _bare(model: WritingModel, row: Any, words: Sequence[Sequence[int]]) -> None:
    tracks = model.form.tracks([row], model.device)
    read: list[Tensor] = []
    handles = [
        module.register_forward_hook(lambda _, __, output: read.append(output.detach().requires_grad_()) or read[-1])
        for module in dict.fromkeys(model.form.embeddings)
    ]
    try:
        logits = model.form.logits(tracks, own_embeddings)
    finally:
        for handle in handles:
            handle.remove()
    written = [(piece, id) for piece, id in enumerate(row.written) if id >= 0]
    places = torch.tensor([model.form.place_of(row, piece) - 1 for piece, _ in written])
    ids = torch.tensor([id for _, id in written])
    log_probabilities = logits[0, places].log_softmax(-1).gather(-1, ids[:, None])[:, 0]
    for pieces in words:
        torch.autograd.grad(log_probabilities[list(pieces)].sum(), read, retain_graph=True)


def turn(model: WritingModel, pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Seconds of the bare passes, of gradients of every word, and of a path of N_STEPS points for every word."""
    explain = lambda method, **settings: pellucid.explain(  # noqa: E731
        model, list(pairs), method, progress=False, **settings
    )
    return {
        "bare": bare_seconds(model, pairs),
        "words": seconds_of(lambda: explain("gradient")),
        "points": seconds_of(lambda: explain("integrated_gradients", n_steps=N_STEPS)),
    }


def measured(name: str, work: Path) -> dict[str, Any]:
    """Turns of one model, after one that does not count, and the medians of their ratios."""
    model, pairs = pellucid.load(folder_of(name, work)), pairs_of(N_FEW)
    turns = [turn(model, pairs) for _ in range(RUNS + 1)][1:]
    return {
        "turns": turns,
        "words": statistics.median(one["words"] / one["bare"] for one in turns),
        "points": statistics.median(one["points"] / one["bare"] / N_STEPS for one in turns),
    }


@contextmanager
def peer_turns(python: str, folder: Path, batch_size: int, work: Path) -> Iterator[Callable[[], float]]:
    """What makes Inseq explain all pairs once more, in a process that has loaded the model."""
    job = {"folder": str(folder), "pairs": pairs_of(N_PAIRS), "batch_size": batch_size}
    (work / "inseq.json").write_text(json.dumps(job), encoding="utf-8")
    command = [python, str(PEER), str(work / "inseq.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def turn() -> float:
            assert process.stdin is not None and process.stdout is not None
            print("again", file=process.stdin, flush=True)
            lines = iter(process.stdout.readline, "")
            return float(next(json.loads(line)["seconds"] for line in lines if line.startswith('{"seconds"')))

        yield turn


def beside_inseq(python: str, work: Path) -> dict[str, Any]:
    """Seconds of ours and of Inseq, which take turns; of Inseq at the faster of its batch sizes."""
    folder = folder_of("Marian", work)
    model, pairs = pellucid.load(folder), pairs_of(N_PAIRS)
    ours = lambda: pellucid.explain(model, pairs, "gradient", progress=False)  # noqa: E731
    ours()
    turns = []
    for batch_size in BATCH_SIZES:
        with peer_turns(python, folder, batch_size, work) as peer:
            turns += [{"batch_size": batch_size, "ours": seconds_of(ours), "inseq": peer()} for _ in range(RUNS)]
    medians = {
        size: statistics.median(one["inseq"] for one in turns if one["batch_size"] == size) for size in BATCH_SIZES
    }
    own = statistics.median(one["ours"] for one in turns)
    best = min(medians, key=lambda size: medians[size])
    return {
        "turns": turns,
        "pairs": N_PAIRS,
        "ours": own,
        "inseq": medians[best],
        "batch_size": best,
        "ratio": own / medians[best],
    }


def judged(ratio: float | None, name: str) -> tuple[str, str, str, str]:
    """What was measured, what must be reached, the aim, and the verdict."""
    must, aim = TARGETS[name]
    bounds = (f"≤ {must:g}", f"≤ {aim:g}")
    if ratio is None:
        return ("not measured", *bounds, "")
    verdict = "aim met" if ratio <= aim else "must met, aim missed" if ratio <= must else "must missed"
    return (f"{ratio:.2f}", *bounds, verdict)


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    models, peer = results["models"], results["inseq"]
    turns = min(len(of["turns"]) for of in models.values())
    whole = "(one pass forward + one back a word)"
    rows = [(f"{name}: gradients of all words ÷ {whole}", *judged(of["words"], "words")) for name, of in models.items()]
    rows += [
        (f"{name}: gradients of all words at a point of a path ÷ {whole}", f"{of['points']:.2f}", "", "", "")
        for name, of in models.items()
    ]
    ratio = None if peer is None else peer["ratio"]
    rows.append(("Marian: gradients of all words, seconds ÷ Inseq's saliency", *judged(ratio, "inseq")))
    inseq = ""
    if peer is not None:
        inseq = (
            f" In the last line Inseq 0.7.1 explains {peer['pairs']} other pairs in {peer['inseq']:.1f} s, "
            f"{peer['batch_size']} at once, which is the faster of {' and '.join(map(str, BATCH_SIZES))}; ours takes "
            f"{peer['ours']:.1f} s."
        )
    return (
        "# What it costs to explain what a model writes\n\nMade by `python -m benchmarks.writing --inseq PYTHON`; not "
        f"written by hand. On {machine_words(results['made_on'])}, processor seconds of one thread, medians of {turns} "
        f"turns or more: a translator of Marian's size (6 + 6 layers, 512 wide) and a language model of GPT-2's (12 "
        f"layers, 768 wide), each with {N_PIECES:,} pieces and random weights, on {N_FEW} pairs of our own sentences, "
        f"and paths of {N_STEPS} points (a point is one text between the blank one and the real one, as integrated "
        f"gradients reads them). Ours has everything that a call does: tokenizing, the guard's own pass, the digest of "
        f"the weights, results.{inseq}\n\n" + listed(rows, ("what", "measured", "must", "aim", "verdict")) + "\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inseq", metavar="PYTHON", help="a Python that has Inseq")
    parser.add_argument("--draw", action="store_true", help="only docs/writing-speed.md, from what was measured")
    wanted = parser.parse_args()
    if wanted.draw:
        before = json.loads((ROOT / "benchmarks" / "results" / "writing.json").read_text(encoding="utf-8"))
        publish(before, "writing", as_page(before), "writing-speed")
        return
    torch.set_num_threads(1)
    work = ROOT / "runs" / "benchmark"
    work.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "models": {name: measured(name, work) for name in SIZES},
        "inseq": beside_inseq(wanted.inseq, work) if wanted.inseq else None,
    }
    publish(results, "writing", as_page(results), "writing-speed")


if __name__ == "__main__":
    main()
