"""What orders and searches are worth where the best edit is known: a planted word, and all combinations of a few
words.
"""

import numpy as np
import pytest
import torch

import pellucid
from tests.attacks.word_sums import TOKEN, sum_model, texts, with_token
from tests.shared.small_networks import Bag, words

OF_FUNCTIONS = (
    "occlusion",
    ("kernel_shap", {"n_samples": 100}),
    ("lime", {"n_samples": 100}),
    ("shapley_sampling", {"n_permutations": 8}),
    "saliency_times_gain",
)
OF_NETWORKS = ("gradient_x_input", ("integrated_gradients", {"n_steps": 8}), "deep_lift_shap", "relevance")
SHORT = 6  # words, as many as `exhaustive` combines


def first_edits(model, some, order):
    """The first edited word of each text."""
    plan = pellucid.AttackPlan(order, ("typos",), guards=())
    attempts = pellucid.attack(model, some, plan, progress=False)
    return [one.edits[0].before for one in attempts if one.edits]


@pytest.mark.parametrize("order", OF_FUNCTIONS, ids=str)
def test_a_planted_word_is_edited_first_by_what_a_function_answers(order):
    some = [with_token(text, number) for number, text in enumerate(texts(20, 10))]
    edited = first_edits(sum_model(planted=4.0), some, order)
    assert len(edited) >= 0.95 * len(some) and edited.count(TOKEN) >= 0.95 * len(edited)


@pytest.mark.parametrize("order", ["random_order", "text_order"])
def test_orders_that_do_not_ask_the_model_find_it_by_chance(order):
    some = [with_token(text, number) for number, text in enumerate(texts(20, 10))]
    edited = first_edits(sum_model(planted=4.0), some, order)
    assert edited.count(TOKEN) < 0.5 * len(edited)


@pytest.fixture(scope="module")
def bag():
    """A sum of word vectors, of which that of the planted word is by far the longest and speaks for the second
    class.
    """
    torch.manual_seed(0)
    network = Bag().eval()
    (number, _, _), *_ = words(TOKEN)
    with torch.no_grad():
        network.embedding.weight.mul_(0.1)
        network.embedding.weight[number] = 20 * network.head.weight[1] / network.head.weight[1].norm()
    return pellucid.from_network(
        network,
        tokenize=words,
        logits=network,
        embedding=network.embedding,
        labels=["negative", "neutral", "positive"],
        separator=599,
        mask=598,
    )


@pytest.mark.parametrize("order", OF_NETWORKS, ids=str)
def test_a_planted_word_is_edited_first_by_gradients(order, bag):
    ((own, _, _),) = words(TOKEN)
    some = [
        with_token(text, number)
        for number, text in enumerate(texts(20, 10))
        if own not in [word for word, _, _ in words(text)]
    ]
    edited = first_edits(bag, some, order)
    assert len(edited) >= 0.95 * len(some) > 10 and edited.count(TOKEN) >= 0.95 * len(edited)


SEARCHES = ("greedy", "beam", "exhaustive")


def by_search(together):
    """Search -> what it did to texts of six words; together: the part of neighbours in the answer."""
    model, some = sum_model(together=together), texts(12, SHORT)
    plans = {one: pellucid.AttackPlan("occlusion", ("typos",), guards=(), search=one) for one in SEARCHES}
    return {name: pellucid.attack(model, some, plan, progress=False) for name, plan in plans.items()}


@pytest.mark.parametrize("together", (0.0, 0.5))
def test_the_gap_between_greedy_and_all_combinations(together):
    """Where words add up, a word's best replacement is best beside any others, so greedy fools whatever can be fooled;
    it only edits more.
    """
    attempts = by_search(together)
    fooled = {name: np.array([one.is_success for one in every]) for name, every in attempts.items()}
    edits = {name: np.array([len(one.edits) for one in every]) for name, every in attempts.items()}
    assert fooled["exhaustive"].sum() > 2
    for name in ("greedy", "beam"):
        assert not (fooled[name] & ~fooled["exhaustive"]).any()
        assert (edits[name] >= edits["exhaustive"])[fooled[name]].all()
        assert together or (fooled[name] == fooled["exhaustive"]).all()
    assert edits["greedy"][fooled["greedy"]].mean() <= edits["exhaustive"][fooled["greedy"]].mean() + 1
