"""Which words make two texts alike: the similarity that a bi-encoder gives, as a sum over pairs of words."""

import threading
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd import forward_ad

from pellucid.attribution.shared.paths import nodes_of
from pellucid.base.checks import whole
from pellucid.base.errors import ModelCannot
from pellucid.explaining.inputs.models import any_model_from
from pellucid.models.classifiers.bi_encoder import TwoTexts
from pellucid.models.classifiers.network_layers import RecordedAttention
from pellucid.models.classifiers.several_readings import ReadRow, SeveralReadings
from pellucid.results.word_map import WordPairs
from pellucid.run.batch import Batch
from pellucid.run.blank import Baseline, blank_vector
from pellucid.run.parity import check_parity
from pellucid.run.scheduler import default_budget
from pellucid.run.trace import Want, no_block
from pellucid.text.example import as_examples
from pellucid.text.units import coarsen

MOST_STEPS = 1024
TRUSTED_GAP = 0.05  # of what the pairs should add up to


def word_pairs(model: Any, pair: Any, *, n_steps: int = 16, baselines: Baseline = "pad") -> WordPairs:
    """The similarity of two texts, shared among the pairs of their words.

    With e the encoder's vector, of length 1 for the cosine, and r a text of blanks, the number of words i and j is
    A_ij = ((a - r_a)_i J_a) . ((b - r_b)_j J_b), where J is the mean of de/dx on the straight line from r to the text.
    Their sum is e(a).e(b) - e(a).e(r_b) - e(r_a).e(b) + e(r_a).e(r_b). Source: Moeller, Nikolaev & Padó (2023), "An
    Attribution Method for Siamese Encoders", section 2. The products with J are derivatives along a word, computed
    forwards: a run of the encoder for each word and point.

    model: a `SentenceTransformer`, or what `similarity` returned.
    pair: two texts in a tuple, or an `Example` of two.
    n_steps: points of the Gauss-Legendre rule on each line, at least 1.
    baselines: what a blank text is made of: "pad", "mask", "zero", or the "mean" of the vocabulary. Special tokens
        stay.

    Returns the matrix with words, value and constant. Raises `ModelCannot` for a model that compares no two vectors, or
    whose functions have no derivative forwards, `BadInput` for a single text.

    >>> model = pellucid.similarity("minilm")
    >>> pairs = pellucid.word_pairs(model, ("A man plays a guitar.", "Someone makes music on a guitar."))
    >>> pairs
    <WordPairs 6 x 7 words, cosine similarity 0.75>
    >>> pairs.top(1)[0][:2]
    ('guitar', 'guitar')
    """
    model = any_model_from(model)
    if not isinstance(model, SeveralReadings) or not isinstance(model.form, TwoTexts):
        raise ModelCannot(
            f"{model.name} compares no vectors of two texts; give a SentenceTransformer, or what pellucid.similarity "
            f"returned."
        )
    if "gradient" not in model.capabilities:
        raise ModelCannot(f"{model.name} gives no gradients; explain it by occlusion.")
    n_steps = whole("n_steps", n_steps, 1, MOST_STEPS)
    (example,) = as_examples([pair])
    with torch.inference_mode(False):
        batch = model.encode([example])
        sides = [_Side(model, batch, read, baselines) for read in model.form.readings(batch.rows[0])]
        shares = [side.shares(n_steps) for side in sides]
        (a, r_a), (b, r_b) = (side.ends() for side in sides)
        plain = model.plain_logits(example).cpu()
        parity = check_parity(model, [example], (a @ b)[None, None], plain[None])[0]
    matrix = (shares[0] @ shares[1].T).numpy()
    value, constant = float(plain), float(a @ r_b + r_a @ b - r_a @ r_b)
    gap = float(abs(matrix.sum() + constant - value) / max(abs(value - constant), 1e-6))
    return WordPairs(
        example,
        (sides[0].labels, sides[1].labels),
        (sides[0].places, sides[1].places),
        matrix,
        value,
        constant,
        model.form.function,
        model.name,
        {"completeness_gap": gap, "parity": parity},
        (RAISE.format(gap=gap, more=4 * n_steps),) if gap > TRUSTED_GAP else (),
        {"n_steps": n_steps, "baselines": baselines},
    )


RAISE = "The pairs miss {gap:.1%} of what they should add up to; raise n_steps before trusting any: n_steps={more}."


class _Side:
    """One text of a pair: its words, and the line from its blanks to it."""

    def __init__(self, model: SeveralReadings, batch: Batch, read: ReadRow, baselines: Baseline) -> None:
        self.reader, self.row, self.form = model.reader, read.row, cast(TwoTexts, model.form)
        segments = batch.examples[0].segments
        words, index = coarsen(batch.units[0], "word", segments)
        here = [word for word in words.content if word in {index[place] for place in read.places}]
        members = torch.tensor([[index[place] == word for place in read.places] for word in here])
        self.places = tuple((words.segment[word], words.start[word], words.end[word]) for word in here)
        self.labels = tuple(segments[segment][start:end] for segment, start, end in self.places)
        self.end = self.reader.embed(torch.tensor([self.row.ids], device=model.device))[0]
        blank = blank_vector(model, baselines, self.end[0])
        content = members.any(0).to(model.device)
        self.start = torch.where(content[:, None], blank, self.end)
        # [word piece width]: the way of each word
        self.steps = (self.end - self.start) * members.to(self.end)[..., None]

    def ends(self) -> Sequence[Tensor]:
        """[width] in float64: the vectors of the text and of its blanks."""
        with torch.no_grad():
            trace = self.reader.trace([self.row] * 2, Want(eager=True), torch.stack([self.end, self.start]))
            return self.form.vectors(trace.logits).double().cpu().unbind()

    def shares(self, n_steps: int) -> Tensor:
        """[word width] in float64: each word's share of e(text) - e(blanks)."""
        nodes, weights = (each.to(self.end) for each in nodes_of("gauss_legendre", n_steps))
        words, at_once = len(self.steps), max(1, default_budget(self.end.device) // len(self.row))
        runs = torch.arange(words * n_steps, device=self.end.device).split(at_once)
        derivatives = [
            self._along(torch.lerp(self.start, self.end, nodes[run // words, None, None]), self.steps[run % words])
            for run in runs
        ]
        return (torch.cat(derivatives).unflatten(0, (n_steps, words)) * weights.double().cpu()[:, None, None]).sum(0)

    def _along(self, points: Tensor, steps: Tensor) -> Tensor:
        """[run width] in float64: the derivative of the vector at each point along its steps [run piece width]."""
        try:
            with LEVEL, torch.no_grad(), forward_ad.dual_level(), RecordedAttention(keep=no_block):
                dual = forward_ad.make_dual(points, steps)
                trace = self.reader.trace([self.row] * len(steps), Want(eager=True), dual)
                tangent = forward_ad.unpack_dual(self.form.vectors(trace.logits)).tangent
        except (NotImplementedError, ModelCannot) as error:
            raise ModelCannot(f"{self.reader.name}: {NO_DERIVATIVE}.") from error
        if tangent is None:
            raise ModelCannot(f"{self.reader.name}: {NO_DERIVATIVE}.")
        return tangent.double().cpu()


LEVEL = threading.Lock()  # torch has one level of derivatives forwards for all threads
NO_DERIVATIVE = "a function in it has no derivative forwards; explain it by occlusion"
