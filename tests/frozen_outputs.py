"""What commands print and write, byte for byte: `python -m tests.frozen_outputs FOLDER` before a change and after it,
then `diff -r`.

For changes that move code and must change nothing. Everything is computed on tiny models in FOLDER, and no output names
a path outside.
"""

import io
import json
import os
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import torch

import pellucid
from pellucid.cli import main
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from tests.shared.tiny import LABELS, save_tiny, tiny_composed
from tests.shared.tiny_training import save_encoder

TEXT = "'Slow, but the soup was good and nobody hurried us.'"
METHODS = ("integrated_gradients", "gradient_x_input", "occlusion", "kernel_shap", "grad_cam", "lime")
PAIRS = [(f"a {animal} and {n}", f"ein {animal} und {n}") for animal in ("dog", "cat") for n in range(8)]
SMALL = "--network-set layers=1 --network-set width=16 --network-set heads=2 --pieces 300 --epochs 1"
COMMANDS = {
    **{
        f"explain-{method}": f"explain model {TEXT} --method {method} --html page.html --save results.parquet"
        for method in METHODS
    },
    "explain-json": f"explain model {TEXT} --method gradient --json --full",
    "explain-file": "explain model --file data/test.jsonl --limit 6 --methods gradient,chance --csv out.csv --html "
    "page.html",
    "explain-spans": "explain span --file data/test.jsonl --limit 6 --save spans.parquet --html page.html",
    "explain-b": "explain twin --file data/test.jsonl --limit 6 --method gradient --save b.parquet",
    "explain-a": "explain model --file data/test.jsonl --limit 6 --method gradient --save a.parquet",
    "explain-run": "explain model --file data/test.jsonl --limit 6 --methods gradient,chance --out run",
    "compare": "compare model data --limit 6 --methods gradient,chance --metrics comprehensiveness,token_f1 "
    "--resamples 50 --out compare",
    "layers": "layers model --file data/train.jsonl --limit 4 --method grad_cam --out layers --html layers.html",
    "concepts": f"concepts model {TEXT} --word soup --start 14 --seed 1 --html concepts.html",
    "attention": "attention weighing data/test.jsonl --limit 6 --out attention",
    "attack": "attack model --file data/test.jsonl --limit 6 --attack deepwordbug --out attack",
    "train": "train data --encoder cnn --pooler mean --epochs 1 --out trained",
    "train-span": "train data --encoder encoder --epochs 1 --out trained-span",
    "spans": "spans span --file data/test.jsonl --limit 6 --html spans.html",
    "diff": "diff a.parquet b.parquet --html diff.html",
    "extract": "extract model data --extractor gradient --limit 4 --out extract",
    "errors": "errors model data/test.jsonl --limit 12 --method gradient --html errors.html",
    "words": "words a.parquet --html words.html --csv words.csv --min-texts 1",
    "figure": "figure a.parquet --out figure.svg --kind words",
    "plant": "plant token --n 20 --out planted",
    "lens": "lens model --texts data --head-steps 2 --translator-steps 2 --out lens",
    "train-translator": f"train-translator pairs.jsonl {SMALL} --out translator",
    "translate": "translate translator 'a dog and 3' --json",
    "verify": "verify compare",
    **{f"list-{name}": name for name in ("methods", "checks", "attacks", "convert")},
    "refused": "explain model --method none 'a text'",
}


def make_inputs() -> None:
    """Models and data of the commands, in the current folder."""
    for part, size in (("train", 48), ("dev", 8), ("test", 24)):
        pellucid.write_json_lines(pellucid.examples("pocket", part)[:size], Path("data") / f"{part}.jsonl")
    torch.manual_seed(0)
    save_encoder(Path("encoder"))
    save_tiny(Path("model"), labels=LABELS)
    torch.manual_seed(1)
    save_tiny(Path("twin"), labels=LABELS)
    for name, pooler in (("weighing", "additive"), ("span", "span")):
        base = tiny_composed(pooler)
        save_composed(base.network, base.tokenizer, Plan("tiny", pooler, {}, LABELS), Path(name))
    Path("pairs.jsonl").write_text("".join(json.dumps({"text_a": a, "text_b": b}) + "\n" for a, b in PAIRS))


def run(words: str) -> str:
    """What a command prints, and its exit status."""
    sys.argv = ["pellucid", *shlex.split(words)]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
            status: object = 0
        except SystemExit as ended:
            status = ended.code or 0
    printed = re.sub(r"in [\d.]+ seconds", "in … seconds", out.getvalue())
    return f"{printed}\n--- {status}\n" + (err.getvalue() if status else "")


def freeze(folder: str) -> None:
    """Run all commands in a new folder, and write what each prints to `printed/`."""
    torch.set_num_threads(1)
    Path(folder).mkdir(parents=True)
    os.chdir(folder)
    os.environ |= {"PELLUCID_CACHE": "cache", "HF_HUB_OFFLINE": "1", "COLUMNS": "120"}
    Path("printed").mkdir()
    make_inputs()
    for name, words in COMMANDS.items():
        Path("printed", f"{name}.txt").write_text(run(words), encoding="utf-8")
        print(name)


if __name__ == "__main__":
    freeze(sys.argv[1])
