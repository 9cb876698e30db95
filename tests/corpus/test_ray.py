"""Ray computes a run: actors and machines may go and come, and the bytes stay those of a quiet run."""

import os
import random
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.explaining.inputs.loading import remember
from tests.cli.jobs import started
from tests.corpus.deadly import deadly
from tests.shared.moments import files_of
from tests.shared.tiny import LABELS, save_tiny

WORDS = "good bad fine dull film plot slow lovely actor scene never ever really quite story music night".split()
pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model, which is slow enough to be disturbed."""
    folder = tmp_path_factory.mktemp("ray")
    save_tiny(folder / "model", labels=LABELS)
    return folder


@pytest.fixture(scope="module")
def cluster():
    """Three machines in this one: one that only begins the run, and two that compute."""
    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    machines.nodes = [machines.add_node(num_cpus=1) for _ in range(2)]
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


def test_killed_actors_and_a_machine_that_goes_lose_nothing(place, cluster, monkeypatch):
    """The command runs beside a stranger's torch.py, which no actor imports either."""
    (place / "torch.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(5000)]
    (place / "texts.txt").write_text("\n".join(texts))
    words = ["explain", place / "model", "--data", place / "texts.txt", "--method", "gradient_x_input", "--yes"]
    many = ["--workers", "2", "--engine", "ray", "--address", cluster.address]
    process, folder = started([*words, *many], place / "disturbed", cwd=place), place / "disturbed"
    while process.poll() is None and not list(folder.glob("shards/*.json")):
        time.sleep(0.02)
    os.kill(processes_of("ray::_Actor")[0], signal.SIGKILL)
    cluster.remove_node(cluster.nodes[0], allow_graceful=False)
    cluster.add_node(num_cpus=1)
    assert process.poll() is None, "the run was over before it was disturbed"
    assert process.wait(timeout=300) == 0, process.stderr.read()
    quiet = pellucid.explain_corpus(
        pellucid.load(place / "model"), place / "texts.txt", "gradient_x_input", folder=place / "quiet", progress=False
    )
    assert files_of(folder) == files_of(quiet.path)


@pytest.mark.long
def test_a_text_that_kills_its_process_is_a_failure(place, cluster):
    texts = ["A good film.", "A killer text.", "A dull film.", "A slow film."]
    model = pellucid.load(place / "model")
    remember(model, partial(deadly, place / "model"))
    engine = ("ray", {"address": cluster.address})
    run = pellucid.explain_corpus(
        model, texts, "gradient_x_input", folder=place / "deadly", engine=engine, progress=False
    )
    assert [failure.row for failure in run.failures] == [1] and "SIGKILL" in run.failures[0].reason
    assert len(run) == 3


def test_what_ray_cannot_do_is_one_sentence(place):
    model = pellucid.load(place / "model")
    explained = partial(pellucid.explain_corpus, texts=["A film."], progress=False)
    with pytest.raises(BadSetting, match="no cluster of Ray that answers"):
        explained(model, folder=place / "no", engine=("ray", {"address": "127.0.0.1:1"}))
    function = pellucid.from_function(lambda texts: [[0.5, 0.5]] * len(texts), ["no", "yes"])
    with pytest.raises(ModelCannot, match="actors of Ray load it themselves"):
        explained(function, folder=place / "none", engine="ray")
