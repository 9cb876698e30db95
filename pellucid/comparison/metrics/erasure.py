"""Metrics of erasure: what the answer loses without the words of highest scores, and what they keep of it alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import at_least, between
from pellucid.base.kinds import metrics
from pellucid.comparison.case import Case, Judged, class_answers
from pellucid.comparison.removed_words import FRACTIONS, mean_fall
from pellucid.run.batch import Operator, Row
from pellucid.run.blank import generator_for
from pellucid.run.predicting import refuse_infinite
from pellucid.run.read_alone import fewest_units, is_answer
from pellucid.run.windows import rows_of
from pellucid.text.ranges import mean_of_orders
from pellucid.text.units import Kind


@metrics.add(better="higher", lowest=-1.0, highest=1.0, column=3, later={"normalised"})
def comprehensiveness(
    case: Case,
    *,
    fractions: Sequence[float] = FRACTIONS,
    unit: Kind = "word",
    operator: Operator = "absent",
    normalised: bool = False,
) -> Judged:
    """Fall of the explained class's probability without the best-scored units; -1 to 1, higher is better.

    How far the prediction falls once the best-scored units are removed.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.2. They delete tokens; our default makes them absent, so that the others keep their positions.

    fractions: shares of the text that are removed, rounded up, at least one unit each; the falls are
    averaged. operator: "delete" is the paper's. normalised: as a share of the fall without any unit (Carton et al.
    2020), cut to 0 to 1; texts that lose nothing without any unit are not judged.
    """
    fall = mean_fall(
        case,
        lambda order, count: order[:count],
        fractions=fractions,
        unit=unit,
        operator=operator,
        normalised=normalised,
    )
    return Judged(fall[:, None])


@metrics.add(better="lower", lowest=-1.0, highest=1.0, column=4, later={"normalised"})
def sufficiency(
    case: Case,
    *,
    fractions: Sequence[float] = FRACTIONS,
    unit: Kind = "word",
    operator: Operator = "absent",
    normalised: bool = False,
) -> Judged:
    """Fall of the explained class's probability with the best-scored units alone; -1 to 1, lower is better.

    How far the prediction falls when only the best-scored units are kept.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.2. They delete tokens; our default makes them absent, so that the others keep their positions.

    fractions: shares of the text that are kept, rounded up, at least one unit each; the falls are averaged.
    operator: "delete" is the paper's. normalised: as a share of the fall without any unit (Carton et al. 2020), cut
    to 0 to 1; texts that lose nothing without any unit are not judged.
    """
    fall = mean_fall(
        case,
        lambda order, count: order[count:],
        fractions=fractions,
        unit=unit,
        operator=operator,
        normalised=normalised,
    )
    return Judged(fall[:, None])


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False, capabilities={"gradient"})
def soft_comprehensiveness(
    case: Case, *, n_draws: int = 5, unit: Kind = "word", normalised: bool = False, seed: int = 0
) -> Judged:
    """Fall of the explained class's probability when well-scored units lose most of their embeddings; -1 to 1, higher
    is better.

    How far the prediction falls when each word loses as much of its embedding as its score says.

    Source: Zhao & Aletras (2023), "Incorporating Attribution Importance for Improving Faithfulness
    Metrics", section 3.2.

    Each number of a unit's word embeddings is set to 0 with the unit's score as chance, after the scores of the text
    were brought to 0 to 1 (the lowest and the highest of them). The whole ranking counts, not only its top. n_draws: of
    which the falls are averaged; they are a text's own, the same for every method. normalised: as a share of the fall
    when all numbers are 0, cut to 0 to 1, which is the paper's; texts that lose nothing then are not judged.
    """
    fall = mean_soft_fall(
        case, lambda importance: 1 - importance, n_draws=n_draws, unit=unit, normalised=normalised, seed=seed
    )
    return Judged(fall[:, None])


@metrics.add(better="lower", lowest=-1.0, highest=1.0, usual=False, capabilities={"gradient"})
def soft_sufficiency(
    case: Case, *, n_draws: int = 5, unit: Kind = "word", normalised: bool = False, seed: int = 0
) -> Judged:
    """Fall of the explained class's probability when units keep what their scores say; -1 to 1, lower is better.

    How far the prediction falls when each word keeps as much of its embedding as its score says.

    Source: Zhao & Aletras (2023), "Incorporating Attribution Importance for Improving Faithfulness
    Metrics", section 3.2.

    Each number of a unit's word embeddings is kept with the unit's score as chance, after the scores of the text were
    brought to 0 to 1 (the lowest and the highest of them). n_draws: of which the falls are averaged; they are a text's
    own, the same for every method. normalised: as a share of the fall when all numbers are 0, cut to 0 to 1; the
    paper's value is 1 minus this one. Texts that lose nothing then are not judged.
    """
    fall = mean_soft_fall(
        case, lambda importance: importance, n_draws=n_draws, unit=unit, normalised=normalised, seed=seed
    )
    return Judged(fall[:, None])


@metrics.add(better="lower", lowest=0.0, highest=1.0, of_classes=True, usual=False)
def decision_flip(case: Case, *, unit: Kind = "word", operator: Operator = "absent") -> Judged:
    """Share of a text's units that go, best-scored first, until its predicted class changes; 0 to 1, lower is better.

    How much of a text must go, best-scored units first, until the model gives another class.

    Source: Serrano & Smith (2019), "Is Attention Interpretable?", section 5.1, who take out weights;
    here units of the text are taken out.

    1 where the class never changes. Fewest units: one. operator: how units are taken out.
    """

    def rows(example: int, order: Sequence[int], count: int) -> Row:
        return case.without(example, order[:count], unit, operator)

    labels = case.classes("prediction")
    return _fewest_shares(case, unit, rows, case.predictions, lambda classes, example: classes != labels[example])


@metrics.add(better="lower", lowest=0.0, highest=1.0, of_classes=True, usual=False)
def words_needed(case: Case, *, within: float = 1.0, unit: Kind = "word", operator: Operator = "absent") -> Judged:
    """Share of a text's units that, best-scored first and read alone, give its predicted class; 0 to 1, lower is
    better.

    How much of a text the model needs, best-scored units first, to answer as it does.

    Source: ours; it is the length of the selection `enough` of `pellucid.extract`. That rationales be short and
    sufficient is asked by Lei, Barzilay & Jaakkola (2016), "Rationalizing Neural Predictions".

    within: how far the class's probability may be from that of the whole text, 0 to 1. Fewest units: one; 1 where only
    the whole text gives the class. operator: how the others are taken out.
    """
    between("within", within, 0, 1)

    def rows(example: int, order: Sequence[int], count: int) -> Row:
        return case.without(example, order[count:], unit, operator)

    whole = [np.array(explanation.prediction.probabilities) for explanation in case.explanations]
    return _fewest_shares(
        case, unit, rows, case.probabilities, lambda answers, example: is_answer(answers, whole[example], within)
    )


EditRow = Callable[[int, Sequence[int], int], Row]  # example, order of its units, count -> the edited text
Ask = Callable[[Sequence[Sequence[Row]]], list[np.ndarray]]  # edited texts of each example -> the model's answers
Reaches = Callable[[np.ndarray, int], np.ndarray]  # answers to an example's edits, the example -> [edit] bool


def _fewest_shares(case: Case, unit: Kind, rows: EditRow, ask: Ask, reaches: Reaches) -> Judged:
    """The share of each text's units that the fewest are which reach it, averaged over orders; 1 where none does."""
    orders = case.orders(unit)
    shares: list[list[float]] = [[] for _ in orders]
    for order_index in range(max(map(len, orders))):
        some = {
            index: of_example[order_index] for index, of_example in enumerate(orders) if order_index < len(of_example)
        }

        def reached(tried: Mapping[int, range], some: Mapping[int, list[int]] = some) -> dict[int, np.ndarray]:
            variants = [
                [rows(index, some[index], count) for count in tried.get(index, ())] or [case.batch.rows[index]]
                for index in range(len(case))
            ]
            answers = ask(variants)
            return {index: reaches(answers[index], index) for index in tried}

        for index, fewest in fewest_units({index: len(order) for index, order in some.items()}, reached).items():
            shares[index].append(1.0 if fewest is None else fewest / len(some[index]))
    return Judged(np.array([[mean_of_orders(np.array(of_example))] for of_example in shares]))


# What soft comprehensiveness and soft sufficiency share: texts of which single numbers of the word embeddings are set
# to 0.
#
# Zhao & Aletras (2023), "Incorporating Attribution Importance for Improving Faithfulness Metrics", section 3.

PURPOSE = "soft erasure"  # one for both metrics: their draws are the same
Chances = Callable[[np.ndarray], np.ndarray]  # importance [unit] -> the chance that a number is kept [unit]


@dataclass(frozen=True)
class SoftEdit:
    """One draw of one text. chances: [piece], of each number of the piece's embedding to be kept. draw: its
    number.
    """

    example: int
    chances: Tensor
    draw: int


def mean_soft_fall(
    case: Case, chances: Chances, *, n_draws: int, unit: Kind, normalised: bool, seed: int
) -> np.ndarray:
    """[example]: p(whole text) - p(text with only some of its numbers), averaged over draws.

    normalised: as a share of the fall when all numbers of the text are 0, cut to 0 to 1; nan where that fall is not
    above 0. Special tokens keep their embeddings.
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
        before[0, label] - after[:, label]
        for before, after, label in zip(whole, edited, case.explained_classes(), strict=True)
    ]
    if normalised:
        return np.array([_share(float(fall[:-1].mean()), float(fall[-1])) for fall in falls])
    return np.array([fall.mean() for fall in falls])


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
    """For each example [edit class]: the model's answers, through packs of rows of like length."""
    flat = [edit for of_example in edits for edit in of_example]
    windows = [(edit, row) for edit in flat for row in rows_of(case.batch.rows[edit.example])]
    logits: dict[int, Tensor] = {}
    for pack in case.scheduler.packs_of([row for _, row in windows]):
        answers = case.scheduler.halving(pack, lambda some: _logits(case, [windows[n] for n in some], seed))
        logits |= dict(zip(pack, torch.cat(answers), strict=True))
    case.scheduler.rows_run += len(windows)
    case.scheduler.tokens_run += sum(len(row) for _, row in windows)
    in_order = torch.stack([logits[index] for index in range(len(windows))])
    counts = [len(rows_of(case.batch.rows[edit.example])) for edit in flat]
    means = torch.stack([part.mean(0) for part in in_order.split(counts)])
    owners = [case.batch.examples[edit.example] for edit in flat]
    refuse_infinite(means, owners, case.model, "with parts of its word embeddings set to 0")
    return [class_answers(part, case.model.problem).numpy() for part in means.split(list(map(len, edits)))]


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
    generator = generator_for(row, f"{PURPOSE} {edit.draw}", seed)
    drawn = torch.rand(len(row), vectors.shape[-1], dtype=torch.float64, generator=generator)
    mask = (drawn < edit.chances[:, None])[list(window.own_numbers)]
    return vectors * mask.to(vectors)
