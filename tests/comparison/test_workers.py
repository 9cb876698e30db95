"""A comparison by several processes is that of one, and says why where it cannot be."""

import os
import time
from functools import partial

import pytest
import torch

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot, RouteNotUsed
from pellucid.base.processes import Processes
from pellucid.comparison.comparison import PART
from pellucid.explaining.inputs.loading import loading_of, remember
from pellucid.models.routing import route_choice
from pellucid.models.routing.routes import OneDnnRoute
from tests.shared.moments import files_of
from tests.shared.tiny import LABELS, save_tiny

TEXTS = [f"A gripping film of {year}, and lovely." for year in range(1950, 1950 + 2 * PART + 3)]
QUESTION = {
    "methods": ["gradient", "occlusion"],
    "metrics": ["comprehensiveness", "sufficiency"],
    "resamples": 10,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("model"), labels=LABELS)


def compared(model, out, texts=TEXTS, **settings):
    return pellucid.compare(model, texts, folder=out, progress=False, **{**QUESTION, **settings})


@pytest.mark.whole
def test_two_workers_leave_the_bytes_of_one_process(folder, tmp_path):
    """Each on one thread. A part that is there already is not computed again."""
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        table = compared(str(folder), tmp_path / "one")
        assert len(list((tmp_path / "one" / "parts").iterdir())) == 6
        assert compared(str(folder), tmp_path / "two", workers=2) == table
    finally:
        torch.set_num_threads(threads)
    one, two = (files_of(tmp_path / name) for name in ("one", "two"))
    assert two == one
    (tmp_path / "two" / "parts" / "0001.json").unlink()
    (tmp_path / "two" / "table.json").unlink()
    before = (tmp_path / "two" / "parts" / "0000.parquet").stat().st_mtime_ns
    assert compared(pellucid.load(folder), tmp_path / "two", workers=2) == table
    assert (tmp_path / "two" / "parts" / "0000.parquet").stat().st_mtime_ns == before


def test_workers_need_a_folder_and_a_model_that_loads_again(folder, tmp_path):
    with pytest.raises(BadSetting, match="workers=2 is not possible in memory"):
        pellucid.compare(str(folder), TEXTS[:3], workers=2)
    function = pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["no", "yes"])
    with pytest.raises(ModelCannot, match="only in the memory"):
        compared(function, tmp_path / "out", methods=["occlusion"], workers=2)
    with pytest.raises(BadSetting, match="workers=0"):
        compared(str(folder), tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()


@pytest.mark.whole
def test_a_worker_that_ends_or_asks_something_else_is_reported(folder, tmp_path):
    """One that dies before its work; one whose files are another model by now. There is one part, so one is started."""
    model = pellucid.load(folder)
    remember(model, partial(os._exit, 3))
    with pytest.raises(ModelCannot, match="ended by itself with status 3, 3 times"):
        compared(model, tmp_path / "dead", TEXTS[:PART], workers=2)
    remember(model, partial(pellucid.load, save_tiny(tmp_path / "other", "roberta", LABELS)))
    with pytest.raises(ModelCannot, match="has other weights in its files than in memory"):
        compared(model, tmp_path / "other model", TEXTS[:PART], workers=2)


def test_what_loads_a_model_again_loads_the_same(folder):
    model = pellucid.load(folder, max_length=16)
    again = loading_of(model)()
    assert (again.hash, again.window) == (model.hash, 16)


@pytest.mark.skipif(bool(OneDnnRoute.lacks()), reason="this PyTorch has no such oneDNN")
def test_workers_take_the_route_that_the_first_process_uses(folder, monkeypatch):
    """A trial measures time, so each process might take another one."""
    model = pellucid.load(folder, route="auto")
    assert (model.route_in_use, loading_of(model)().route) == ("eager", "eager")  # it is small: no trial
    named = pellucid.load(folder, route="onednn")
    assert loading_of(named)().route == named.route_in_use
    assert loading_of(pellucid.load(folder))().route == "eager"
    load = loading_of(named)
    monkeypatch.setattr(OneDnnRoute, "lacks", staticmethod(lambda: "there is none"))
    monkeypatch.setattr(route_choice, "_remembered", type(route_choice._remembered)())
    with (
        pytest.warns(RouteNotUsed),
        pytest.raises(ModelCannot, match=r"A worker cannot compute by the route onednn.*there is none"),
    ):
        load()


def sleep(share):
    time.sleep(100)


@pytest.mark.whole
def test_an_interruption_does_not_wait_for_what_is_worked_on():
    """A part of a comparison takes about a minute; it is computed anew."""

    def interrupt(done):
        raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Processes(2).run([sleep, sleep, sleep], interrupt)
    assert time.monotonic() - begun < 60
