"""The door `predict`: what a model answers to texts."""

from __future__ import annotations

from collections.abc import Sequence

from pellucid.api.inputs import examples_for, model_from
from pellucid.api.inputs.readings import Data, ModelSource
from pellucid.reports.terminal.progress_bar import progress_bar
from pellucid.results.explanation import Prediction
from pellucid.run.predicting import predictions


def predict(
    model: ModelSource,
    texts: Data,
    *,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    progress: bool | None = None,
) -> list[Prediction]:
    """What a model answers to each text: the prediction that its explanation reports.

    model: from `load`, `train` or another door; or a folder, a hub name, a text-classification pipeline of transformers or a
        fitted one of scikit-learn.
    texts: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns one prediction a text, in order: its label, and for every class the logit and the probability. Raises `BadInput`
    for a text that cannot be read, `ParityBroken` where texts together get other answers than alone.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> prediction = pellucid.predict(model, ["A good film.", "Dull."])[0]
    >>> prediction
    <Prediction positive 0.90>
    >>> [(label, round(share, 2)) for label, share in zip(prediction.labels, prediction.probabilities)]
    [('negative', 0.1), ('positive', 0.9)]
    """
    model = model_from(model)
    examples = examples_for(model, texts, text=text, label=label, strange="allowed")
    with progress_bar(progress) as show_progress:
        return predictions(model, examples, show_progress)
