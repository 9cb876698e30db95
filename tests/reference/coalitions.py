"""Methods that take units out, written out slowly and literally for one text: a loop a formula, nothing of ours."""

from itertools import chain, combinations, permutations
from math import comb

import numpy as np
import torch

from tests.reference.attributions import inputs_of, logit_at, without, word_embeddings


class Game:
    """value(units) -> the class's logit when only these content units are attended to; the model is evaluated once on
    each set.
    """

    def __init__(self, classifier, segments, groups, label):
        self.classifier, self.inputs, self.groups, self.label = (
            classifier,
            inputs_of(classifier, segments),
            groups,
            label,
        )
        self.players, self.known = range(len(groups)), {}

    def __call__(self, present) -> float:
        key = frozenset(present)
        if key not in self.known:
            removed = [piece for player in set(self.players) - key for piece in self.groups[player]]
            with torch.no_grad():
                self.known[key] = float(without(self.classifier, self.inputs, removed)[self.label])
        return self.known[key]


def shapley(game) -> list[float]:
    """The mean over all orders of what each player adds to those before it."""
    gains = {player: [] for player in game.players}
    for order in permutations(game.players):
        for position, player in enumerate(order):
            gains[player].append(game(order[: position + 1]) - game(order[:position]))
    return [float(np.mean(of_player)) for of_player in gains.values()]


def shapley_of_orders(game, orders) -> list[float]:
    """The mean over these orders."""
    gains = {player: [] for player in game.players}
    for order in orders:
        for position, player in enumerate(order):
            gains[player].append(game(order[: position + 1]) - game(order[:position]))
    return [float(np.mean(of_player)) for of_player in gains.values()]


def kernel_shap(game) -> np.ndarray:
    """Theorem 2: least squares over all coalitions, weights (M-1) / (C(M,s) s (M-s)), infinite (1e9) at the ends."""
    count = len(game.players)
    sets = list(chain.from_iterable(combinations(game.players, size) for size in range(count + 1)))
    rows, values, weights = [], [], []
    for present in sets:
        size = len(present)
        rows.append([1.0, *(float(player in present) for player in game.players)])
        values.append(game(present))
        ends = size in (0, count)
        weights.append(1e9 if ends else (count - 1) / (comb(count, size) * size * (count - size)))
    root = np.sqrt(weights)
    return np.linalg.lstsq(root[:, None] * np.array(rows), root * np.array(values), rcond=None)[0][1:]


def gaussian_process_shapley(game, present, triples, larger) -> tuple[np.ndarray, float]:
    """Every interaction of an odd number of players by itself: its variance, its posterior mean, and its share in each
    player's value.

    present: one coalition of each known pair, as sets. Variances: 1 of all single players together, `triples` of all
    three, and `larger` times as much for each two more.
    """
    players = list(game.players)
    sets = [one for size in range(1, len(players) + 1, 2) for one in combinations(players, size)]
    of_sizes = {size: triples * larger ** ((size - 3) / 2) if size > 1 else 1.0 for size in map(len, sets)}
    prior = np.diag([of_sizes[len(one)] / sum(of_sizes.values()) / comb(len(players), len(one)) for one in sets])
    sign = lambda player, coalition: 1 if player in coalition else -1  # noqa: E731
    products = np.array([[np.prod([sign(player, of) for player in one]) for one in sets] for of in present])
    odd = np.array([(game(of) - game([one for one in players if one not in of])) / 2 for of in present])
    covariances = products @ prior @ products.T + 1e-6 * np.eye(len(present))
    shares = np.array([[2 / len(one) if player in one else 0 for one in sets] for player in players])
    gain = prior @ products.T @ np.linalg.inv(covariances)
    scores = shares @ gain @ odd
    variance = odd @ np.linalg.solve(covariances, odd) / len(odd)
    left = variance * np.diag(shares @ (prior - gain @ products @ prior) @ shares.T).mean()
    rise = game(players) - game([])
    return scores + (rise - scores.sum()) / len(players), float(np.sqrt(left))


def weighted_ridge(present, values, weights, alpha: float) -> np.ndarray:
    """The closed form (X'WX + alpha I)^-1 X'Wy on data centred by their weighted means: an intercept without
    penalty.
    """
    x, y, w = np.asarray(present, float), np.asarray(values, float), np.asarray(weights, float)
    x, y = x - (w @ x) / w.sum(), y - (w @ y) / w.sum()
    return np.linalg.solve(x.T @ (w[:, None] * x) + alpha * np.eye(x.shape[1]), x.T @ (w * y))


def lime_weight(present, width: float) -> float:
    """The `lime` package's weight of a text: distance is 100 x (1 - cosine with the whole), kernel as it has it."""
    here, whole = np.asarray(present, float), np.ones(len(present))
    norms = np.linalg.norm(here) * np.linalg.norm(whole)
    distance = 100 * (1 - (here @ whole / norms if norms else 0.0))
    return float(np.sqrt(np.exp(-(distance**2) / width**2)))


def expected_lime(game, n_samples: int, width: float, alpha: float) -> np.ndarray:
    """LIME with every coalition as often as it is expected among n_samples: once the whole text, else 1/M a size."""
    count = len(game.players)
    sets = list(chain.from_iterable(combinations(game.players, size) for size in range(count + 1)))
    present = [[player in members for player in game.players] for members in sets]
    times = [1.0 if len(members) == count else (n_samples - 1) / count / comb(count, len(members)) for members in sets]
    weights = [time * lime_weight(row, width) for time, row in zip(times, present, strict=True)]
    return weighted_ridge(present, [game(members) for members in sets], weights, alpha)


def preservation_mask(classifier, segments, positions, label, *, penalty: float, n_steps: int, blank) -> np.ndarray:
    """The best of the masks that torch's own Adam visits; positions: the content pieces, blank: [unit width]
    embeddings.
    """
    inputs = inputs_of(classifier, segments)
    embeddings = word_embeddings(classifier, inputs["input_ids"])
    with torch.no_grad():
        whole, empty = (logit_at(classifier, inputs, point[None], label)[0] for point in (embeddings, blank))
    mask = torch.ones(len(positions), dtype=embeddings.dtype, requires_grad=True)
    adam = torch.optim.Adam([mask], lr=0.05, betas=(0.9, 0.99), eps=1e-8)
    best, lowest = None, float("inf")
    for _ in range(n_steps):
        weights = torch.ones(len(embeddings), dtype=embeddings.dtype)
        weights[positions] = mask
        point = weights[:, None] * embeddings + (1 - weights[:, None]) * blank
        miss = (logit_at(classifier, inputs, point[None], label)[0] - whole) / (whole - empty)
        loss = miss**2 + penalty * mask.mean()
        if float(loss.detach()) < lowest:
            best, lowest = mask.detach().clone(), float(loss.detach())
        adam.zero_grad()
        loss.backward()
        adam.step()
        with torch.no_grad():
            mask.clamp_(0, 1)
    return best.numpy()
