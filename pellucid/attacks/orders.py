"""Orders of an attack: which unit is edited first, a function each."""

import numpy as np

from pellucid.attacks.attack_case import AttackCase, Ranking
from pellucid.attacks.attack_steps import Options, RankingSteps
from pellucid.attacks.omission_scores import omission_scores, omissions_at
from pellucid.base.kinds import attack_orders


@attack_orders.add(method="occlusion", asks=True)
def saliency_times_gain(case: AttackCase, options: Options) -> RankingSteps:
    """Units by softmax(saliency) x gain, each with the replacement that gains most in the text as it is; highest first.

    Saliency times the best replacement's gain, the order of PWWS.

    Source: Ren et al. (2019), "Generating Natural Language Adversarial Examples through Probability
    Weighted Word Saliency", equations 4 to 8.

    Saliency is the fall of the explained class's probability without the unit. Units without a replacement are left
    out, and their saliency is not asked: they are only in the softmax's sum, which all weights share, so they change no
    order (A0.24).
    """
    edits = [(unit, edit) for unit in range(len(case.units)) for edit in options.edits(unit)]
    if not edits:
        return Ranking(())
    units = sorted({unit for unit, _ in edits})
    omissions = omissions_at(case, units) if case.scores is None else []
    answers = yield [*((edit,) for _, edit in edits), *omissions]
    gains = case.goal.nearness(answers[: len(edits)]) - case.start_nearness
    weights = dict(zip(units, _weights(_saliency(case, units, answers[len(edits) :])), strict=True))
    best: dict[int, int] = {}
    for edit_index, (unit, _) in enumerate(edits):
        if unit not in best or gains[edit_index] > gains[best[unit]]:
            best[unit] = edit_index
    order = sorted(best, key=lambda unit: (-weights[unit] * gains[best[unit]], unit))
    return Ranking(tuple(order), {unit: edits[edit_index][1].after for unit, edit_index in best.items()})


def _saliency(case: AttackCase, units: list[int], answers: np.ndarray) -> np.ndarray:
    """[unit]: stored or computed before, or read off the answers to what was asked."""
    return case.scores[units] if case.scores is not None else omission_scores(case, units, answers)


def _weights(saliency: np.ndarray) -> np.ndarray:
    """[unit]: the softmax up to its sum, 0 to 1; all 0 where no unit is read."""
    highest = saliency.max()
    return np.exp(saliency - highest) if np.isfinite(highest) else np.zeros(len(saliency))


@attack_orders.add()
def text_order(case: AttackCase, options: Options) -> Ranking:
    """The units from the first to the last; "TiWO" of Ren et al. (2019).

    Units in reading order.
    """
    return Ranking(tuple(range(len(case.units))))


@attack_orders.add()
def random_order(case: AttackCase, options: Options) -> Ranking:
    """The units in random order, by the text and the seed.

    What every other order must beat.
    """
    order = case.generator("random_order").permutation(len(case.units))
    return Ranking(tuple(int(unit) for unit in order))
