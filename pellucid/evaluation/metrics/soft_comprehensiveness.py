"""Soft comprehensiveness: how far the prediction falls when each word loses as much of its embedding as its score says.

Zhao & Aletras (2023), "Incorporating Attribution Importance for Improving Faithfulness Metrics", section 3.2.
"""

from pellucid.core.foundation.kinds import metrics
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.soft_erasure import mean_soft_fall


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False, capabilities={"gradient"})
def soft_comprehensiveness(
    case: Case, *, n_draws: int = 5, unit: Kind = "word", normalised: bool = False, seed: int = 0
) -> Judged:
    """Fall of the explained class's probability when well-scored units lose most of their embeddings; -1 to 1, higher is better.

    Each number of a unit's word embeddings is set to 0 with the unit's score as chance, after the scores of the text
    were brought to 0 to 1 (the lowest and the highest of them). The whole ranking counts, not only its top. n_draws: of which
    the falls are averaged; they are a text's own, the same for every method. normalised: as a share of the fall when all numbers
    are 0, cut to 0 to 1, which is the paper's; texts that lose nothing then are not judged.
    """
    fall = mean_soft_fall(
        case, lambda importance: 1 - importance, n_draws=n_draws, unit=unit, normalised=normalised, seed=seed
    )
    return Judged(fall[:, None])
