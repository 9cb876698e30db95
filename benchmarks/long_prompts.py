"""What a long chat costs: memory beyond the model for methods with gradients, and edited prompts with and without
keys and values that they share.

    python -m benchmarks.long_prompts           # ten minutes; writes benchmarks/results/long_prompts.json

Peaks are of a process of its own for each method, beyond what it held when the model had read a short text. Seconds are
processor seconds of one thread, both ways in turn. The model has random weights; neither memory nor time depends on
these.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

import pellucid
from benchmarks.attribution.memory import peak, resident
from benchmarks.attribution.results import Results
from pellucid.models.translation.untrained_network import learn_pieces
from pellucid.models.writing.writing_model import WritingModel
from pellucid.run.batch import Row
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.word import WordReadout
from pellucid.text.example import Example

RESULTS = Path(__file__).parent / "results" / "long_prompts.json"
N_PIECES, N_EDITED, N_ANSWER, TURNS = 4000, 2000, 20, 3  # of a prompt, of one that is edited, of an answer
SIZES = {"hidden_size": 256, "intermediate_size": 704, "num_hidden_layers": 8, "num_attention_heads": 4}
N_IDS = 32_000
METHODS: dict[str, dict[str, Any]] = {
    "gradient_x_input": {},
    "relevance": {},
    "integrated_gradients": {"n_steps": 8},
}
N_PASSAGES = 8
EDITS = ("spread over the second half", "all from the half on")


def model_of() -> WritingModel:
    """A small language model of Llama's kind."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = LlamaConfig(vocab_size=N_IDS, max_position_embeddings=8192, bos_token_id=0, eos_token_id=1, **SIZES)
    tokenizer = learn_pieces(_sentences(), 4000)
    return pellucid.load(LlamaForCausalLM(config).eval(), tokenizer)  # type: ignore[return-value]


def _sentences() -> list[str]:
    return [example.segments[0] for example in pellucid.examples("pocket", "all")]


def pair_of(model: WritingModel, n_pieces: int) -> tuple[str, str]:
    """A prompt and an answer of about so many pieces."""
    words = " ".join(_sentences() * 3).split()
    count = lambda n_words: len(model.tokenizer(" ".join(words[:n_words]))["input_ids"])  # noqa: E731
    share = 5000 / count(5000)  # words a piece
    return " ".join(words[: round(n_pieces * share)]), " ".join(words[: round(N_ANSWER * share)])


def peak_of(method: str) -> dict[str, float]:
    """Megabytes beyond the model, and seconds, of one method."""
    model, settings = model_of(), METHODS[method]
    explain = lambda pair: pellucid.explain(  # noqa: E731
        model, [pair], method, target=pellucid.Word("text"), progress=False, **settings
    )
    explain(pair_of(model, 20))
    pair, before = pair_of(model, N_PIECES), resident("cpu")
    start = time.process_time()
    with peak("cpu", before) as highest:
        explain(pair)
    n_pieces = len(model.encode([Example(pair)]).rows[0])
    return {"pieces": n_pieces, "megabytes": highest.megabytes, "seconds": time.process_time() - start}


def edited_rows(model: WritingModel, edits: str) -> list[Row]:
    """The prompt without passages of its second half: without each of them, or without the first and some others."""
    batch = model.encode([Example(pair_of(model, N_EDITED))])
    read = [piece for piece in batch.units[0].content if batch.units[0].segment[piece] == 0]
    passages = np.array_split(np.array(read[len(read) // 2 :]), N_PASSAGES)
    removed = passages if edits == EDITS[0] else [np.r_[passages[0], each] for each in passages]
    return [batch.edited(0, [int(piece) for piece in pieces], "absent") for pieces in removed]


def answers(model: WritingModel, rows: list[Row], shares: bool) -> tuple[Tensor, float]:
    """[row piece] log-probabilities, and seconds; shares: whether rows share what they begin with."""
    model.__dict__["_keeps_keys"] = shares
    start = time.process_time()
    values = evaluate_rows(model, scheduler_for(model), rows, WordReadout(2 * N_ANSWER))
    return values, time.process_time() - start


def speed_of(edits: str) -> dict[str, Any]:
    """How many times as fast edited prompts are with what they share, the trial of the first call left away."""
    model = model_of()
    rows = edited_rows(model, edits)
    answers(model, rows[:2], True)
    turns, gaps = [], []
    for _ in range(TURNS):
        (plain, without), (shared, seconds) = answers(model, rows, False), answers(model, rows, True)
        turns.append({"without": without, "with": seconds})
        gaps.append(float((plain - shared).abs().max() / plain.abs().max()))
    ratio = statistics.median(turn["without"] / turn["with"] for turn in turns)
    return {"pieces": len(rows[0]), "rows": len(rows), "turns": turns, "ratio": ratio, "largest_difference": max(gaps)}


def main() -> None:
    """Run what is missing, a process for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true", help="measure everything again")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case is not None:
        print(json.dumps((peak_of if arguments.case in METHODS else speed_of)(arguments.case)))
        return
    results = Results(RESULTS, "cpu", arguments.fresh)
    for case in (*METHODS, *EDITS):
        if not results.has(case):
            command = [sys.executable, "-m", "benchmarks.long_prompts", "--case", case]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results.keep(case, json.loads(done.stdout.splitlines()[-1]))
            print(case, results.records[case], flush=True)


if __name__ == "__main__":
    main()
