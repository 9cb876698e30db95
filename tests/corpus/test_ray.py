"""Ray computes a run: actors and machines may go and come, and the bytes stay those of a quiet run."""

import os
import random
import shlex
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.explaining.inputs.loading import remember
from tests.cli.jobs import started_anew
from tests.corpus.deadly import deadly
from tests.corpus.test_how_to import block
from tests.shared.moments import files_of
from tests.shared.tiny import LABELS, save_tiny

WORDS = "good bad fine dull film plot slow lovely actor scene never ever really quite story music night".split()
pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model and reviews under the names of the page."""
    folder = tmp_path_factory.mktemp("ray")
    save_tiny(folder / "my-classifier", labels=LABELS)
    return folder


@pytest.fixture(scope="module")
def cluster():
    """Two machines in this one; a third takes the place of the second where that goes."""
    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    machines.second = machines.add_node(num_cpus=1)
    yield machines
    machines.shutdown()


def processes_of(name):
    """The processes whose command line begins so, by number."""
    numbers = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(name.encode()):
                numbers.append(int(path.parent.name))
        except OSError:  # it has ended
            continue
    return numbers


@pytest.mark.parametrize("machine_goes", (False, pytest.param(True, marks=pytest.mark.long)))
def test_a_killed_actor_and_a_machine_that_goes_lose_nothing(place, cluster, machine_goes, monkeypatch):
    """The command of the page, with as many workers as there is room for, runs beside a stranger's torch.py, which no
    actor imports either.
    """
    (place / "torch.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)  # where `--address auto` looks first
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(3000)]
    (place / "reviews").mkdir(exist_ok=True)
    (place / "reviews" / "first.csv").write_text("\n".join(["n,body", *(f"0,{text}" for text in texts)]))
    _, line = block("console").split("pellucid ")
    words = shlex.split(line.replace("\\\n", " ").replace("--workers 64", "--workers 2"))
    *words, out = [*words[: words.index("--out")], *words[words.index("--out") + 2 :], words[words.index("--out") + 1]]
    folder = place / str(machine_goes) / Path(out).relative_to("/shared")
    process = started_anew(words, folder, cwd=place)
    while process.poll() is None and not list(folder.glob("shards/*.json")):
        time.sleep(0.02)
    os.kill(processes_of("ray::_Actor")[0], signal.SIGKILL)
    if machine_goes:
        cluster.remove_node(cluster.second, allow_graceful=False)
        cluster.add_node(num_cpus=1)
    assert process.poll() is None, "the run was over before it was disturbed"
    assert process.wait(timeout=500) == 0, process.stderr.read()  # beside other work Ray starts its actors slowly
    monkeypatch.chdir(place)
    model = pellucid.load("my-classifier")
    reading = {"text": "body", "folder": place / str(machine_goes) / "quiet", "progress": False}
    quiet = pellucid.explain_corpus(model, "reviews/*.csv", "gradient_x_input", **reading)
    assert files_of(folder) == files_of(quiet.path)


@pytest.mark.long
def test_a_text_that_kills_its_process_is_a_failure(place, cluster):
    texts = ["A good film.", "A killer text.", "A dull film.", "A slow film."]
    model = pellucid.load(place / "my-classifier")
    remember(model, partial(deadly, place / "my-classifier"))
    engine = ("ray", {"address": cluster.address})
    run = pellucid.explain_corpus(
        model, texts, "gradient_x_input", folder=place / "deadly", engine=engine, progress=False
    )
    assert [failure.row for failure in run.failures] == [1] and "SIGKILL" in run.failures[0].reason
    assert len(run) == 3


@pytest.mark.parametrize("name", ("attack", pytest.param("compare", marks=pytest.mark.long)))
def test_parts_by_ray_are_those_of_one_call(place, cluster, name):
    texts = [pellucid.Example((f"A {word} film.",), "positive") for word in WORDS] * 2
    model, engine = pellucid.load(place / "my-classifier"), ("ray", {"address": cluster.address})
    for out, more in (("alone", {}), ("by ray", {"engine": engine})):
        folder = place / f"{name} {out}"
        if name == "attack":
            pellucid.attack(model, texts, "deepwordbug", folder=folder, progress=False, **more)
        else:
            pellucid.compare(model, texts, ["gradient"], ["sufficiency"], folder=folder, progress=False, **more)
    assert files_of(place / f"{name} alone") == files_of(place / f"{name} by ray")


def test_what_ray_cannot_do_is_one_sentence(place):
    model = pellucid.load(place / "my-classifier")
    explained = partial(pellucid.explain_corpus, texts=["A film."], progress=False)
    with pytest.raises(BadSetting, match="no cluster of Ray that answers"):
        explained(model, folder=place / "no", engine=("ray", {"address": "127.0.0.1:1"}))
    function = pellucid.from_function(lambda texts: [[0.5, 0.5]] * len(texts), ["no", "yes"])
    with pytest.raises(ModelCannot, match="actors of Ray load it themselves"):
        explained(function, folder=place / "none", engine="ray")
