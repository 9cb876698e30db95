"""What a model itself chose or weighed, as scores: its rationale, its weights of units, its B-cos contributions, its
coefficients.
"""

from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import one_of, percent
from pellucid.base.errors import ModelCannot
from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.rounding import widened
from pellucid.run.target import Explainable, ResolvedTarget
from pellucid.text.passages import fixed_parts_of
from pellucid.text.units import Spans, Units, coarsen

# Rationale: the words that the model chose to read before it decided, each with its probability.
#
# Lei, Barzilay and Jaakkola (2016), "Rationalizing Neural Predictions"; Bastings, Aziz and Titov (2019),
# "Interpretable Neural Predictions with Differentiable Binary Variables".

SPARSE, FULL = 0.0, 0.9  # coverage at or below, and above, which the choice says little


@attributions.add(
    needs={"rationale"}, cost="1 run of the model", signed=False, of_class=False, units="word", shares=False
)
def rationale(run: ForwardPass, target: ResolvedTarget) -> Scores:
    """The probability, 0 to 1, that the model reads a word; it reads those above one half, and no others.

    Source: Lei, Barzilay and Jaakkola (2016), "Rationalizing Neural Predictions"; Bastings, Aziz and
    Titov (2019), "Interpretable Neural Predictions with Differentiable Binary Variables".

    Not tied to a class: the words show what was read, not for or against what. `result.runs()` gives them as spans of
    the text. A word that stands in several windows of a text has the mean of its probabilities. Diagnostic `coverage`:
    the share of words read.
    """
    gates = run.traces.without_graph.gates
    assert gates is not None  # the capability was checked
    batch = run.batch
    units = tuple(
        coarsen(batch.units[n], gates.unit, batch.examples[n].segments)[0]  # type: ignore[arg-type]
        for n in range(len(batch))
    )
    scores = tuple(_unit_scores(chances, unit) for chances, unit in zip(gates.chances.cpu(), units, strict=True))
    coverage = gates.coverage.tolist()
    return Scores(
        scores,
        units=units,
        diagnostics=tuple({"coverage": share} for share in coverage),
        caveats=tuple(map(_caveats, coverage)),
    )


@diagnostics.add(worst="highest", brief=lambda share: f"{percent(share)} of the words read")
def coverage(share: float) -> str:
    """The share of the words that the model read.

    Source: Lei, Barzilay and Jaakkola (2016), "Rationalizing Neural Predictions"; Bastings, Aziz and
    Titov (2019), "Interpretable Neural Predictions with Differentiable Binary Variables".
    """
    return f"The model read {percent(share)} of the words and decided by those alone."


def _unit_scores(chances: Tensor, units: Units) -> Tensor:
    """[gate] -> [unit]: special tokens have no gate; their score is 0."""
    scores = torch.zeros(len(units), dtype=chances.dtype)
    scores[list(units.content)] = chances[: len(units.content)]
    return scores


def _caveats(coverage: float) -> tuple[str, ...]:
    if coverage <= SPARSE:
        return ("The model read no word of this text: its answer is the same for every such text.",)
    if coverage > FULL:
        return (f"The model read {coverage:.0%} of the words: that says little about what it needed.",)
    return ()


# Unit attention: the weights by which a model with attention over its units sums their states.
#
# Tutek & Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become Explanation?", section 2. Weighting
# by norms is Kobayashi, Kuribayashi, Yokoi & Inui (2020), "Attention is Not Only a Weight", equation 3, for one head
# without a value map. Whether such weights explain anything is to be tested and not assumed (Jain & Wallace 2019).

BROAD = 0.5  # of the units: weight on so many says that none decided
By = Literal["weight", "norm"]


@attributions.add(needs={"unit_weights"}, cost="1 run of the model", signed=False, of_class=False, units="word")
def unit_attention(run: ForwardPass, target: ResolvedTarget, *, by: By = "weight") -> Scores:
    """The weight alpha of every unit; the weights of a text are >= 0 and sum to 1.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become
    Explanation?", section 2. Weighting by norms is Kobayashi, Kuribayashi, Yokoi & Inui (2020),
    "Attention is Not Only a Weight", equation 3, for one head without a value map. Whether such weights
    explain anything is to be tested and not assumed (Jain & Wallace 2019).

    Not tied to a class: they show what the model read, not for or against what. A unit's state has read the whole text,
    so a weight belongs to a unit's place and not surely to its word. by: "weight"; "norm" multiplies each weight by the
    length of the state that it weighs, so that a heavy unit whose state is nearly 0 counts little (then the sum is not
    1).

    Diagnostics: `effective_units`, 1 / sum of alpha squared, and `entropy_units`, exp(entropy), two counts of the units
    that the weight is spread over.
    """
    one_of("by", by, get_args(By))
    trace, batch = run.traces.without_graph.units, run.batch
    assert trace is not None  # the capability was checked
    weights = trace.weights
    scores = weights if by == "weight" else weights * trace.states.norm(dim=-1)
    units = tuple(
        coarsen(batch.units[n], trace.unit, batch.examples[n].segments)[0]  # type: ignore[arg-type]
        for n in range(len(batch))
    )
    effective, spread = (1 / trace.concentration).tolist(), trace.entropy.exp().tolist()
    return Scores(
        tuple(_weighed_units(line, unit) for line, unit in zip(scores.float().cpu(), units, strict=True)),
        units=units,
        diagnostics=tuple(
            {"effective_units": squared, "entropy_units": entropy}
            for squared, entropy in zip(effective, spread, strict=True)
        ),
        caveats=tuple(
            _weight_caveats(count, len(text_units.content)) for count, text_units in zip(effective, units, strict=True)
        ),
    )


@diagnostics.add(
    worst="highest", brief=lambda count: f"spread over {count:.0f} units" if count >= 1.5 else "on one unit"
)
def effective_units(count: float) -> str:
    """1 / sum of alpha squared: how many units share the weight.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become
    Explanation?", section 2. Weighting by norms is Kobayashi, Kuribayashi, Yokoi & Inui (2020),
    "Attention is Not Only a Weight", equation 3, for one head without a value map. Whether such weights
    explain anything is to be tested and not assumed (Jain & Wallace 2019).
    """
    if count >= 1.5:
        return f"The weight is spread over about {count:.0f} units of text."
    return "The weight lies on little more than one unit of text."


@diagnostics.add(worst="highest")
def entropy_units(count: float) -> str:
    """exp(entropy of alpha): how many units share the weight, light ones counted more than by `effective_units`.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become
    Explanation?", section 2. Weighting by norms is Kobayashi, Kuribayashi, Yokoi & Inui (2020),
    "Attention is Not Only a Weight", equation 3, for one head without a value map. Whether such weights
    explain anything is to be tested and not assumed (Jain & Wallace 2019).
    """
    return ""


def _weighed_units(scores: Tensor, units: Units) -> Tensor:
    """[weighed unit] -> [unit]: special tokens have no weight; their score is 0."""
    values = torch.zeros(len(units), dtype=scores.dtype)
    values[list(units.content)] = scores[: len(units.content)]
    return values


def _weight_caveats(effective: float, count: int) -> tuple[str, ...]:
    if count >= 3 and effective >= BROAD * count:
        return (f"The weight is spread over {effective:.0f} of {count} units: no single unit decided this text.",)
    return ()


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

    The pieces' contributions to the answer of a model that is, for each text, a linear map of its
    pieces.

    Source: Böhle, Fritz and Schiele (2022), "B-cos Networks: Alignment is All We Need for
    Interpretability", equation 11, for models of text as in Wang et al. (2025), "B-cos LM".

    Attention weights, the deviations in norms, and how well each input is aligned with its weights are taken as they
    are in this text; what is left is a linear map without constants. A contribution is that of a piece with its place
    and type. Layers mix pieces, so a piece's contribution also depends on the others through what is taken as it is. A
    probability, a log-probability or a loss is shared out as gradient x logits.

    Diagnostics: `conservation_gap`, |sum - target| / |target|; rounding alone where no layer has constants.
    """
    under = run.under("cp")
    check_parity(run.model, run.batch.examples, under.logits, run.logits)  # the policy's pass is the model's own
    gradients = under.gradients(target)
    scores = (widened(gradients.by(FIRST_STATE)) * under.state(FIRST_STATE)).sum(-1)
    gaps = _gaps(scores.double(), under.starting_relevance(target).double()).tolist()
    return run.scores(
        scores,
        diagnostics=tuple({"conservation_gap": gap} for gap in gaps),
        caveats=tuple(_b_cos_caveats(gap) for gap in gaps),
    )


def _b_cos_caveats(gap: float) -> tuple[str, ...]:
    if gap <= TRUSTED_GAP:
        return ()
    return (
        f"The contributions miss {percent(gap)} of the answer: the network has parts that are no sum, or the answer is "
        f"nearly 0.",
    )


def _gaps(scores: Tensor, started: Tensor) -> Tensor:
    """[example]: how far the sum of all pieces is from what it should be, as a share of that."""
    return (scores.sum(-1) - started).abs() / started.abs().clamp_min(1e-12)


# Linear models of n-grams: feature value times coefficient, at the characters where each n-gram stands.

LinearUnit = Literal["word", "span"]


@attributions.add(needs={"linear"}, cost="1 run of the model", complete=True, units="word")
def linear_coefficients(run: ForwardPass, target: Explainable, *, unit: LinearUnit = "word") -> Scores:
    """Feature value x coefficient of each n-gram, shared by its words; with the intercept exactly the answer.

    The exact terms of a linear model of n-grams, such as a TfidfVectorizer with LogisticRegression.

    Source: Korobov & Lopuhin, "ELI5" (2016), `explain_prediction` of linear models, with weights in the text.

    The value of a feature is the one that the vectorizer gives for this text, so the length of a tf-idf vector is taken
    as it is. A feature whose n-gram stands several times in the text is shared equally by the places; n-grams of one
    hashed feature share it by how often each stands there, with the signs of the hash. An n-gram's score is shared
    equally by its words, or characters, and inside a word by the characters. A blank between words belongs to the word
    after it.

    unit: "word", or "span" for the n-grams themselves: each place of one has its whole score, and those of characters
    that lie inside the same words are added up. A probability or a loss is shared out by its slope: score times the
    derivative by the logits. Diagnostic: `completeness_gap`. Raises `ModelCannot` where the places of n-grams are not
    known, as of words that a tokenizer of your own changes, for pairs, and for parts that stay (`keep`).
    """
    one_of("unit", unit, get_args(LinearUnit))
    model: Any = run.model  # the capability was checked
    if any(map(fixed_parts_of, run.batch.examples)):
        raise ModelCannot("Coefficients belong to all words of a text; leave keep= away, or choose occlusion.")
    if any(len(example.segments) > 1 for example in run.batch.examples):
        raise ModelCannot(
            "Coefficients are shown in single texts, and a pair came; give one text, or choose occlusion."
        )
    share = _by_word if unit == "word" else _by_span
    logits = run.logits.double().requires_grad_()
    with torch.enable_grad():
        gradient = torch.autograd.grad(target.values(logits).sum(), logits)[0].numpy()
    scores, units, gaps = [], [], []
    for index, example in enumerate(run.batch.examples):
        words = coarsen(run.batch.units[index], "word", example.segments)[0]
        grams, contributions = model.linear.contributions(example.segments[0])
        of_text, of_units = share(words, grams, contributions @ gradient[index], len(example.segments[0]))
        rise = float((logits[index].detach().numpy() - model.linear.intercept) @ gradient[index])
        scores.append(torch.from_numpy(of_text))
        units.append(of_units)
        gaps.append({"completeness_gap": abs(float(of_text.sum()) - rise) / max(abs(rise), 1e-6)})
    return Scores(tuple(scores), units=tuple(units), diagnostics=tuple(gaps))


def _by_word(words: Units, grams: list[Any], shares: np.ndarray, length: int) -> tuple[np.ndarray, Units]:
    """[word]: the shares of the n-grams that lie in each, by characters."""
    by_character = np.zeros(length)
    for gram, share in zip(grams, shares, strict=True):
        for start, end in gram.places:
            by_character[start:end] += share / len(gram.places) / (end - start)
    borders = [0, *words.end[:-1], length]
    return np.array([by_character[start:end].sum() for start, end in pairwise(borders)]), words


def _by_span(words: Units, grams: list[Any], shares: np.ndarray, length: int) -> tuple[np.ndarray, Spans]:
    """[span]: the shares of the n-grams from each first word to each last one."""
    ends = np.array(words.end[:-1])
    sums: dict[tuple[int, int], float] = {}
    for gram, share in zip(grams, shares, strict=True):
        begin, end = gram.places[0][0], gram.places[-1][1] - 1
        first, last = (int(np.searchsorted(ends, place, side="right")) for place in (begin, end))
        sums[first, last] = sums.get((first, last), 0.0) + float(share)
    keys = sorted(sums)
    firsts, lasts = (np.array([key[place] for key in keys], dtype=np.int64) for place in (0, 1))
    return np.array([sums[key] for key in keys]), Spans(words, firsts, lasts)
