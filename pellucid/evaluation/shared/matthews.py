"""Matthews correlation: how far predictions and labels go together, with every class counting by how rare it is.

Matthews (1975), "Comparison of the predicted and observed secondary structure of T4 phage lysozyme", for two classes; Gorodkin
(2004), "Comparing two K-category assignments by a K-category correlation coefficient", equation 8, for any number.
"""

from collections.abc import Sequence

import numpy as np

from pellucid.core.results.table import Interval
from pellucid.evaluation.shared.summary import percentile_interval, resampled_means


def matthews_interval(
    gold: Sequence[str], predicted: Sequence[str], *, resamples: int = 2000, seed: int = 0
) -> Interval:
    """The correlation of labels and predictions [example], -1 to 1, with its 95 % bootstrap interval over examples.

    0 is what predictions without any relation to the labels get. Where all labels are one class, or all predictions are,
    there is nothing to correlate, and the number is 0, also in single resamples: even if every prediction is right.
    """
    classes = sorted({*gold, *predicted})
    number = {name: index for index, name in enumerate(classes)}
    cells = np.array(
        [number[one] * len(classes) + number[other] for one, other in zip(gold, predicted, strict=True)]
    )
    # Only the pairs of classes that occur are columns: of many classes most pairs do not.
    pairs, of = np.unique(cells, return_inverse=True)
    rows = np.eye(len(pairs))[of]
    labels, answers = (np.eye(len(classes))[part] for part in np.divmod(pairs, len(classes)))
    means = resampled_means(rows, resamples, seed)
    return percentile_interval(
        float(correlation(rows.mean(0), labels, answers)), correlation(means, labels, answers), len(rows)
    )


def correlation(shares: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """[...]: the correlation, from the share of examples in each pair of classes [..., pair].

    labels, answers: [pair class], which class each pair has as its label, and which as the prediction.
    """
    of_labels, of_answers = shares @ labels, shares @ answers  # [..., class]: how often each class is either
    right = shares @ (labels * answers).sum(-1)
    covariance = right - (of_labels * of_answers).sum(-1)
    spreads = (1 - (of_labels**2).sum(-1)) * (1 - (of_answers**2).sum(-1))
    # With one class alone a spread is 0 but for rounding.
    varied = spreads > 1e-12
    return np.where(varied, covariance / np.sqrt(np.where(varied, spreads, 1.0)), 0.0)
