"""Long commands in processes of their own, on a tiny model and few texts: to be interrupted, and run again."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress

import pellucid
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from tests.shared import warm_python
from tests.shared.tiny import LABELS, save_tiny, tiny_composed
from tests.shared.tiny_training import save_encoder

ALONE = warm_python.OFFLINE | {"PYTHONDONTWRITEBYTECODE": "1"}
# A suite that was started in the background ignores interruptions, and so would all that it starts.
HEEDING = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
TRAIN = "--epochs 4 --batch-size 4 --learning-rate 1e-3".split()
FIRST_FILE = {  # that a run goes on from
    "train": "checkpoint.safetensors",
    "compare": "parts/0000.json",
    "lens": "head.checkpoint.safetensors",
    "layers": "parts/00-00-0000.parquet",
    "extract": "unfinished-extraction/train-0000.json",
}
LENS = "--head-steps 300 --translator-steps 250 --batch-size 4 --sequence-length 16 --dev-rows 4".split()
COMPARE = "--methods gradient --metrics comprehensiveness,token_f1 --resamples 50".split()

MAIN = "from pellucid.__main__ import main"
PROGRESS = re.compile(r"\w+: [\d,]+ of [\d,]+ done, about .* left\n")


def commands(folder):
    """The words of each long command, but for --out: its model and its data are written below the folder."""
    for part, size in (("train", 48), ("dev", 8), ("test", 70)):
        path = folder / "data" / f"{part}.jsonl"
        pellucid.write_json_lines(pellucid.examples("pocket", part)[:size], path)
    encoder, model = folder / "encoder", folder / "model"
    save_encoder(encoder)
    save_tiny(model, labels=LABELS)
    weighing, base = folder / "weighing", tiny_composed("additive")
    save_composed(base.network, base.tokenizer, Plan("tiny", "additive", {}, LABELS), weighing)
    train = ["train", folder / "data", "--encoder", encoder, "--pooler", "additive", *TRAIN]
    return {
        "train": ["train", folder / "data", "--encoder", encoder, *TRAIN],
        "compare": ["compare", model, folder / "data", "--limit", 40, *COMPARE],
        "lens": ["lens", model, "--texts", folder / "data", *LENS],
        "layers": ["layers", model, "--file", folder / "data" / "train.jsonl", "--method", "grad_cam"],
        "attention": ["attention", weighing, folder / "data" / "test.jsonl", "--limit", 40],
        "attack": [
            "attack",
            model,
            "--file",
            folder / "data" / "test.jsonl",
            "--limit",
            70,
            "--attack",
            "deepwordbug",
        ],
        "extract": ["extract", model, folder / "data", "--extractor", "gradient", "--parts", "train,test"],
        "imitation": [*train, "--objective", "imitation=1", "--objective-set", f"imitation.model={weighing}"],
        "masked_words": [*train, "--objective", "masked_words=1"],
    }


def started(words, out):
    """A running command that writes to out, in a process that begins warm."""
    return warm_python.Started(f"{MAIN}; main()", [*words, "--out", out], out.parent)


def started_anew(words, out, **more):
    """The same in a process from the beginning."""
    line = [sys.executable, "-m", "pellucid", *map(str, words), "--out", str(out)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(line, env=os.environ | ALONE, **HEEDING, **pipes, **more)


def finished(words, out):
    """Run to the end: (exit status, standard error without the lines that say how long a slow machine still needs)."""
    done = warm_python.run(f"{MAIN}; main()", *words, "--out", out, cwd=out.parent, timeout=300)
    lines = done.stderr.splitlines(keepends=True)
    return done.returncode, "".join(line for line in lines if not PROGRESS.fullmatch(line))


def killed_after(words, out, seconds):
    """Kill it so many seconds after its start; whether it was still running."""
    process = started_anew(words, out)
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=seconds)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


def killed_writing(words, out, number):
    """Kill it while it writes its file of this number, from 0; whether it came to it."""
    program = f"from tests.cli.dying import die_writing; {MAIN}; die_writing({number}); main()"
    done = warm_python.run(program, *words, "--out", out, cwd=out.parent, timeout=300)
    return done.returncode == -signal.SIGKILL


def signalled(words, out, *, file, number):
    """It gets a signal once it has written a file of this name: (exit status, standard error)."""
    program = (
        f"from tests.cli.dying import signal_after_writing; {MAIN}; signal_after_writing({file!r}, "
        f"{int(number)}); main()"
    )
    done = warm_python.run(program, *words, "--out", out, cwd=out.parent, timeout=300)
    return done.returncode, done.stderr
