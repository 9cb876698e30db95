"""B-cos: the pieces' contributions to the answer of a model that is, for each text, a linear map of its pieces.

Böhle, Fritz and Schiele (2022), "B-cos Networks: Alignment is All We Need for Interpretability", equation 11, for models of text as
in Wang et al. (2025), "B-cos LM".
"""

from torch import Tensor

from pellucid.base.kinds import attributions
from pellucid.base.wording import percent
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.precision import widened
from pellucid.run.target import Explainable

TRUSTED_GAP = 0.01
FIRST_STATE = 0  # what the first block reads: word, place and type of a piece together


@attributions.add(
    needs={"b_cos", "gradient", "hidden_states"},
    cost="1 run of the model, and 1 back through it",
    at_text=False,
    compares=True,
)
def b_cos(run: ForwardPass, target: Explainable) -> Scores:
    """Contribution of each piece to the target; all pieces of a text, special ones too, add up to its logit exactly.

    Attention weights, the deviations in norms, and how well each input is aligned with its weights are taken as they are in this
    text; what is left is a linear map without constants. A contribution is that of a piece with its place and type. Layers mix
    pieces, so a piece's contribution also depends on the others through what is taken as it is. A probability, a log-probability or a
    loss is shared out as gradient x logits.

    Diagnostics: `conservation_gap`, |sum - target| / |target|; rounding alone where no layer has constants.
    """
    under = run.under("cp")
    check_parity(
        run.model, run.batch.examples, under.logits, run.logits
    )  # the policy's pass is the model's own
    gradients = under.gradients(target)
    scores = (widened(gradients.by(FIRST_STATE)) * under.state(FIRST_STATE)).sum(-1)
    gaps = _gaps(scores.double(), under.starting_relevance(target).double()).tolist()
    return run.scores(
        scores,
        diagnostics=tuple({"conservation_gap": gap} for gap in gaps),
        caveats=tuple(_caveats(gap) for gap in gaps),
    )


def _caveats(gap: float) -> tuple[str, ...]:
    if gap <= TRUSTED_GAP:
        return ()
    return (
        f"The contributions miss {percent(gap)} of the answer: the network has parts that are no sum, or the answer is nearly 0.",
    )


def _gaps(scores: Tensor, started: Tensor) -> Tensor:
    """[example]: how far the sum of all pieces is from what it should be, as a share of that."""
    return (scores.sum(-1) - started).abs() / started.abs().clamp_min(1e-12)
