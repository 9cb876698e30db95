"""What soft comprehensiveness and soft sufficiency share: texts of which single numbers of the word embeddings are set to 0.

Zhao & Aletras (2023), "Incorporating Attribution Importance for Improving Faithfulness Metrics", section 3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import at_least
from pellucid.evaluation.shared.case import Case, refuse_infinite
from pellucid.run.batch import Row
from pellucid.run.blank import generator_for
from pellucid.run.target import class_probabilities
from pellucid.run.windows import rows_of
from pellucid.text.units import Kind

PURPOSE = "soft erasure"  # one for both metrics: their draws are the same
Chances = Callable[[np.ndarray], np.ndarray]  # importance [unit] -> the chance that a number is kept [unit]


@dataclass(frozen=True)
class SoftEdit:
    """One draw of one text. chances: [piece], of each number of the piece's embedding to be kept. number: of the draw."""

    example: int
    chances: Tensor
    number: int


def mean_soft_fall(
    case: Case, chances: Chances, *, n_draws: int, unit: Kind, normalised: bool, seed: int
) -> np.ndarray:
    """[example]: p(whole text) - p(text with only some of its numbers), averaged over draws.

    normalised: as a share of the fall when all numbers of the text are 0, cut to 0 to 1; nan where that fall is not above 0.
    Special tokens keep their embeddings.
    """
    at_least("n_draws", n_draws, 1)
    edits: list[list[SoftEdit]] = []
    for example, scores in enumerate(case.scores(unit)):
        of_pieces = _of_pieces(case, example, unit, chances(importance(scores)))
        edits.append([SoftEdit(example, of_pieces, draw) for draw in range(n_draws)])
        if normalised:
            edits[-1].append(SoftEdit(example, _of_pieces(case, example, unit, np.zeros(len(scores))), 0))
    whole = case.probabilities([[row] for row in case.batch.rows])
    edited = _probabilities(case, edits, seed)
    falls = [
        one[0, label] - other[:, label]
        for one, other, label in zip(whole, edited, case.explained_classes(), strict=True)
    ]
    if normalised:
        return np.array([_share(float(one[:-1].mean()), float(one[-1])) for one in falls])
    return np.array([one.mean() for one in falls])


def importance(scores: np.ndarray) -> np.ndarray:
    """[unit], 0 to 1: scores between the text's lowest, 0, and its highest, 1; all 0.5 where they are equal."""
    spread = np.ptp(scores) if len(scores) else 0.0
    return (scores - scores.min()) / spread if spread > 0 else np.full(len(scores), 0.5)


def _share(fall: float, fall_of_all: float) -> float:
    return float(np.clip(fall / fall_of_all, 0, 1)) if fall_of_all > 0 else float("nan")


def _of_pieces(case: Case, example: int, unit: Kind, chances: np.ndarray) -> Tensor:
    """[piece]: the chance of each piece's unit; 1 at special tokens."""
    of_pieces = torch.ones(len(case.batch.rows[example]), dtype=torch.float64)
    for chance, pieces in zip(chances, case.batch.pieces_of(example, unit), strict=True):
        of_pieces[list(pieces)] = float(chance)
    return of_pieces


def _probabilities(case: Case, edits: Sequence[Sequence[SoftEdit]], seed: int) -> list[np.ndarray]:
    """For each example [edit class]: the model's probabilities, through packs of rows of like length."""
    flat = [edit for of_example in edits for edit in of_example]
    windows = [(edit, row) for edit in flat for row in rows_of(case.batch.rows[edit.example])]
    logits: dict[int, Tensor] = {}
    for pack in case.scheduler.packs_of([row for _, row in windows]):
        answers = case.scheduler.halving(pack, lambda some: _logits(case, [windows[n] for n in some], seed))
        logits |= dict(zip(pack, torch.cat(answers), strict=True))
    case.scheduler.rows_run += len(windows)
    case.scheduler.tokens_run += sum(len(row) for _, row in windows)
    in_order = torch.stack([logits[number] for number in range(len(windows))])
    counts = [len(rows_of(case.batch.rows[edit.example])) for edit in flat]
    means = torch.stack([part.mean(0) for part in in_order.split(counts)])
    owners = [case.batch.examples[edit.example] for edit in flat]
    refuse_infinite(means, owners, case.model, "with parts of its word embeddings set to 0")
    return [
        class_probabilities(part, case.model.problem).numpy() for part in means.split(list(map(len, edits)))
    ]


def _logits(case: Case, windows: Sequence[tuple[SoftEdit, Row]], seed: int) -> Tensor:
    """[window logit]."""
    states = [_embeddings(case, edit, row, seed) for edit, row in windows]
    padded = torch.nn.utils.rnn.pad_sequence(states, batch_first=True)
    with torch.no_grad():
        answers = case.model.trace([row for _, row in windows], embeddings=padded)
    return answers.logits.cpu().double()


def _embeddings(case: Case, edit: SoftEdit, window: Row, seed: int) -> Tensor:
    """[piece width]: a window's word embeddings, each number kept or 0. A piece in two windows is the same in both."""
    vectors = case.model.embed(torch.tensor(window.ids, device=case.model.device))
    row = case.batch.rows[edit.example]
    generator = generator_for(row, f"{PURPOSE} {edit.number}", seed)
    drawn = torch.rand(len(row), vectors.shape[-1], dtype=torch.float64, generator=generator)
    mask = (drawn < edit.chances[:, None])[list(window.own_numbers)]
    return vectors * mask.to(vectors)
