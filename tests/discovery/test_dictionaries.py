"""Discoveries give what scikit-learn itself gives of the same states, and each state's activations are its own."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, FastICA, TruncatedSVD

from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.base.kinds import discoveries
from pellucid.discovery.dictionaries import discovered, in_parts, random_directions

N = 4


def states(seed=0, count=400, width=12):
    """Sums of four directions, of which few are there at once, and noise."""
    rng = np.random.default_rng(seed)
    there = rng.exponential(size=(count, N)) * (rng.random((count, N)) < 0.4)
    return (there @ rng.normal(size=(N, width)) + 0.1 * rng.normal(size=(count, width))).astype(np.float32)


def of_library(name, matrix):
    """Activations and reconstruction by the library's own transform."""
    if name == "nmf":
        model = NMF(N, init="nndsvda", random_state=0, max_iter=400, tol=1e-3).fit(in_parts(matrix))
        model.set_params(tol=1e-5, max_iter=5000)
        rebuilt = model.inverse_transform(model.transform(in_parts(matrix)))
        return rebuilt[:, :12] - rebuilt[:, 12:]
    if name == "ica":
        model = FastICA(N, whiten="unit-variance", random_state=0, max_iter=400).fit(matrix)
        return model.inverse_transform(model.transform(matrix))
    if name == "svd":
        model = TruncatedSVD(N, random_state=0).fit(matrix - matrix.mean(0))
        return model.inverse_transform(model.transform(matrix - matrix.mean(0))) + matrix.mean(0)
    model = KMeans(N, n_init=3, random_state=0, max_iter=400).fit(matrix)
    return model.cluster_centers_[model.predict(matrix)]


@pytest.mark.parametrize("name", discoveries.names())
def test_a_discovery_equals_scikit_learns_own(name):
    matrix = states()
    dictionary = discovered(matrix, name, N, 0)
    rebuilt = dictionary.reconstructed(dictionary.activations(matrix))
    np.testing.assert_allclose(rebuilt, of_library(name, matrix), atol=2e-3)
    assert discoveries.get(name).facts["signed"] or dictionary.activations(matrix).min() >= 0


@pytest.mark.parametrize("name", discoveries.names())
def test_activations_of_a_state_do_not_depend_on_its_neighbours_and_the_largest_concept_comes_first(name):
    matrix = states()
    dictionary = discovered(matrix, name, N, 0)
    activations = dictionary.activations(matrix)
    alone = np.concatenate([dictionary.activations(row[None]) for row in matrix[:20]])
    np.testing.assert_allclose(alone, activations[:20], atol=1e-5)
    sizes = (activations**2).mean(0) * (dictionary.atoms**2).sum(1)
    assert (np.diff(sizes) <= 1e-6).all()


def test_directions_of_chance_lie_where_states_vary():
    matrix = np.zeros((100, 3), np.float32)
    matrix[:, 1] = np.arange(100)
    directions = random_directions(matrix, 5, 0)
    np.testing.assert_allclose(np.abs(directions), np.tile([0, 1, 0], (5, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("matrix", "method", "n", "error", "words"),
    [
        (states(count=4), "svd", 4, BadInput, "give more texts"),
        (np.zeros((50, 12), np.float32), "nmf", 4, BadInput, "are the same"),
        (np.full((50, 12), np.nan, np.float32), "ica", 4, BadInput, "no finite numbers"),
        (states(), "svd", 13, BadSetting, "from 2 to 12"),
        (states(), "pca", 4, UnknownName, "svd"),
    ],
)
def test_what_cannot_be_searched_ends_in_a_sentence(matrix, method, n, error, words):
    with pytest.raises(error, match=words):
        discovered(matrix, method, n, 0)
