"""The page on corpora: every command, script and job on it runs as it is written, and all of them write one run."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.jobs import MAIN
from tests.shared import warm_python
from tests.shared.moments import files_of
from tests.shared.tiny import LABELS, save_tiny

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "explain-a-corpus.md"
pytestmark = pytest.mark.whole


def block(language, place=0):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[place]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model and two files of reviews under the names of the page."""
    folder = tmp_path_factory.mktemp("how-to")
    save_tiny(folder / "my-classifier", labels=LABELS)
    (folder / "reviews").mkdir()
    for name in ("first", "second"):
        rows = [f"{n},a lovely {name} film of number {n % 300}" for n in range(600)]
        (folder / "reviews" / f"{name}.csv").write_text("\n".join(["n,body", *rows]))
    return folder


# The commands run in processes that begin warm: the shell says which words each gets.
WORDS = "pellucid() { printf '%q ' \"$@\"; echo; }\n"


def shell(command, place, **environment):
    done = subprocess.run(
        ["bash", "-ec", WORDS + command], env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return "".join(output_of(f"{MAIN}; main()", *shlex.split(line), cwd=place) for line in done.stdout.splitlines())


def output_of(program, *words, cwd):
    done = warm_python.run(program, *words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_run_one_after_the_other(place):
    output = shell(block("sh"), place)
    assert "1,200 texts by 1 worker: about" in output and "done: 1,200 texts, 100 %, 2 of 2 shards" in output
    assert "600 copied from an earlier run" in output and re.search(r"^word +avg", output, re.M)
    state = json.loads(shell("pellucid jobs runs/reviews --json", place))
    assert (state["done"], state["failures"], state["working"]) == (1200, [], [])


def test_arrays_and_indexed_jobs_write_the_run_of_one_command(place):
    """One job of each: it does its own shards first, and then those of the job that never came."""
    shell(block("bash"), place, SLURM_ARRAY_TASK_ID="2")
    spec = yaml.safe_load(block("yaml"))["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert spec["completions"] == 2
    shell(container["args"][0], place, JOB_COMPLETION_INDEX="0")
    assert (
        files_of(place / "runs" / "array") == files_of(place / "runs" / "pods") == files_of(place / "runs" / "reviews")
    )


def test_the_array_of_a_comparison_ends_with_its_table(place):
    """Both jobs, one after the other: the second reads what the first has joined."""
    rows = [f"{LABELS[n % 2]},a lovely film of number {n}" for n in range(20)]
    (place / "labelled.csv").write_text("\n".join(["label,text", *rows]))
    tables = [shell(block("bash", 1), place, SLURM_ARRAY_TASK_ID=task) for task in ("2", "1")]
    assert tables[0] == tables[1] and "gradient" in tables[0]
    assert (place / "runs" / "compared" / "table.json").exists()


def test_the_program_runs(place):
    (place / "program.py").write_text(block("python"))
    output = output_of(place / "program.py", cwd=place)
    assert "1200 []" in output and "WordScore" in output
