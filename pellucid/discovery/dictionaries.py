"""Discoveries: states of a layer as sums of a few directions, the concepts; by scikit-learn or updates of our own."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from pellucid.base.checks import between
from pellucid.base.errors import BadInput
from pellucid.base.kinds import discoveries

Encoding = Literal["linear", "nearest", "nonnegative", "parts", "top", "above"]
ENCODINGS = get_args(Encoding)
MOST_STEPS = 400  # of the searches that go step by step
SEMI_START, SEMI_TOLERANCE = 0.2, 1e-4  # added to the first weights; what ten steps must gain of the first error
AT_ONCE = 2048  # states whose float64 copies are in memory together
TOP = 4  # concepts that a state of a sparse autoencoder has at most


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Concepts as directions: a state is about offset + activations @ atoms.

    atoms: [concept width]. offset: [width], a state without any concept. encoder: what activations are read with, as
        encoding says. encoding: "linear", (state - offset) @ encoder.T, [concept width]; "nearest", 1 for the nearest
        row of [concept width], 0 for the others; "nonnegative", the least squares 0 or more of the state by [concept
        width]; "parts", the same of the state's positive and negative parts, side by side, by [concept 2 width];
        "top", the four largest of the linear ones, where they are above 0, and 0 for the others; "above", the linear
        ones that are above 1, and 0 for the others. settled: whether the search came to an end.
    """

    atoms: np.ndarray
    offset: np.ndarray
    encoder: np.ndarray
    encoding: Encoding
    settled: bool = True

    def activations(self, states: np.ndarray) -> np.ndarray:
        """[state width] -> [state concept], in float32; those of a state do not depend on the states beside it."""
        read = np.zeros((len(states), len(self.atoms)), np.float32)
        for some in in_turn(len(states)):  # in float64 all at once would take more memory than the states
            read[some] = self._read(states[some])
        return read

    def errors(self, states: np.ndarray) -> np.ndarray:
        """[state]: the squared distance of each state from its reconstruction."""
        distances = np.zeros(len(states), states.dtype)
        for some in in_turn(len(states)):
            rebuilt = self.reconstructed(self.activations(states[some]))
            distances[some] = ((states[some] - rebuilt) ** 2).sum(1)
        return distances

    def _read(self, states: np.ndarray) -> np.ndarray:
        """[state concept], in float64."""
        if self.encoding in ("linear", "top", "above"):
            read = (states.astype(np.float64) - self.offset) @ self.encoder.T.astype(np.float64)
            read = _largest(read) if self.encoding == "top" else read * (read > 1) if self.encoding == "above" else read
        elif self.encoding == "nearest":
            centres = self.encoder.astype(np.float64)
            distances = (centres**2).sum(1) - 2 * states.astype(np.float64) @ centres.T
            read = np.eye(len(centres))[distances.argmin(1)]
        else:
            read = _nonnegative(self.read_from(states), self.encoder)
        return read

    def read_from(self, states: np.ndarray) -> np.ndarray:
        """[state width] -> [state number]: what least squares are of, states or their parts."""
        return in_parts(states) if self.encoding == "parts" else states

    def part_weights(self, states: np.ndarray, concept: int) -> np.ndarray:
        """[state width] -> [state number]: by what each state, or its parts, is multiplied for a concept's activation,
        as long as the same concepts are active; 0 where it is not. For activations by least squares alone.
        """
        active = self.activations(states) > 0
        weights = {key: self._inverse(np.frombuffer(key, bool), concept) for key in {row.tobytes() for row in active}}
        if not len(active):
            return np.zeros((0, self.encoder.shape[1]))
        return np.stack([weights[row.tobytes()] for row in active])

    def _inverse(self, active: np.ndarray, concept: int) -> np.ndarray:
        """[2 width]: a concept's row of the pseudo-inverse of those that are active; 0 where it is not."""
        encoder = self.encoder.astype(np.float64)
        if not active[concept]:
            return np.zeros(encoder.shape[1])
        inverse: np.ndarray = np.linalg.pinv(encoder[active].T)[np.flatnonzero(active).tolist().index(concept)]
        return inverse

    def reconstructed(self, activations: np.ndarray) -> np.ndarray:
        """[state concept] -> [state width]: what the concepts alone say of each state."""
        rebuilt: np.ndarray = self.offset + activations @ self.atoms
        return rebuilt

    def in_order(self, order: np.ndarray) -> "Dictionary":
        """The same concepts in another order, in float32, as they are saved."""
        atoms, encoder = (array[order].astype(np.float32) for array in (self.atoms, self.encoder))
        return replace(self, atoms=atoms, offset=self.offset.astype(np.float32), encoder=encoder)


def in_turn(count: int) -> Iterator[slice]:
    """Some thousand states at a time."""
    return (slice(first, first + AT_ONCE) for first in range(0, count, AT_ONCE))


def in_parts(states: np.ndarray) -> np.ndarray:
    """[state width] -> [state 2 width]: the positive parts, then the negative ones, all 0 or more."""
    count, width = states.shape
    parts = np.empty((count, 2 * width), states.dtype)
    np.maximum(states, 0, out=parts[:, :width])
    np.negative(np.minimum(states, 0, out=parts[:, width:]), out=parts[:, width:])
    return parts


def _largest(read: np.ndarray) -> np.ndarray:
    """[state concept]: the largest of each state that are above 0, and 0 for the others; of equal ones the first."""
    order = np.argsort(-read, axis=1, kind="stable")[:, :TOP]
    top = np.zeros_like(read)
    np.put_along_axis(top, order, np.maximum(np.take_along_axis(read, order, 1), 0), 1)
    return top


def _nonnegative(parts: np.ndarray, encoder: np.ndarray) -> np.ndarray:
    """[state concept]: argmin ||parts - c @ encoder|| over c of 0 or more, state by state, exactly.

    Lawson & Hanson (1974), "Solving Least Squares Problems", chapter 23; of the QR decomposition, which has as many
    rows as there are concepts.
    """
    from scipy.optimize import nnls

    orthogonal, triangle = np.linalg.qr(encoder.astype(np.float64).T)
    wanted = parts.astype(np.float64) @ orthogonal
    return np.stack([nnls(triangle, row)[0] for row in wanted]) if len(wanted) else np.zeros((0, len(encoder)))


@discoveries.add(signed=False)
def nmf(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Sums of parts: the positive and the negative parts of states as sums of concepts of 0 or more.

    Source: Lee & Seung (1999), "Learning the parts of objects by non-negative matrix factorization", equation 1, of
    states split as in Fel et al. (2023), "CRAFT", section 3.1, for states that are never below 0.
    """
    from sklearn.decomposition import non_negative_factorization  # whose class holds two reconstructions in memory

    how: dict[str, Any] = {"init": "nndsvda", "random_state": seed, "max_iter": MOST_STEPS, "tol": 1e-3}
    with _settling() as settled:
        _, components, _ = non_negative_factorization(in_parts(states), n_components=n, **how)
    width = states.shape[1]
    atoms = components[:, :width] - components[:, width:]
    return Dictionary(atoms, np.zeros(width, states.dtype), components, "parts", all(settled))


@discoveries.add(signed=False)
def semi_nmf(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Sums of directions: states of either sign as sums of concepts of 0 or more, whose directions have either sign.

    Source: Ding, Li & Jordan (2010), "Convex and Semi-Nonnegative Matrix Factorizations", section 3.1: the updates, and
    the start from k-means with 0.2 added.
    """
    weights = kmeans(states, n, seed).activations(states) + SEMI_START
    total, errors = float(np.linalg.norm(states) ** 2), list[float]()
    while len(errors) < MOST_STEPS and not _has_settled(errors):
        atoms, error = _least_squares_atoms(states, weights, total)
        errors.append(error)
        weights = _semi_step(weights, states @ atoms.T, atoms @ atoms.T)
    return Dictionary(atoms, np.zeros(states.shape[1], states.dtype), atoms, "nonnegative", _has_settled(errors))


def _has_settled(errors: list[float]) -> bool:
    """Whether the last ten steps gained next to nothing, as the multiplicative updates of scikit-learn ask."""
    return len(errors) > 10 and errors[-11] - errors[-1] < SEMI_TOLERANCE * errors[0]


def _least_squares_atoms(states: np.ndarray, weights: np.ndarray, total: float) -> tuple[np.ndarray, float]:
    """[concept width]: the directions that make the best of the weights, and the squared error; F of the paper."""
    together = weights.T @ states
    atoms = np.linalg.pinv((weights.T @ weights).astype(np.float64), hermitian=True) @ together
    return atoms.astype(states.dtype), total - float((atoms * together).sum())


def _semi_step(weights: np.ndarray, along: np.ndarray, products: np.ndarray) -> np.ndarray:
    """[state concept]: weights times the root of what pulls them up over what pulls them down; G of the paper."""
    up = np.maximum(along, 0) + weights @ np.maximum(-products, 0)
    down = np.maximum(-along, 0) + weights @ np.maximum(products, 0)
    ground = np.finfo(weights.dtype).eps * np.abs(along).mean()  # a state without any weight has neither
    stepped: np.ndarray = weights * np.sqrt((up + ground) / (down + ground))
    return stepped


@discoveries.add(signed=True)
def ica(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Independent directions, each turned so that its activations reach further above 0 than below.

    Source: Hyvärinen & Oja (2000), "Independent Component Analysis: Algorithms and Applications", section 6.
    """
    from sklearn.decomposition import FastICA

    with _settling() as settled:
        model = FastICA(n, whiten="unit-variance", random_state=seed, max_iter=MOST_STEPS).fit(states)
    activations = (states - model.mean_) @ model.components_.T
    signs = np.where((activations**3).mean(0) < 0, -1, 1).astype(states.dtype)[:, None]
    return Dictionary(signs * model.mixing_.T, model.mean_, signs * model.components_, "linear", all(settled))


@discoveries.add(signed=False)
def kmeans(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Groups of states that lie near each other; a state has the concept of its group and no other.

    Source: Lloyd (1982), "Least squares quantization in PCM", with first centres after Arthur & Vassilvitskii (2007).
    """
    from sklearn.cluster import KMeans

    with _settling() as settled:
        model = KMeans(n, n_init=3, random_state=seed, max_iter=MOST_STEPS).fit(states)
    mean = states.mean(0)
    return Dictionary(model.cluster_centers_ - mean, mean, model.cluster_centers_, "nearest", all(settled))


@discoveries.add(signed=True)
def svd(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """The directions in which states vary most, each turned so that its activations reach further above 0 than below.

    Source: Eckart & Young (1936), "The approximation of one matrix by another of lower rank", of states less the mean.
    """
    from sklearn.decomposition import TruncatedSVD

    mean = states.mean(0)
    model = TruncatedSVD(n, random_state=seed).fit(states - mean)
    activations = (states - mean) @ model.components_.T
    signs = np.where((activations**3).mean(0) < 0, -1, 1).astype(states.dtype)[:, None]
    return Dictionary(signs * model.components_, mean, signs * model.components_, "linear")


def random_dictionary(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """n directions drawn with the spread of the states, in the place of concepts: what chance gives."""
    mean = states.mean(0)
    basis, _ = np.linalg.qr(random_directions(states, n, seed).T)
    return Dictionary(basis.T.astype(states.dtype), mean, basis.T.astype(states.dtype), "linear")


def random_directions(states: np.ndarray, n: int, seed: int) -> np.ndarray:
    """[n width]: directions of length 1, normal draws with the covariance of the states."""
    draws = np.random.default_rng(seed).standard_normal((n, len(states))).astype(states.dtype)
    directions = draws @ (states - states.mean(0))
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    return directions / np.maximum(lengths, np.finfo(states.dtype).tiny)


def discovered(states: np.ndarray, method: str, n: int, seed: int, what: str = "word") -> Dictionary:
    """n concepts of states [state width], those that make up most of the states first.

    what: what a state is of, for errors. Raises `UnknownName` for no discovery, `BadInput` for fewer states than
    concepts, states that are all alike, and more concepts than states have numbers.
    """
    between("n", n, 2, states.shape[1])
    if len(states) <= n:
        raise BadInput(f"{len(states):,} {what}s came for n={n} concepts; give more texts, or a smaller n.")
    if not np.isfinite(states).all():
        raise BadInput("The layer has states that are no finite numbers; choose another layer.")
    if np.ptp(states, axis=0).max() == 0:
        raise BadInput(f"The states of all {len(states):,} {what}s are the same; choose another layer, or other texts.")
    dictionary: Dictionary = discoveries.get(method).make(states, n, seed)
    sizes = (dictionary.activations(states).astype(np.float64) ** 2).mean(0) * (dictionary.atoms**2).sum(1)
    return dictionary.in_order(np.argsort(-sizes, kind="stable"))


@contextmanager
def _settling() -> Iterator[list[bool]]:
    """A list that gets False where the library warns that its search did not settle."""
    from sklearn.exceptions import ConvergenceWarning

    settled: list[bool] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield settled
    settled += [False for warning in caught if issubclass(warning.category, ConvergenceWarning)]
    _pass_on(caught)


def _pass_on(caught: list[Any]) -> None:
    """Warn of whatever else the library had to say; it divides by 0 where a group is empty."""
    from sklearn.exceptions import ConvergenceWarning

    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning | RuntimeWarning | FutureWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
