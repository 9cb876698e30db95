"""`dtype="auto"`: mixed bfloat16 where it keeps the ranks of words, which a trial of eight texts shows."""

from dataclasses import replace

import torch
from torch import Tensor

from pellucid.base.errors import ModelCannot, notify
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.routing.linear_product import has_bfloat16_units
from pellucid.run.batch import Batch
from pellucid.run.rounding import rounding_of
from pellucid.run.trace import Want
from pellucid.text.example import Example

LEAST_KENDALL = 0.98  # mean over the texts
STANDS_OUT = 0.05  # a score of at least this share of the text's largest; and above rounding
FEWEST_WORDS = 3  # that stand out in a text, or it says nothing of ranks
TEXTS = tuple(
    Example((text,), id=f"precision {index}")
    for index, text in enumerate(
        (
            "The rooms are bright and quiet, but breakfast was cold and the coffee tasted of nothing.",
            "I waited forty minutes on the phone, and then a friendly man solved it in two.",
            "The second half drags, although the two leads are wonderful together.",
            "Prices rose again last month, faster than most banks had expected.",
            "My parcel arrived a day early, wrapped with care, and nothing was broken.",
            "The team lost its first three games and then won every match until spring.",
            "Never again: the screen flickers, the battery is dead by noon, and nobody answers my letters.",
            "A small new sensor measures how much water the roots of a plant take up.",
        )
    )
)


def in_mixed_precision_if_ranks_stay(classifier: Classifier) -> Classifier:
    """The classifier of float32, in mixed bfloat16 where the trial says that words keep their ranks; a notice says
    which.

    Kendall's tau of leave-one-out scores in both, over pairs of words that stand out, must be 0.98 in the mean of eight
    texts. The processor must have units for bfloat16, or nothing is gained.
    """
    if not has_bfloat16_units(classifier.device):
        return _float32(classifier, "this processor has no units for bfloat16")
    mixed = replace(classifier, computes_in=torch.bfloat16)
    try:
        kendall = kendall_of_trial(classifier, mixed)
    except ModelCannot as error:
        return _float32(classifier, str(error))
    if kendall is None:
        return _float32(classifier, f"in {len(TEXTS)} English texts too few words stand out for a trial")
    outcome = f"Kendall's tau of words that stand out is {kendall:.3f} in a trial of {len(TEXTS)} texts"
    if kendall < LEAST_KENDALL:
        return _float32(classifier, f"{outcome}, and {LEAST_KENDALL} is needed")
    notify(f"dtype='auto' takes mixed_bfloat16 for {classifier.name}: {outcome}.")
    return mixed


def _float32(classifier: Classifier, why: str) -> Classifier:
    notify(f"dtype='auto' takes float32 for {classifier.name}: {why}.")
    return classifier


def kendall_of_trial(exact: Classifier, mixed: Classifier) -> float | None:
    """Kendall's tau between leave-one-out scores of both, -1 to 1: the mean over the texts in which three words or more
    stand out; None where there is no such text.
    """
    from scipy.stats import kendalltau  # scipy.stats takes most of a second to import

    rounding = rounding_of(mixed)
    taus = []
    batch = exact.encode(TEXTS)
    with torch.inference_mode(False), torch.no_grad():
        for index in range(len(TEXTS)):
            answer = exact.trace([batch.rows[index]]).logits[0]
            predicted = int(answer.argmax())
            ours, theirs = (_scores(model, batch, index)[:, predicted] for model in (exact, mixed))
            by_rounding = max(rounding.answers, rounding.share * float(answer.abs().max()))
            least = max(STANDS_OUT * float(ours.abs().max()), by_rounding)
            out = ours.abs() >= least
            if int(out.sum()) >= FEWEST_WORDS:
                taus.append(float(kendalltau(ours[out], theirs[out]).statistic))
    return sum(taus) / len(taus) if taus else None


def _scores(model: Classifier, batch: Batch, index: int) -> Tensor:
    """[unit logit]: the text's logits less those without each unit."""
    pieces = batch.units[index].content
    rows = [batch.rows[index], *(batch.edited(index, [piece], "absent") for piece in pieces)]
    logits = model.trace(rows, Want(wide_head=rounding_of(model).wide_head)).logits.cpu().double()
    return logits[0] - logits[1:]
