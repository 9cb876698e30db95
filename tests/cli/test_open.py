"""`pellucid open` and `pellucid.open_studio`: what is opened under which name, one sentence for what cannot be, and its
end at Ctrl-C.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import warnings

import pytest
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import pellucid
from pellucid.base.errors import BadInput
from pellucid.base.json_text import sealed, unsealed
from pellucid.base.kinds import views
from pellucid.corpus.folder import FORM
from pellucid.studio import door
from pellucid.studio.frame import framed
from pellucid.studio.visit import Visit
from tests.cli.jobs import ALONE, HEEDING
from tests.shared.tiny import save_tiny

TEXTS = ["A lovely film.", "Dull.", "So-so."]


def in_memory(folder):
    """The model of a folder, with which a run starts no process."""
    network = AutoModelForSequenceClassification.from_pretrained(folder)
    return pellucid.load(network, AutoTokenizer.from_pretrained(folder))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two models, runs of both and a comparison of the first, in folders."""
    top = tmp_path_factory.mktemp("studio")
    first, second = save_tiny(top / "a" / "model", labels=("bad", "good")), save_tiny(top / "b" / "model", "distilbert")
    for name, model in (("reviews", first), ("strange", second)):
        pellucid.explain_corpus(in_memory(model), TEXTS, "gradient", folder=top / "runs" / name, progress=False)
    measured = top / "measured"
    pellucid.compare(str(first), TEXTS, ["gradient"], ["comprehensiveness"], folder=measured, progress=False)
    (top / "texts.csv").write_text("text,stars\nA lovely film.,5\nDull.,1\n")
    return top


@pytest.fixture
def opened(monkeypatch):
    """What would be served, studio and site, in place of serving it."""
    open_there = []
    monkeypatch.setattr(door, "_serve", lambda studio, site: open_there.append((studio, site)))
    return open_there


def test_folders_are_what_they_hold(run, folders, opened):
    names = [folders / "a" / "model", folders / "runs" / "reviews", folders / "b" / "model", folders / "measured"]
    label_map = "1=bad,5=good"
    data = ["--data", folders / "texts.csv", "--label-column", "stars", "--label-map", label_map]
    status, _, err = run("open", *names, "--runs", folders / "runs", "--port", 0, *data)
    assert status == 0, err
    ((studio, site),) = opened
    assert list(studio.models) == ["model", "model (2)"]
    assert list(studio.runs) == ["reviews", "reviews (2)", "strange"]
    assert studio.table(studio.models["model"]).methods == ("gradient", "chance")
    assert [example.label for example in studio.data] == ["good", "bad"]
    assert studio.data_name.endswith("texts.csv") and site.address.startswith("http://127.0.0.1:")


def test_a_run_in_an_object_store_is_opened_by_its_address(run, folders, opened, tmp_path, monkeypatch):
    monkeypatch.setenv("PELLUCID_CACHE", str(tmp_path / "cache"))
    shutil.copytree(folders / "runs", tmp_path / "store")
    address = f"file://{tmp_path}/store"
    status, _, err = run("open", folders / "a" / "model", f"{address}/reviews", "--port", 0)
    assert status == 0, err
    assert {name: len(opened_run) for name, opened_run in opened[0][0].runs.items()} == {"reviews": len(TEXTS)}
    status, _, err = run("open", folders / "a" / "model", f"{address}/strange", "--port", 0)
    assert status == 2 and f"{address}/strange is a run of" in err


def test_runs_of_other_models_are_left_out_of_a_folder(folders, opened):
    with pytest.warns(pellucid.base.errors.Notice, match="Left out, as runs of other models: strange."):
        pellucid.open_studio(str(folders / "a" / "model"), runs=folders / "runs", port=0)
    assert list(opened[0][0].runs) == ["reviews"]


def test_a_run_of_an_earlier_version_is_left_out_with_what_makes_it_again(run, folders, opened, tmp_path):
    shutil.copytree(folders / "runs", tmp_path / "runs")
    job = tmp_path / "runs" / "reviews" / "job.json"
    seals = {"form": FORM}
    record = unsealed(json.loads(job.read_text()), seals, job)
    record["question"]["method"] = next(iter(record["question"].pop("methods")))
    job.write_text(json.dumps(sealed(record, seals)))
    for place in (["--runs", tmp_path / "runs"], [tmp_path / "runs" / "reviews"]):
        status, _, err = run("open", folders / "a" / "model", *place, "--port", 0)
        assert status == 0 and "of another version of Pellucid; make it again with pellucid explain" in err, err
        assert "--methods gradient --out" in err
    for studio, _ in opened:
        assert not studio.runs and list(studio.refused) == ["reviews"]
        visit = Visit(studio)
        assert "make it again with" in framed(visit, views.get("text").make(visit))


def test_in_python_models_and_results_come_as_they_are(linear, opened):
    named = pellucid.from_function(lambda texts: [[0.5, 0.5] for _ in texts], ["a", "b"], name="../..")
    with warnings.catch_warnings(action="error"):
        pellucid.open_studio([linear, named, lambda: linear], data=["A film.", "Dull."], port=0)
    (studio, _) = opened[0]
    assert list(studio.models.values()) == [linear, named, linear] and len(studio.data) == 2
    assert not any("/" in name or ".." in name for name in studio.models)


@pytest.mark.parametrize(
    ("words", "sentence"),
    (
        ((), "Missing argument"),
        (("runs/reviews",), "There is no model to open"),
        (("a/model", "runs/strange"), "is a run of"),
        (("b/model", "measured"), "A comparison is of"),
        (("a/model", "measured", "--comparison", "measured"), "Two comparisons of"),
        (("a/model", "--comparison", "runs"), "runs holds no table of a finished comparison"),
        (("a/model", "--runs", "a"), "a holds no run"),
        (("a/model", "--runs", "nowhere"), "nowhere holds no run"),
        (("nowhere",), "nowhere"),
        (("a/model", "--port", "x"), "Invalid value for '--port'"),
        (("a/model", "--port", "-1"), "--port=-1 is out of range"),
        (("a/model", "--host", "0.0.0.0"), "--certificate with its key, or --behind-proxy"),
        (("a/model", "--certificate", "nowhere.pem"), "There is no file nowhere.pem"),
        (("a/model", "--data", "nowhere.csv"), "nowhere.csv"),
        (("a/model", "--dtype", "float1"), "float1"),
    ),
)
def test_what_cannot_be_opened_gets_a_sentence(run, folders, monkeypatch, words, sentence):
    monkeypatch.chdir(folders)
    status, out, err = run("open", *words)
    assert status == 2 and out == "" and sentence in " ".join(err.split()) and len(err.strip().splitlines()) == 1, err


def test_a_port_in_use_is_reported_before_a_model_is_loaded(run, folders):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, _, err = run("open", folders / "nowhere", "--port", port)
    assert status == 2 and f"Port {port} of 127.0.0.1 cannot be used" in err


def test_no_model_is_refused_in_python(linear):
    with pytest.raises(BadInput, match="There is no model to open"):
        pellucid.open_studio([], port=0)


@pytest.mark.parametrize("package", ("starlette", "uvicorn"))
def test_without_the_extra_one_sentence_says_how_to_install_it(run, folders, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    status, _, err = run("open", folders / "a" / "model")
    assert status == 2 and f"needs the package {package}" in err and "pip install 'pellucid[studio]'" in err


@pytest.mark.whole
def test_it_prints_one_address_answers_there_and_ends_at_an_interruption(folders):
    line = [sys.executable, "-m", "pellucid", "open", str(folders / "a" / "model"), "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    studio = subprocess.Popen(line, env=os.environ | ALONE, **HEEDING, **pipes)
    address = studio.stdout.readline().strip()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    with opener.open(address, timeout=60) as page:
        assert "token" not in page.geturl() and b"Pellucid" in page.read()
    studio.send_signal(signal.SIGINT)
    out, err = studio.communicate(timeout=60)
    assert studio.returncode == 0 and out == ""
    assert err.splitlines()[-2:] == [
        "The studio is open there for whoever has this address; Ctrl-C ends it.",
        "The studio is closed.",
    ]


SLOW = """
import time
import pellucid

def slow(texts):
    if any("film" in text for text in texts):  # the text that is asked about, and not the trial of the function
        time.sleep(30)
    return [[0.5, 0.5] for _ in texts]

pellucid.load = lambda *_, **__: pellucid.from_function(slow, ["bad", "good"])
from pellucid.__main__ import main
main()
"""


@pytest.mark.whole
def test_it_ends_while_a_model_computes(tmp_path):
    line = [sys.executable, "-c", SLOW, "open", "slow", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    studio = subprocess.Popen(line, env=os.environ | ALONE, **HEEDING, **pipes)
    address = studio.stdout.readline().strip()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    opener.open(address, timeout=60).close()
    text = urllib.request.Request(
        address.partition("?")[0] + "text", b"text=A+film.", {"sec-fetch-site": "same-origin"}
    )
    with opener.open(text, timeout=60) as page:
        assert b"http-equiv" in page.read(), "it does not compute"
    studio.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, err = studio.communicate(timeout=60)
    assert studio.returncode == 0 and err.endswith("The studio is closed.\n")
    assert time.monotonic() - begun < 25, "it waited for the model"
