"""What one explanation costs as a whole process: `pellucid explain` beside ten lines of plain transformers.

    python -m benchmarks.first_explanation MODEL       # a folder with a BERT; about a minute on two quiet cores

Both explain one text by integrated gradients with as many steps, from padding embeddings, and print a score a piece.
Processor seconds of both, user and system, taken in turns after one run each that is not counted; the ratio is that of
the medians of one run of this file. Threads: one, unless OMP_NUM_THREADS says otherwise, since threads that wait for a
busy machine are counted as work. Python's compiled files are kept, as an installed package has them.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

TEXT, STEPS, RUNS = "A gripping, lovely film.", 32, 5
PLAIN = f"""
import sys, torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForSequenceClassification.from_pretrained(sys.argv[1]).eval()
inputs = tokenizer({TEXT!r}, return_tensors="pt")
embed = model.get_input_embeddings()
words, blank = embed(inputs["input_ids"]).detach(), embed(torch.tensor(tokenizer.pad_token_id)).detach()
best = model(**inputs).logits.argmax()
points = (blank + (torch.arange({STEPS}) + 0.5).view(-1, 1, 1) / {STEPS} * (words - blank)).requires_grad_()
mask = inputs["attention_mask"].expand({STEPS}, -1)
model(inputs_embeds=points, attention_mask=mask).logits[:, best].sum().backward()
scores = ((words - blank) * points.grad.mean(0, keepdim=True)).sum(-1)[0]
print(*zip(tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]), scores.tolist()))
"""


def seconds(words: Sequence[str], environment: dict[str, str]) -> float:
    """Processor seconds of a process that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(model: str, runs: int) -> dict[str, list[float]]:
    """Name -> processor seconds of each run."""
    ours = ["-m", "pellucid", "explain", model, TEXT, "--method", "integrated_gradients", "--set", f"n_steps={STEPS}"]
    jobs = {"plain": ["-c", PLAIN, model], "pellucid": ours}
    with tempfile.TemporaryDirectory() as compiled:
        environment = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for words in jobs.values():
            seconds(words, environment)
        times: dict[str, list[float]] = {name: [] for name in jobs}
        for _ in range(runs):
            for name, words in jobs.items():
                times[name].append(seconds(words, environment))
    return times


def main() -> None:
    """Measure, and print both medians and their ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", help="a folder with a classifier")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    times = measured(arguments.model, arguments.runs)
    medians = {name: statistics.median(of_name) for name, of_name in times.items()}
    ratio = medians["pellucid"] / medians["plain"]
    print(f"plain {medians['plain']:.2f} s, pellucid {medians['pellucid']:.2f} s of one processor: ratio {ratio:.2f}")
    if arguments.out is not None:
        arguments.out.write_text(json.dumps({"seconds": times, "ratio": ratio}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
