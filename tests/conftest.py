"""What all tests share: one thread, so that results do not depend on the machine, and one tiny model of each kind."""

import atexit
import gc
from copy import deepcopy
from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import settings
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.base import processes
from pellucid.base.kinds import datasets
from pellucid.corpus import child
from pellucid.models.load import load_classifier
from tests.shared import warm_python
from tests.shared.asking import works
from tests.shared.tiny import FAMILIES, LABELS, save_tiny, tiny_classifier, tiny_composed, with_tiny_head

gc.disable()  # until all is imported and collected

settings.register_profile("suite", deadline=None, derandomize=True, database=None, max_examples=100)
settings.load_profile("suite")

TEXTS = (
    "A gripping, lovely film.",
    "fine",
    ("The café was closed.", "Nobody eats there."),
    "Long, winding and in the end rather dull, the second part. Avoid!",
    "Two emoji 👩‍👩‍👧👍 and שלום",
)


def pytest_collection_modifyitems(items):
    """Whole jobs first: a long one at the end would leave the other workers without work."""
    items.sort(key=lambda item: item.get_closest_marker("whole") is None)


def pytest_collection_finish(session):
    """What was imported and collected stays to the end: no collection of garbage need look through it again, here or in a child."""
    gc.collect()
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)  # compiled libraries complain of what is not given back


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    """No trial of the person who runs the tests is read or written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PELLUCID_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("SOURCE_DATE_EPOCH", "1764288000")  # 28 November 2025: pages say the day on which they are written
        yield


@pytest.fixture(autouse=True, scope="session")
def _workers_begin_warm():
    """A worker from the beginning takes five seconds to load torch; `hostile/test_modules_beside_data.py` has such ones."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (processes, child):
            patch.setattr(module, "get_context", warm_python.context)
        yield


@pytest.fixture(autouse=True, scope="session")
def _corpus_read_once():
    """Our own corpus of 2,500 texts is asked for a thousand times: it is read once a process, and every reader gets a list of its own."""
    module = datasets.get("pocket").make.__globals__
    read = cache(module["_examples"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(module, "_examples", lambda folder: list(read(folder)))
        yield


@pytest.fixture(scope="session")
def texts():
    return TEXTS


@pytest.fixture(scope="session")
def bert():
    return with_tiny_head(tiny_classifier("bert"))


@pytest.fixture(scope="session")
def self_explaining():
    return tiny_composed("span")


@pytest.fixture(scope="session")
def choosing():
    return tiny_composed("rationale")


@pytest.fixture(scope="session")
def attending():
    return tiny_composed("additive")


@pytest.fixture(scope="session")
def adding_up():
    return tiny_composed("first_token", layer_form="b_cos")


@pytest.fixture(scope="session")
def linear():
    """A linear model of words and pairs of words; it reads no pairs of texts."""
    train = [example for example in pellucid.examples("pocket", "dev") if example.label in LABELS]
    pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression())
    return pellucid.from_pipeline(pipeline.fit([each.text for each in train], [each.label for each in train]))


@pytest.fixture(scope="session")
def having(bert, self_explaining, choosing, attending, adding_up, linear):
    """The first of six tiny models that has what a method needs."""
    models = (bert, self_explaining, choosing, attending, adding_up, linear)
    return lambda method: next(model for model in models if works(method, model))


@pytest.fixture(scope="session")
def fresh():
    """A function of a tiny model: one with the same weights that has read nothing yet."""

    def equal(model):
        return replace(model, network=deepcopy(model.network))

    return equal


@pytest.fixture(scope="session")
def models(bert, self_explaining, choosing, attending, adding_up, tmp_path_factory):
    """Every kind of model by name: the Hugging Face families, written to disk and read, and five composed ones."""
    families = {
        family: load_classifier(save_tiny(tmp_path_factory.mktemp(family), family, LABELS))
        for family in FAMILIES
        if family != "bert"
    }
    composed = {"span": self_explaining, "first_token": tiny_composed("first_token"), "rationale": choosing}
    composed |= {"additive": attending, "b_cos": adding_up}
    return {"bert": bert, **families, **composed}
