"""Threads that share a model do not disturb each other, and the user's own calls get the network's own answer."""

import math
from contextlib import contextmanager, suppress
from itertools import count

import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from pellucid.base.errors import ModelCannot
from pellucid.base.kinds import attributions
from pellucid.explaining.inputs.scikit import from_pipeline
from pellucid.models.classifiers.function import from_function
from pellucid.models.classifiers.network import from_network
from pellucid.text.example import as_examples
from tests.contracts.test_every_attribution import PassError, disturbed, traces_of
from tests.shared.asking import FEW, ask, works
from tests.shared.small_networks import Layered, Recurrent, words
from tests.shared.threads import hurried_switching, in_the_middle, together
from tests.shared.tiny import LABELS, tiny_classifier, tiny_composed, tiny_on_vectors

pytestmark = pytest.mark.whole

METHODS = attributions.names()
TEXTS = ("A gripping, lovely film.", "Dull.")
LONG = "It was a long film, with a few good ideas, which nobody liked."
THREADS = 8
CALLS = 150  # of the user's own beside one run of every method


def own_network(kind=Recurrent):
    with torch.random.fork_rng():
        torch.manual_seed(5)
        network = kind().eval()
    settings = {"tokenize": words, "labels": LABELS, "mask": 501}
    settings["layers"] = getattr(network, "layers", None)
    return from_network(network, logits=network, embedding=network.embedding, **settings)


def by_letters(texts):
    """Probabilities from the letters of texts."""
    counts = torch.tensor([[text.count(letter) for letter in "ael"] for text in texts]).double()
    return counts.softmax(-1).numpy()


KINDS = {
    "bert": lambda: tiny_classifier("bert"),
    "albert": lambda: tiny_classifier("albert"),  # one block, run three times
    "gpt2": lambda: tiny_classifier("gpt2"),  # a decoder without a padding id
    "span": lambda: tiny_composed("span"),
    "joined": lambda: tiny_composed("span", positions=16, max_length=64),
    "rationale": lambda: tiny_composed("rationale"),
    "additive": lambda: tiny_composed("additive"),
    "on_vectors": lambda: tiny_on_vectors("cnn"),
    "from_network": own_network,
    "own_layers": lambda: own_network(Layered),
    "from_function": lambda: from_function(by_letters, LABELS),
    "from_pipeline": lambda: from_pipeline(
        make_pipeline(TfidfVectorizer(), LogisticRegression()).fit([*TEXTS, LONG], [*LABELS])
    ),
}
NETWORKS = [kind for kind in KINDS if not kind.startswith("from_") and kind != "own_layers"]


@pytest.fixture(params=[name for name in METHODS if "linear" not in attributions.get(name).facts["needs"]])
def once(request, having):
    """Every method of networks on one model that has what it needs."""
    return request.param, having(request.param)


def explained(model, method, texts=TEXTS):
    """Explanations, or the error where there are none: some methods check the model only while they run."""
    try:
        return ask(model, texts, (method, FEW.get(method, {})))
    except ModelCannot as error:
        return str(error)


def own_call(model, text=TEXTS[1]):
    """The network called by its user: a function that gives its logits."""
    columns = model.place(model.encode(as_examples([text])).rows)
    network = model.network
    return lambda: network(**columns).logits.detach()


@pytest.mark.parametrize("kind", KINDS)
def test_eight_threads_give_what_one_gives(kind):
    """A part of the methods in every thread, each from a place of its own on, so that several threads run each method; bit for bit.

    For one model half of them, so that four threads run each; for the others a quarter.
    """
    texts = (TEXTS[0], LONG) if kind == "joined" else TEXTS
    serial, model = KINDS[kind](), KINDS[kind]()
    methods = [name for name in METHODS if works(name, serial)]
    alone = {name: explained(serial, name, texts) for name in methods}

    def work(thread):
        turn = thread * len(methods) // THREADS
        own = (methods[turn:] + methods[:turn])[: math.ceil(len(methods) / (2 if kind == "bert" else 4))]
        return {name: explained(model, name, texts) for name in own}

    with hurried_switching():
        runs = together(*(lambda thread=thread: work(thread) for thread in range(THREADS)))
    assert set().union(*runs) == alone.keys()
    for of_thread in runs:
        for name, explanations in of_thread.items():
            assert explanations == alone[name], name


def test_who_calls_the_network_amid_a_pass_gets_its_own_answer(once):
    """And the pass is not disturbed by it."""
    method, model = once
    call, alone = own_call(model), explained(model, method)
    own = call()
    with in_the_middle(model.blocks[1], call, times=12) as answers:
        explanations = explained(model, method)
    assert explanations == alone
    assert answers
    assert all(torch.equal(answer, own) for answer in answers)


@pytest.mark.parametrize("kind", NETWORKS)
def test_who_trains_the_network_amid_a_pass_gets_its_own_gradients(kind):
    model = KINDS[kind]()
    columns = model.place(model.encode(as_examples(TEXTS[:1])).rows)

    def gradients():
        loss = model.network(**columns).logits.square().sum()
        wanted = [parameter for parameter in model.network.parameters() if parameter.requires_grad]
        return torch.autograd.grad(loss, wanted, allow_unused=True)

    own = gradients()
    last = next(each for name, each in model.network.named_modules() if name in ("classifier", "score", "head"))
    for method in ("gradient", "integrated_gradients"):
        with in_the_middle(last, gradients) as answers:
            ask(model, TEXTS, (method, FEW.get(method, {})))
        assert len(answers) == 1
        for now, before in zip(answers[0], own, strict=True):
            assert (now is None) == (before is None)
            assert now is None or torch.equal(now, before)


@pytest.mark.parametrize("kind", ("bert", "gpt2", "span", "joined", "rationale", "from_network"))
def test_every_method_amid_another(kind):
    """It runs whole while a path of gradients waits in the middle of a pass."""
    model = KINDS[kind]()
    texts = (LONG,) if kind == "joined" else TEXTS[:1]
    methods = [name for name in METHODS if works(name, model)]
    alone = {name: explained(model, name, texts) for name in methods}
    inner = model.network.lstm if kind == "from_network" else model.blocks[1]
    for name in methods:
        with in_the_middle(inner, lambda name=name: explained(model, name, texts)) as answers:
            assert explained(model, "integrated_gradients", texts) == alone["integrated_gradients"]
        assert answers == [alone[name]]


def calls_beside(model, count):
    """What the user's own calls give while every method explains, and what they give alone."""
    methods = [name for name in METHODS if works(name, model)]
    call = own_call(model)
    own = call()
    with hurried_switching():
        _, answers = together(
            lambda: [explained(model, name) for name in methods],
            lambda: [call() for _ in range(count)],
        )
    return [float((answer - own).abs().max()) for answer in answers]


@pytest.mark.parametrize("kind", NETWORKS)
def test_own_calls_beside_all_methods_are_right(kind):
    assert set(calls_beside(KINDS[kind](), CALLS)) == {0.0}


@pytest.mark.long
@pytest.mark.parametrize("kind", NETWORKS)
def test_thousands_of_own_calls_beside_all_methods_are_right(kind):
    model = KINDS[kind]()
    assert {gap for _ in range(10) for gap in calls_beside(model, 500)} == {0.0}


@contextmanager
def failing(module, fails):
    """The calls of the module whose numbers, from 1 on, fail raise."""
    numbers = count(1)

    def fail(*_):
        if fails(next(numbers)):
            raise PassError

    handle = module.register_forward_hook(fail)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize("call", (0, 1, 2))
def test_overlapping_threads_leave_the_network_as_it_was(once, call):
    """One thread runs whole amid another one's pass; call: which call of the last block raises, in whatever thread."""
    method, model = once
    network = model.network

    def run():
        try:
            return explained(model, method)
        except PassError:
            return None

    with disturbed(network), failing(model.blocks[-1], call.__eq__):
        before = traces_of(network)
        with in_the_middle(model.blocks[0], run):
            run()
        assert traces_of(network) == before


@pytest.mark.parametrize("errors", (False, True))
def test_many_threads_leave_the_network_as_it_was(errors):
    model = KINDS["bert"]()

    def run():
        for method in ("gradient", "attention_norm", "relevance", "occlusion", "wu_ong_lrp"):
            with suppress(PassError):
                ask(model, TEXTS, (method, FEW.get(method, {})))

    with disturbed(model.network), failing(model.blocks[-1], lambda number: errors and number % 3 == 0):
        before = traces_of(model.network)
        with hurried_switching():
            together(*[run] * THREADS)
        assert traces_of(model.network) == before
