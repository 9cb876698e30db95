"""What the methods say of each layer: for retained information every word, for the paper's other methods each layer's
sum.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from pellucid.base.errors import PellucidError
from pellucid.base.processes import Share
from pellucid.explaining.explain import explain
from pellucid.results.explanation import Explanation
from pellucid.run.hidden_target import HiddenState
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.text.units import Units
from studies.shared.units import Numbers

OURS = "retained_information"
HEAD: Final = "head"
RIVALS = ("guan_gradient", "guan_relevance", "guan_perturbation", "integrated_gradients")
SCALED = (OURS, "guan_perturbation")  # those that measure sigma_S on the reference texts


@dataclass(frozen=True)
class LayersSize:
    """How much is run.

    texts: explained by retained information; rivals: of these, the texts that the other methods explain too. train,
    dev: texts to learn from and to choose the epoch by; None for all. reference: train texts on which sigma_S is
    measured. models: names of `MODELS`. settings: method -> settings that are not its defaults.
    """

    texts: int
    rivals: int
    seeds: int
    train: int | None
    dev: int | None
    reference: int
    models: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def settings_of(method: str, size: LayersSize, reference: Sequence[Example]) -> dict[str, Any]:
    """A method's settings: the size's, and the reference texts where it reads them."""
    texts = {"reference": tuple(one.segments[0] for one in reference)} if method in SCALED else {}
    return texts | dict(size.settings.get(method, {}))


def retained(
    model: Model,
    texts: Sequence[Example],
    rows: Mapping[str, HiddenState],
    settings: Mapping[str, Any],
    share: Share,
) -> Numbers:
    """The words of each text, and what each row's states hold of them.

    words: [text][word]. rows: row -> [text][word], in nats; a word has the mean of its pieces. per_piece: row ->
    [text], the mean over all pieces, special tokens among them. settled: row -> the share of texts whose search
    settled. evaluations: row -> the mean number.
    """
    numbers: Numbers = {"words": [], "rows": {}, "per_piece": {}, "settled": {}, "evaluations": {}}
    for count, (row, target) in enumerate(rows.items(), start=1):
        explanations = explain(model, list(texts), OURS, target=target, progress=False, **settings)
        numbers["words"] = [_words(one) for one in explanations]
        numbers["rows"][row] = [_word_means(one) for one in explanations]
        numbers["per_piece"][row] = [round(float(one.scores.mean()), 4) for one in explanations]
        numbers["settled"][row] = float(np.mean([one.diagnostics["converged"] for one in explanations]))
        numbers["evaluations"][row] = float(np.mean([one.diagnostics["evaluations"] for one in explanations]))
        share(count / len(rows))
    return numbers


def _words(explanation: Explanation) -> list[str]:
    """The words of the text, without special tokens."""
    units = explanation.words().units
    assert isinstance(units, Units)
    return [units.labels[word] for word in units.content]


def _word_means(explanation: Explanation) -> list[float]:
    """[word]: the mean of the pieces' scores, so that a word is not richer for being cut into more pieces."""
    words, pieces, means = explanation.words().units, explanation.units, []
    assert isinstance(words, Units) and isinstance(pieces, Units)
    for word in words.content:
        own = [
            piece
            for piece in pieces.content
            if pieces.segment[piece] == words.segment[word]
            and pieces.start[piece] < words.end[word]
            and pieces.end[piece] > words.start[word]
        ]
        means.append(round(float(explanation.scores[own].mean()), 3))
    return means


def layer_sums(
    model: Model,
    texts: Sequence[Example],
    method: str,
    rows: Mapping[str, HiddenState],
    settings: Mapping[str, Any],
) -> Numbers:
    """row -> [text], the sum of |score| over the pieces; or why the method cannot run, as `missing`."""
    sums: Numbers = {}
    try:
        for row, target in rows.items():
            # Integrated gradients read a number: the length of the pooled state along its own direction.
            target = HiddenState(target.layer, "pooled", target.part) if method == RIVALS[-1] else target
            explanations = explain(model, list(texts), method, target=target, progress=False, **settings)
            sums[row] = [float(np.abs(one.scores).sum()) for one in explanations]
    except PellucidError as error:
        return {"missing": str(error)}
    return {"sums": sums}
