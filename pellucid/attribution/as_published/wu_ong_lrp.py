"""LRP on BERT as Wu & Ong's released code computes it, to compare with their numbers; not the rule of their paper.

Wu & Ong (2021), "On Explaining Your Explanations of BERT"; corrections.md A2.3 to A2.7 say what the code does and
why `relevance` does not.
"""

import torch

from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.target import Explainable

RELEASED = (
    "These are the rules of a released code, which its author says are not LRP: signs are lost, residuals count twice, and "
    "denominators can come near 0. Use relevance to explain."
)


@attributions.add(
    needs={"gradient", "hidden_states", "bert_layers"},
    cost="2 runs of the model, with gradients, one text at a time",
    at_text=False,
    compares=True,
    signed=False,
    usual=False,
)
def wu_ong_lrp(run: ForwardPass, target: Explainable) -> Scores:
    """Sum of the sizes of the relevance that their rules hand down to each piece's embedding, behind its norm; >= 0.

    Texts run one by one: neighbours change the rounding, and denominators near 0 would magnify it. A contrast of two
    classes starts with relevance that sums to 0, and so does the probability or loss of one class of several. These rules
    shrink such relevance to nothing: all scores are then about 0.
    """
    relevances = []
    for number in range(len(run.batch)):
        alone = run.under("wu_ong").alone(number)
        check_parity(run.model, alone.batch.examples, alone.logits, run.logits[[number]])
        relevance = alone.gradients(target.select([number])).hidden[0]
        relevances.append(relevance.abs().sum(-1)[0])
    scores = torch.nn.utils.rnn.pad_sequence(relevances, batch_first=True)
    return run.scores(scores, caveats=((RELEASED,),) * len(relevances))
