"""Processes that compute a run: they may be killed, interrupted or joined at any moment, and the bytes stay the same."""

import json
import os
import random
import signal
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pellucid
from pellucid.corpus import careful, shard
from pellucid.explaining.inputs.loading import remember
from tests.cli.jobs import MAIN, started
from tests.corpus.deadly import deadly
from tests.shared.moments import files_of
from tests.shared.tiny import LABELS, save_tiny
from tests.shared.warm_python import Started

WORDS = "good bad fine dull film plot slow lovely actor scene never ever really quite story music night".split()
pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model, and 2,300 texts of which some are equal."""
    folder, draw = tmp_path_factory.mktemp("corpus"), random.Random(0)
    save_tiny(folder / "model", labels=LABELS)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(2300)]
    (folder / "texts.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    return folder


def words_of(place, *more):
    data = ["--data", place / "texts.jsonl", "--method", "gradient_x_input", "--yes"]
    return ["explain", place / "model", *data, *more]


@pytest.fixture(scope="module")
def quiet(place):
    """The files of a run by one worker that nobody disturbed."""
    ended(started(words_of(place), place / "quiet"))
    return files_of(place / "quiet")


def ended(process, status=0):
    output, errors = process.communicate(timeout=300)
    assert process.returncode == status, errors
    return output, errors


def waiting_for(process, folder, count):
    """Wait until a run has so many receipts; whether its process is still alive."""
    while process.poll() is None and len(list(folder.glob("shards/*.json"))) < count:
        time.sleep(0.02)
    return process.poll() is None


def children_of(process):
    """The processes that compute for a command, by number; Python's tracker of resources is none of them."""
    numbers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    numbers += [
        n for task in Path(f"/proc/{process.pid}/task").iterdir() for n in (task / "children").read_text().split()
    ]
    return [int(n) for n in dict.fromkeys(numbers) if b"resource_tracker" not in line_of(n)]


def line_of(number):
    """How a process was started: a copy has the line of the command."""
    return Path(f"/proc/{number}/cmdline").read_bytes()


def test_two_workers_and_two_slices_write_the_bytes_of_one(place, quiet):
    ended(started(words_of(place, "--workers", 2), place / "two"))
    assert files_of(place / "two") == quiet
    slices = [started(words_of(place, "--slice", f"{n}/2"), place / "slices") for n in (1, 2)]
    for process in slices:
        ended(process)
    assert files_of(place / "slices") == quiet


def test_killed_children_and_a_killed_command_lose_nothing(place, quiet):
    out = place / "killed"
    process = started(words_of(place, "--workers", 2), out)
    while process.poll() is None and not children_of(process):
        time.sleep(0.02)
    assert {line_of(number) for number in children_of(process)} == {line_of(process.pid)}
    os.kill(children_of(process)[0], signal.SIGKILL)
    assert waiting_for(process, out, 1)
    os.kill(random.Random(1).choice(children_of(process)), signal.SIGKILL)
    process.kill()
    ended(process, -signal.SIGKILL)
    assert list(out.glob("leases/*.json"))  # which nobody keeps alive
    before = {
        path: path.stat().st_mtime_ns for path in out.glob("shards/*.parquet") if path.with_suffix(".json").exists()
    }
    _, errors = ended(started(words_of(place), out))
    assert before and all(path.stat().st_mtime_ns == moment for path, moment in before.items()), errors
    assert files_of(out) == quiet


def test_a_file_that_is_interrupted_goes_on_and_has_what_it_has_at_once(place):
    """Beside the file lies a run until it is whole; equal are texts and answers, and scores up to rounding."""
    save = place / "saved.parquet"
    words = [*words_of(place, "--save", save, "--shortcut-passes", 0)]
    words.remove("--yes")
    process = Started(f"{MAIN}; main()", words, place)
    beside = place / "saved.parquet.run"
    assert waiting_for(process, beside, 1)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert "run the same command again" in ended(process, 130)[1] and not save.exists()
    assert time.monotonic() - begun < 10 and not list(beside.glob("leases/*.json"))
    first = (beside / "shards" / "00000.parquet").stat().st_mtime_ns
    process = Started(f"{MAIN}; main()", words, place)
    while not save.exists() and process.poll() is None:
        if (beside / "shards" / "00001.json").exists():
            assert (beside / "shards" / "00000.parquet").stat().st_mtime_ns == first
        time.sleep(0.05)
    ended(process)
    assert not beside.exists()
    texts = pellucid.examples(place / "texts.jsonl")
    at_once = pellucid.explain(place / "model", texts, "gradient_x_input", progress=False)
    saved = pellucid.read(save)
    assert [each.example for each in saved] == texts
    for ours, theirs in zip(saved, at_once, strict=True):
        assert ours.prediction.label == theirs.prediction.label and ours.units == theirs.units
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-5)


def test_a_text_that_kills_its_process_is_a_failure_and_all_others_are_explained(place, monkeypatch):
    for module in (careful, shard):
        monkeypatch.setattr(module, "explain_rows", shard.explain_rows)  # which is put back then
    texts = ["A good film.", "A killer text.", "A dull film."]
    model = deadly(place / "model")  # the first child is a copy of this process, others load it
    remember(model, partial(deadly, place / "model"))
    run = pellucid.explain_corpus(model, texts, "gradient_x_input", folder=place / "deadly", progress=False)
    assert [failure.row for failure in run.failures] == [1] and "SIGKILL" in run.failures[0].reason
    assert [explanation.example.text for explanation in run] == [text for text in texts if "killer" not in text]
